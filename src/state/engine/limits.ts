import { mebibyte, secondMs } from '../../base/units.ts';

/** About the bytes of the database that one step loads or deletes, and the faults that SQLite lists of it. */
export const sqliteLimits = {
  loadBytes: 1 * mebibyte,
  /** Such steps that are asked for before the first of them is used. */
  loadsAhead: 4,
  compactBytes: 2 * mebibyte,
  compactRows: 512,
  /** Parts of an older snapshot that one step deletes. */
  compactParts: 8,
  /**
   * Bytes after which the write-ahead log is copied into the database. The next append waits for the copy: of four times as
   * many it waited four times as long, for a fifth less time in all.
   */
  checkpointBytes: 1 * mebibyte,
  faultsMax: 100,
  /** The thread collects the garbage and the code of its start when it had nothing to do for so long. */
  collectMs: 5 * secondMs,
} as const;

/** Bounds of the feeding of readers. */
export const feedLimits = {
  /** Bytes that may wait for a reader; a reader behind which more wait is started anew. */
  waitingBytesMax: 256 * mebibyte,
  /** Parts of a snapshot are handed on while fewer bytes than this wait. */
  snapshotAheadBytes: 32 * mebibyte,
  lookAgainMs: 5,
  /** A reader takes in what waits for it for so long at a time, and then answers requests. */
  turnMs: 2,
} as const;
