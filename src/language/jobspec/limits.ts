import { mebibyte } from '../../base/units.ts';

/** Bounds of one job file; above them it is refused. */
export interface JobFileLimits {
  readonly faultsMax: number;
  /** Blocks that `dynamic` may make. */
  readonly blocksMax: number;
  readonly variablesMax: number;
  /** UTF-16 code units of the job file, and of each file of variables. */
  readonly textLengthMax: number;
}

export const jobFileLimits: JobFileLimits = {
  faultsMax: 20,
  blocksMax: 10_000,
  variablesMax: 1000,
  textLengthMax: 1 * mebibyte,
};
