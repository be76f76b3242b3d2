/** Bounds of searches. */
export const searchLimits = {
  textLengthMax: 128,
  /** Characters that a fuzzy search needs at least. */
  fuzzyTextLengthMin: 2,
  /** Matches of each context in an answer. */
  matchesMax: 20,
  fuzzyMatchesMax: 100,
  /** Rows of a noun that a search looks at. */
  rowsMax: 200_000,
} as const;
