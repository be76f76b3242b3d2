import { mebibyte } from '../../base/units.ts';

/** About so much of the database is loaded, or deleted, in one step. */
export const sqliteLimits = {
  loadBytes: 1 * mebibyte,
  compactBytes: 8 * mebibyte,
  compactRows: 512,
} as const;
