import { mebibyte } from '../../base/units.ts';

/** Bounds of a text. A text beyond them is refused with an `HclError`. */
export interface HclLimits {
  /** UTF-16 code units. */
  readonly textLengthMax: number;
  /** Depth of blocks, brackets, templates and chains of operators. */
  readonly depthMax: number;
  readonly nodesMax: number;
  /** Number of faults after which the rest of the text is not read. */
  readonly faultsMax: number;
}

export const hclLimits: HclLimits = {
  textLengthMax: 1 * mebibyte,
  depthMax: 128,
  nodesMax: 200_000,
  faultsMax: 20,
};

/** Bounds of all evaluations that share a budget, such as the evaluations of a job file. */
export interface EvaluationLimits {
  /** Number of evaluated nodes, and of pieces of 64 characters or 8 elements that are read or made. */
  readonly stepsMax: number;
  /** Weight of all results and intermediate values (`budget.ts`). */
  readonly sizeMax: number;
  /** Depth of nested lists and objects. */
  readonly depthMax: number;
}

export const evaluationLimits: EvaluationLimits = {
  stepsMax: 100_000,
  sizeMax: 8 * mebibyte,
  depthMax: 100,
};

/** Bounds of single functions. */
export const functionLimits = {
  /** Numbers that `range` makes: its published limit. */
  rangeMax: 1024,
  /** Files that `fileset` looks at. */
  filesLookedAtMax: 10_000,
  /** Width and precision of a verb of `format`. */
  formatSizeMax: 1024,
  /** Digits that `parseint` reads: more than the greatest number has in base 2. */
  digitsMax: 1024,
  /** References to anchors in one YAML document. */
  yamlAliasesMax: 100,
} as const;

/** Length of a type as errors show it. */
export const shownTypeLengthMax = 100;
