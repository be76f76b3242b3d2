import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Bytes } from '../codec.ts';
import { StateCorrupted } from '../errors.ts';
import type { Loaded } from './engine.ts';
import { checkPart, checkParts, LogCheck, type SnapshotRecord } from './log-check.ts';

/**
 * The parts of the snapshot and the batches after it, each checked. Returns the check at the end of the log.
 * @throws StateCorrupted
 */
export function* readPieces(
  database: DatabaseSync,
  snapshot: SnapshotRecord,
): Generator<Loaded, LogCheck> {
  yield* partsIn(database, snapshot);
  const check = new LogCheck(snapshot);
  yield* batchesIn(database, snapshot, check);
  return check;
}

function* partsIn(database: DatabaseSync, snapshot: SnapshotRecord): Generator<Loaded> {
  let ordinal = 0;
  const parts = database
    .prepare('SELECT ordinal, checksum, bytes FROM part WHERE snapshot_index = ? ORDER BY id')
    .iterate(snapshot.index);
  for (const row of parts) {
    const bytes = blob(row.bytes, `part ${ordinal} of the snapshot`);
    const part = { ordinal: Number(row.ordinal), checksum: Number(row.checksum), bytes };
    checkPart(snapshot, ordinal, part);
    ordinal++;
    yield { kind: 'snapshot-part', bytes };
  }
  checkParts(snapshot, ordinal);
}

function* batchesIn(
  database: DatabaseSync,
  snapshot: SnapshotRecord,
  check: LogCheck,
): Generator<Loaded> {
  const log = database
    .prepare('SELECT * FROM log WHERE sequence > ? ORDER BY sequence')
    .iterate(snapshot.sequence);
  for (const row of log) {
    const sequence = Number(row.sequence);
    const batch = {
      firstIndex: Number(row.first_index),
      lastIndex: Number(row.last_index),
      bytes: blob(row.bytes, `batch ${sequence} of the log`),
    };
    check.next({ ...batch, sequence, checksum: Number(row.checksum) });
    yield { kind: 'batch', batch };
  }
}

function blob(value: SQLOutputValue | undefined, place: string): Bytes {
  if (value instanceof Uint8Array) return value as Bytes;
  throw new StateCorrupted(place, 'it is not a blob');
}
