import { hourMs, kibibyte, mebibyte, minuteMs } from '../../base/units.ts';

/** Files of saved snapshots. Sizes in bytes count the file, unless they say otherwise. */
export const snapshotLimits = {
  /** A frame of rows holds about as much JSON; making one is a slice of about a millisecond. */
  frameTextBytes: 128 * kibibyte,
  frameBytesMax: 32 * mebibyte,
  /** The JSON of a frame. */
  frameTextBytesMax: 64 * mebibyte,
  /** A file that is restored: the log keeps it as a single entry, which is in memory at once. */
  fileBytesMax: 256 * mebibyte,
  /** Between two pieces of it, while it is sent. */
  pieceWithinMs: 1 * minuteMs,
  /** Snapshots that a server saves at the same time: each holds on to the state that it began with. */
  savesMax: 4,
  saveMaxMs: 1 * hourMs,
  /** Snapshots on a schedule, where operators set nothing else. */
  intervalMs: 1 * hourMs,
  intervalMinMs: 1 * minuteMs,
  kept: 24,
  keptMax: 10_000,
  /** How long nodes keep allocations that a restored snapshot does not know. */
  unknownGraceMs: 30 * minuteMs,
  /** Of these, how many a server lists. */
  unknownListedMax: 10_000,
  /** Between the index of a snapshot from another log and that of its restore. */
  indexLeap: 1_000_000_000,
} as const;
