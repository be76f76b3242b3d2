/** Bounds of the syntax of templates. The bounds of rendering are settings (`src/model/limits/template.ts`). */
export const templateLimits = {
  /** Number of faults after which the rest of the text is not read. */
  faultsMax: 20,
  /** Length of a written number. */
  numberLengthMax: 100,
  /** Width and precision of a verb of `printf`. */
  printedSizeMax: 1000,
} as const;
