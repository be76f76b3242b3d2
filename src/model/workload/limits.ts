import { hourMs, kibibyte, secondMs } from '../../base/units.ts';

/** Bounds of signed tokens of workloads. */
export const identityLimits = {
  /** Identities in a node's request. */
  batchMax: 100,
  tokenLengthMax: 16 * kibibyte,
  /** Lifetimes outside of these bounds are moved into them. */
  ttlMinMs: 30 * secondMs,
  ttlMaxMs: 30 * 24 * hourMs,
  /** The lifetime of a renewable token, if the job gives none. */
  ttlDefaultMs: 1 * hourMs,
  /** The largest difference between the clocks of two servers. */
  clockSkewMs: 60 * secondMs,
  extraClaimsMax: 64,
  /** Verified tokens, and compiled rules of workloads, that are remembered. */
  verifiedMax: 16_384,
  /** Requests of a node within this time are sent together. */
  gatherMs: 5,
  retryMinMs: 250,
  retryMaxMs: 15 * secondMs,
} as const;
