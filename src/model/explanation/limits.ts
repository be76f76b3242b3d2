/** How many different reasons one sentence names. */
export const explanationLimits = { reasonsMax: 10 } as const;
