import { mebibyte } from '../../base/units.ts';

/** Bounds of one text; above them it is refused with an `HclError`. */
export interface HclLimits {
  /** UTF-16 code units. */
  readonly textLengthMax: number;
  /** How deep blocks, brackets, templates and chains of operators may nest. */
  readonly depthMax: number;
  readonly nodesMax: number;
  /** After this many faults the rest of the text is not looked at. */
  readonly faultsMax: number;
}

export const hclLimits: HclLimits = {
  textLengthMax: 1 * mebibyte,
  depthMax: 128,
  nodesMax: 200_000,
  faultsMax: 20,
};

/** Bounds of all the evaluations that share a budget, such as those of one job file. */
export interface EvaluationLimits {
  /** Nodes that are evaluated, and pieces of 64 characters or 8 elements that are read or made. */
  readonly stepsMax: number;
  /** The weight of all results and of all values made on the way (`budget.ts`). */
  readonly sizeMax: number;
  /** How deep lists and objects may stand in each other. */
  readonly depthMax: number;
}

export const evaluationLimits: EvaluationLimits = {
  stepsMax: 100_000,
  sizeMax: 8 * mebibyte,
  depthMax: 100,
};

/** Bounds of single functions. */
export const functionLimits = {
  /** Numbers that `range` makes, as many as its published limit. */
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
