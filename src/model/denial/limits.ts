/** Refused requests that a server remembers, in its memory. */
export const denialLimits = {
  /** Of each caller: one that asks in vain all day hides no other. */
  keptPerCallerMax: 50,
  callersMax: 200,
  pathLengthMax: 512,
  /** Parts of a compound permission. */
  questionsMax: 8,
} as const;
