import { secondMs } from '../../base/units.ts';

/** Streams of what happens. */
export const eventsLimits = {
  /** Changes of records that are kept for those who come later, or read slowly. */
  changesKept: 20_000,
  readersMax: 512,
  topicsMax: 64,
  perFrameMax: 100,
  heartbeatMs: 30 * secondMs,
} as const;
