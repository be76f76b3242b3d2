export const salvageLimits = {
  /** Rows with faulty fields that a check names. */
  fieldFaultsMax: 1_000,
} as const;
