import { kibibyte, mebibyte, secondMs } from '../../base/units.ts';

/** Sizes in bytes count the encoded form. */
export const stateLimits = {
  /** Deletes that one index remembers one by one; older ones count for the whole index. */
  marksPerIndex: 8_192,
  /** Values that many rows share, of which is known in which row the log has them. */
  sharedValues: 64,
  /** An append holds whole transactions up to about this size. */
  batchBytes: 512 * kibibyte,
  /** Transactions, and their bytes, that may wait to become durable. */
  waitingWrites: 65_536,
  waitingBytes: 64 * mebibyte,
  /** A write of the server itself that found the queue full is tried again after this time. */
  fullRetryMs: 1 * secondMs,
  /** Ranges that one footprint names in one index before it watches the whole index. */
  rangesPerIndex: 1_024,
  /** One part of a snapshot; encoding one is a slice of about a millisecond. */
  snapshotPartBytes: 256 * kibibyte,
  /** A snapshot is taken when the log exceeds this and `logPerSnapshot` times the last one. */
  logBytes: 64 * mebibyte,
  logPerSnapshot: 2,
} as const;
