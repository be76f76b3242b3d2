import { hourMs, kibibyte, minuteMs, secondMs } from '../../base/units.ts';

export const aclLimits = {
  /** UTF-16 code units of a policy's rules. */
  rulesLengthMax: 512 * kibibyte,
  policyNameLengthMax: 128,
  /** Policies, roles or identities of one token or role, each. */
  linksMax: 1000,
  datacentersMax: 256,
  /** Of one request that asks what a token may do. */
  questionsMax: 64,
  tokenTtlMinMs: 1 * minuteMs,
  tokenTtlMaxMs: 24 * hourMs,
  /** Expired tokens are gone at once; their rows go in slices this large. */
  reapedPerTransactionMax: 1000,
  reapRetryMs: 10 * secondMs,
} as const;
