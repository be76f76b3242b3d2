import { secondMs } from './units.ts';

/** Of the collector of garbage, as the real timers follow it. */
export const collectorLimits = {
  /** Work that can wait goes on this long after marking began, whether or not it has ended. */
  markingMaxMs: 1 * secondMs,
  /** Between two questions whether marking has ended. */
  markingPollMs: 2,
  /** Between two looks at how busy the process is. */
  workPollMs: 1 * secondMs,
} as const;
