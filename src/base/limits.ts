import { secondMs } from './units.ts';

/** Times with which the real timers follow the garbage collector. */
export const collectorLimits = {
  /** Work that can wait goes on this long after marking began, even if marking has not ended. */
  markingMaxMs: 1 * secondMs,
  /** Time between two checks whether marking has ended. */
  markingPollMs: 2,
  /** Time between two measurements of how busy the process is. */
  workPollMs: 1 * secondMs,
} as const;
