export const jobPolicyLimits = {
  nameLengthMax: 128,
  ruleLengthMax: 4096,
  messageLengthMax: 1024,
  /** What the sentence of a refusal tells; its faults tell more. */
  describedMax: 10,
  /** Each is held against every job that is registered, in the transaction that does. */
  countMax: 256,
} as const;
