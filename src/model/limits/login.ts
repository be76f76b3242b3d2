import { hourMs, kibibyte, mebibyte, minuteMs, secondMs } from '../../base/units.ts';

/** Logins come from unknown callers, so all their costs are bounded. */
export const aclLoginLimits = {
  bearerLengthMax: 64 * kibibyte,
  metaEntriesMax: 64,
  metaTextLengthMax: 512,
  /** Failures from an address (and of a method) before it has to wait. */
  failuresBurst: 20,
  failureRefillMs: 3 * secondMs,
  methodFailuresBurst: 400,
  methodFailureRefillMs: 100,
  addressesKept: 10_000,
  /** Notes of used-up limits: above this, the oldest go first. */
  usedUpMax: 10_000,
  /** Expired rows that a login removes on the way. */
  removedAtOnceMax: 16,
  concurrentMax: 256,
  leewayDefaultMs: 150 * secondMs,
  clockSkewDefaultMs: 60 * secondMs,
} as const;

/** Bounds of requests to identity providers. */
export const outboundLimits = {
  timeoutMs: 10 * secondMs,
  answerBytesMax: 1 * mebibyte,
  /** How long fetched keys are used, and how soon an unknown key may cause another fetch. */
  keysAgeMs: 10 * minuteMs,
  keysRefetchMs: 30 * secondMs,
  providersKept: 1000,
} as const;

/** Logins that a browser has not finished. */
export const oidcSessionLimits = {
  keptMax: 4096,
  /** The redirect URI, the client nonce and the meta of a login together, as JSON. */
  lengthMax: 8 * kibibyte,
  ageMs: 10 * minuteMs,
  startsBurst: 60,
  startRefillMs: 1 * secondMs,
} as const;

/** Links that sign in to the web interface. */
export const signInLinkLimits = {
  ageMs: 5 * minuteMs,
  /** Life of the token that a link is exchanged for. */
  tokenTtlMs: 8 * hourMs,
  secretLengthMax: 128,
  /** Links of one token, and of all: above these the oldest are forgotten. */
  keptPerTokenMax: 8,
  keptMax: 1000,
  /** How long a used or late link is remembered, so that its refusal has the right reason. */
  rememberedMs: 1 * hourMs,
} as const;
