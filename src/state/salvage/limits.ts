export const salvageLimits = {
  /** Fields of a wrong type that a check names. */
  typeFaultsMax: 1_000,
} as const;
