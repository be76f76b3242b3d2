import { kibibyte, mebibyte, minuteMs, secondMs } from '../../base/units.ts';

/** Sizes in bytes count the encoded form. */
export const stateLimits = {
  /** Marks of an index, for deletes and moved rows. Older marks count for the whole index. */
  marksPerIndex: 2_048,
  /** Changes of an index by another process that wait for a read of it; a read then takes some milliseconds. */
  deferredKeys: 8_192,
  /** Shared values whose row in the log is known. */
  sharedValues: 64,
  /** An append holds whole transactions up to about this size. */
  batchBytes: 512 * kibibyte,
  /** Time for which a transaction that nobody waits for may wait for another one, to be appended with it. */
  lingerMs: 2,
  /** It waits only while other writes follow each other in about this time. */
  lingerPaceMs: 20,
  /** Number and bytes of the transactions that may wait to become durable. */
  waitingWrites: 65_536,
  waitingBytes: 64 * mebibyte,
  /** Time until the server tries its own write again that found the queue full. */
  fullRetryMs: 1 * secondMs,
  /** Ranges of an index in a footprint; with more ranges it watches the whole index. */
  rangesPerIndex: 1_024,
  /** Size of a part of a snapshot, which is encoded in a slice of about a millisecond. */
  snapshotPartBytes: 256 * kibibyte,
  /** A snapshot is taken when the log exceeds this size, and `logPerSnapshot` times the last snapshot. */
  logBytes: 64 * mebibyte,
  logPerSnapshot: 2,
  /** Beyond this size the log has no more than `longLogPerSnapshot` times the last snapshot. */
  longLogBytes: 1024 * 1024 * mebibyte,
  longLogPerSnapshot: 2,
  /** A change is copied to the disk of a server with a shared log after this time at the latest. */
  copyAgeMs: 1 * minuteMs,
  /** Of a large state it is later: copies write no more than this on average. */
  copyBytesPerSecond: 1 * mebibyte,
  /** While a state becomes large, a change waits for its copy no longer than this. */
  copyGrowingMs: 10 * minuteMs,
} as const;

/** The same where the log takes room in a store that others fill as well: etcd, with 2 GiB unless told otherwise. */
export const sharedLogLimits = {
  longLogBytes: 384 * mebibyte,
  longLogPerSnapshot: 0.25,
} as const;
