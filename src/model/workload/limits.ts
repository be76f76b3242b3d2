import { hourMs, kibibyte, secondMs } from '../../base/units.ts';

/** Signed tokens that say which workload somebody is. */
export const identityLimits = {
  /** Asked for by one request of a node. */
  batchMax: 100,
  tokenLengthMax: 16 * kibibyte,
  /** Shorter and longer wishes are brought to these. */
  ttlMinMs: 30 * secondMs,
  ttlMaxMs: 30 * 24 * hourMs,
  /** Of a token that nobody gave a time, where it can be renewed. */
  ttlDefaultMs: 1 * hourMs,
  /** How far the clocks of two servers may be apart. */
  clockSkewMs: 60 * secondMs,
  extraClaimsMax: 64,
  /** Verified tokens, and compiled rules of workloads, that are remembered. */
  verifiedMax: 16_384,
  /** Requests of a node that arrive within this time are sent together. */
  gatherMs: 5,
  retryMinMs: 250,
  retryMaxMs: 15 * secondMs,
} as const;
