import { hourMs, minuteMs, secondMs } from '../../base/units.ts';

/** The collection of rows that nothing needs any more. */
export const garbageLimits = {
  intervalMs: 5 * minuteMs,
  jobAgeMs: 4 * hourMs,
  evaluationAgeMs: 1 * hourMs,
  batchEvaluationAgeMs: 24 * hourMs,
  deploymentAgeMs: 1 * hourMs,
  nodeAgeMs: 24 * hourMs,
  /** Rows that a transaction deletes. */
  rowsPerTransactionMax: 64,
  /** Transactions that wait at the same time to become durable. */
  writesMax: 16,
  /** Rows between two checks of the clock, and the longest step. */
  rowsPerStep: 64,
  rowsPerSliceMax: 1024,
  sliceMs: 2,
  /** Bounds of an operator's settings. */
  intervalMinMs: 1 * secondMs,
  ageMaxMs: 365 * 24 * hourMs,
} as const;
