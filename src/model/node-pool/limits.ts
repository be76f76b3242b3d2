export const nodePoolLimits = {
  nameLengthMax: 128,
  descriptionLengthMax: 256,
  metaMax: 64,
  metaTextLengthMax: 512,
  /** Nodes bring pools along by naming them. */
  countMax: 10_000,
} as const;
