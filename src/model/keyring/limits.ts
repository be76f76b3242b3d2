import { kibibyte, secondMs } from '../../base/units.ts';

export const keyringLimits = {
  keysMax: 64,
  /** Pauses before the service that opens the root key is asked again. */
  serviceRetryMinMs: 1 * secondMs,
  serviceRetryMaxMs: 30 * secondMs,
  /** Rows that a transaction of a rotation seals again. */
  rowsPerTransactionMax: 500,
  /** Sealed text in such a transaction, approximately; for small rows the number of rows counts. */
  bytesPerTransactionMax: 256 * kibibyte,
} as const;
