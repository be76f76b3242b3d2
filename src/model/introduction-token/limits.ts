import { hourMs, minuteMs } from '../../base/units.ts';

/** Bounds of tokens that admit nodes. */
export const introductionLimits = {
  ttlMinMs: 1 * minuteMs,
  ttlDefaultMs: 1 * hourMs,
  ttlMaxMs: 720 * hourMs,
  usesMax: 100_000,
  countMax: 10_000,
} as const;
