import { mebibyte } from '../../base/units.ts';

/** About the bytes of the database that one step loads or deletes. */
export const sqliteLimits = {
  loadBytes: 1 * mebibyte,
  compactBytes: 8 * mebibyte,
  compactRows: 512,
} as const;
