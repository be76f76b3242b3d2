export const jobPolicyLimits = {
  nameLengthMax: 128,
  ruleLengthMax: 4096,
  messageLengthMax: 1024,
  /** Violated policies that the sentence of a refusal names; its faults list all of them. */
  describedMax: 10,
  /** Policies in the cluster. A transaction that registers a job judges it by each of them. */
  countMax: 256,
} as const;
