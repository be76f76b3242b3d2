export const jobPolicyLimits = {
  nameLengthMax: 128,
  ruleLengthMax: 4096,
  messageLengthMax: 1024,
  /** Broken policies that the sentence of a refusal names; its faults tell all. */
  describedMax: 10,
  /** Each is held against every job that is registered, in the transaction that does. */
  countMax: 256,
} as const;
