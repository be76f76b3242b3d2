/** The bounds of the state. Sizes in bytes count the encoded form. */
export const stateLimits = {
  /** Deletes that one index remembers one by one; older ones count for the whole index. */
  marksPerIndex: 8_192,
  /** An append holds whole transactions up to about this size. */
  batchBytes: 512 * 1024,
  /** Transactions, and their bytes, that may wait to become durable. */
  waitingWrites: 65_536,
  waitingBytes: 64 * 1024 * 1024,
  /** Ranges that one footprint names in one index before it watches the whole index. */
  rangesPerIndex: 1_024,
  /** One part of a snapshot; encoding one is a slice of about a millisecond. */
  snapshotPartBytes: 256 * 1024,
  /** A snapshot is taken when the log exceeds this and `logPerSnapshot` times the last one. */
  logBytes: 64 * 1024 * 1024,
  logPerSnapshot: 2,
};

export type StateLimits = typeof stateLimits;
