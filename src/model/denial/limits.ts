/** Refused requests that a server remembers, in its memory. */
export const denialLimits = {
  /** For each caller, so that no caller pushes out the requests of another. */
  keptPerCallerMax: 50,
  callersMax: 200,
  pathLengthMax: 512,
  /** Parts of a compound permission. */
  questionsMax: 8,
} as const;
