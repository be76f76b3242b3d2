import { kibibyte, minuteMs } from '../../base/units.ts';

/** Answers to writes with an `Idempotency-Key`. */
export const idempotencyLimits = {
  keyLengthMax: 128,
  /** How long an answer is kept. */
  keptMs: 10 * minuteMs,
  /** Above this, the oldest answers go first. */
  answersMax: 10_000,
  /** A longer answer is not kept, but its request still counts as run. */
  bodyBytesMax: 64 * kibibyte,
  /** Expired answers that a write removes on the way. */
  removedAtOnceMax: 16,
} as const;
