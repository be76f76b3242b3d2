/** Bounds inside the API. Bounds that callers notice are in `model/limits.ts`. */
export const limits = {
  /** Recent matches that the router keeps. */
  recentPathsMax: 1024,
  /** Levels of a generated example; deeper optional records are left out. */
  exampleDepthMax: 3,
} as const;
