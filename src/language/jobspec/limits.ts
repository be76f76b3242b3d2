import { mebibyte } from '../../base/units.ts';

/** Bounds of a job file. A job file beyond them is refused. */
export interface JobFileLimits {
  readonly faultsMax: number;
  /** Number of blocks that `dynamic` may make. */
  readonly blocksMax: number;
  readonly variablesMax: number;
  /** Length of the job file, and of each file of variables, in UTF-16 code units. */
  readonly textLengthMax: number;
}

export const jobFileLimits: JobFileLimits = {
  faultsMax: 20,
  blocksMax: 10_000,
  variablesMax: 1000,
  textLengthMax: 1 * mebibyte,
};
