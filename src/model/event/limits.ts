import { secondMs } from '../../base/units.ts';

/** Bounds of event streams. */
export const eventsLimits = {
  /**
   * Changes of records that are kept for readers that come later or read slowly. A change holds 2 to 3 KB.
   */
  changesKept: 4_000,
  readersMax: 512,
  topicsMax: 64,
  perFrameMax: 100,
  heartbeatMs: 30 * secondMs,
} as const;
