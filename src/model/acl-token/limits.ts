import { hourMs, kibibyte, minuteMs, secondMs } from '../../base/units.ts';

export const aclLimits = {
  /** UTF-16 code units of a policy's rules. */
  rulesLengthMax: 512 * kibibyte,
  policyNameLengthMax: 128,
  /** Policies, roles or identities of one token or role, each. */
  linksMax: 1000,
  datacentersMax: 256,
  /** Questions in a request that asks what a token may do. */
  questionsMax: 64,
  tokenTtlMinMs: 1 * minuteMs,
  tokenTtlMaxMs: 24 * hourMs,
  /** Rows of expired tokens that a transaction deletes. Such tokens are refused before that. */
  reapedPerTransactionMax: 1000,
  reapRetryMs: 10 * secondMs,
} as const;
