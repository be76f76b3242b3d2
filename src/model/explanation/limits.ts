/** Different reasons that a sentence names. */
export const explanationLimits = { reasonsMax: 10 } as const;
