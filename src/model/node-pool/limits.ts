export const nodePoolLimits = {
  nameLengthMax: 128,
  descriptionLengthMax: 256,
  metaMax: 64,
  metaTextLengthMax: 512,
  /** Nodes create pools by naming them. */
  countMax: 10_000,
} as const;
