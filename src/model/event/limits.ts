import { kibibyte, secondMs } from '../../base/units.ts';

/** Bounds of event streams. */
export const eventsLimits = {
  /**
   * Changes of records that are kept for readers that come later or read slowly. A change holds 2 to 3 KB.
   */
  changesKept: 4_000,
  readersMax: 2_048,
  topicsMax: 64,
  perFrameMax: 100,
  /** Events of a line for readers of the newest alone, and the least time between two such lines. */
  newestMax: 1_000,
  newestPauseMs: 250,
  heartbeatMs: 30 * secondMs,
  /** Readers for each millisecond of the pause between two rounds. */
  readersPerPauseMs: 32,
  /** The longest time for which a round holds other work up. */
  sliceMs: 4,
  /** A part of the stream ends after the line in which it reaches this size. */
  partBytes: 64 * kibibyte,
} as const;
