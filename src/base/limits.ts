import { mebibyte, secondMs } from './units.ts';

/** Times with which the real timers follow the garbage collector. */
export const collectorLimits = {
  /** Work that can wait goes on this long after marking began, even if marking has not ended. */
  markingMaxMs: 1 * secondMs,
  /** Time between two checks whether marking has ended. */
  markingPollMs: 2,
  /** Time between two measurements of how busy the process is. */
  workPollMs: 1 * secondMs,
  /** Measurements in a row without work after which garbage is collected. */
  idleLooks: 10,
  /** The least number of measurements between two such collections. */
  looksBetween: 120,
  /** A larger heap is left to the collector: collecting all of it would delay the next request for too long. */
  idleHeapBytesMax: 128 * mebibyte,
} as const;
