/** Bounds of the syntax of templates. Those of rendering are settings (`src/model/limits/template.ts`). */
export const templateLimits = {
  /** After this many faults the rest of the text is not looked at. */
  faultsMax: 20,
  /** Length of a number as it is written. */
  numberLengthMax: 100,
  /** Width and precision of a verb of `printf`. */
  printedSizeMax: 1000,
} as const;
