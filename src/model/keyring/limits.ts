import { kibibyte } from '../../base/units.ts';

export const keyringLimits = {
  keysMax: 64,
  /** Rows sealed anew in one transaction of a rotation. */
  rowsPerTransactionMax: 500,
  /** About as much sealed text; it is the rows' number that counts where they are small. */
  bytesPerTransactionMax: 256 * kibibyte,
} as const;
