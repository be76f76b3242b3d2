import { rmSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { assert } from '../../base/assert.ts';
import type { Bytes } from '../codec.ts';
import { Fenced } from '../errors.ts';
import { Acknowledged } from './acknowledged.ts';
import type { Batch, Loaded } from './engine.ts';
import { sqliteLimits } from './limits.ts';
import { batchChecksum, noSnapshot, partChecksum, type SnapshotRecord } from './log-check.ts';
import { requireUnmarked, type Standing, type StoreMark } from './offline.ts';
import { readError, writeError } from './sqlite-errors.ts';
import {
  createOrCheck,
  type Format,
  filesIn,
  lockDatabase,
  metaFormat,
  metaSnapshot,
  readMeta,
  type SqliteFiles,
  type SqliteOptions,
  writeMark,
  writeMeta,
} from './sqlite-files.ts';
import { readPieces } from './sqlite-pieces.ts';

/**
 * The log and the snapshots in a SQLite database. Synchronous: it lives in a worker thread.
 *
 * Invariants
 *  D1. A batch is one row, inserted by one transaction, so it is stored whole or not at all.
 *  D2. Every row has a checksum over its content and its place. Batches are numbered without gaps.
 *      The number of the last acknowledged batch is kept outside the database, too.
 *  D3. A snapshot exists when its row in `meta` does. This row is written after all of its parts,
 *      and before the log that it covers is deleted.
 *  D4. The database is locked for this process as long as it is open.
 *  D5. Nothing but batches, the end of a snapshot and marks is synced by itself. All else goes into the same write-ahead
 *      log before them, so their sync covers it.
 *  D6. A database with a mark is loaded only to move its state.
 */
export class SqliteStore {
  readonly #files: SqliteFiles;
  readonly #database: DatabaseSync;
  readonly #loading: Generator<Loaded>;
  readonly #readsMarked: boolean;
  readonly #program: string | undefined;
  #isStamped = false;
  #acknowledged: Acknowledged | undefined;
  #insertBatch: StatementSync | undefined;
  #snapshot: SnapshotRecord = noSnapshot;
  #sequence = 0;
  #index = 0;
  /** The snapshot that is being written. */
  #taken: SnapshotRecord = noSnapshot;
  /** About the bytes in the write-ahead log that are not copied into the database yet. */
  #uncopiedBytes = 0;

  constructor(options: SqliteOptions) {
    this.#files = filesIn(options.directory);
    this.#database = lockDatabase(this.#files, options);
    this.#readsMarked = options.readsMarked ?? false;
    this.#program = options.program;
    this.#loading = this.#load();
  }

  /** The next snapshot parts and batches; none at the end. */
  loadNext(): Loaded[] {
    return this.#reading(() => {
      const loaded: Loaded[] = [];
      let size = 0;
      while (size < sqliteLimits.loadBytes) {
        const next = this.#loading.next();
        if (next.done) break;
        loaded.push(next.value);
        size += bytesOf(next.value).byteLength;
      }
      return loaded;
    });
  }

  append(batch: Batch, expectedIndex: number): void {
    assert(this.#acknowledged !== undefined, 'the store is loaded before it is appended to');
    if (expectedIndex !== this.#index) throw new Fenced(`the log ends at index ${this.#index}`);
    const sequence = this.#sequence + 1;
    const { firstIndex, lastIndex, bytes } = batch;
    this.#stampProgram();
    this.#insertBatch ??= this.#database.prepare('INSERT INTO log VALUES (?, ?, ?, ?, ?)');
    try {
      const checksum = batchChecksum(sequence, batch);
      this.#insertBatch.run(sequence, firstIndex, lastIndex, checksum, bytes);
      this.#acknowledged.note(sequence);
    } catch (error) {
      throw writeError(this.#files.directory, error);
    }
    this.#sequence = sequence;
    this.#index = lastIndex;
    this.#uncopiedBytes += bytes.byteLength;
  }

  /** Begins a snapshot of the state at `index`, where a batch ended. Deletes an unfinished one. */
  beginSnapshot(index: number): void {
    this.#writingUnsynced(() => {
      this.#database
        .prepare('DELETE FROM part WHERE snapshot_index <> ?')
        .run(this.#snapshot.index);
      const covered = this.#database
        .prepare('SELECT sequence FROM log WHERE last_index <= ? ORDER BY sequence DESC LIMIT 1')
        .get(index);
      // A store that is filled with the state of another one begins with a snapshot.
      const isFirst = this.#sequence === 0 && this.#snapshot === noSnapshot;
      assert(covered !== undefined || isFirst, 'a snapshot is newer than the one before');
      this.#taken = { index, sequence: Number(covered?.sequence ?? 0), parts: 0 };
    });
  }

  addPart(bytes: Bytes): void {
    const { index, parts: ordinal } = this.#taken;
    this.#writingUnsynced(() => {
      this.#database
        .prepare('INSERT INTO part VALUES (NULL, ?, ?, ?, ?)')
        .run(index, ordinal, partChecksum(index, ordinal, bytes), bytes);
    });
    this.#uncopiedBytes += bytes.byteLength;
    this.#taken = { ...this.#taken, parts: ordinal + 1 };
  }

  finishSnapshot(): void {
    this.#writing(() => writeMeta(this.#database, metaSnapshot, this.#taken));
    this.#snapshot = this.#taken;
  }

  /** Deletes a piece of the log that the snapshot covers, or of an older snapshot. Returns `false` if none was left. */
  compact(): boolean {
    const { index, sequence } = this.#snapshot;
    const { compactBytes, compactRows } = sqliteLimits;
    const covered = this.#database
      .prepare('SELECT sequence, length(bytes) AS size FROM log WHERE sequence <= ? LIMIT ?')
      .all(sequence, compactRows);
    let size = 0;
    const last = covered.find((row) => {
      size += Number(row.size);
      return size >= compactBytes;
    });
    return this.#writingUnsynced(() => {
      const end = last ?? covered.at(-1);
      if (end !== undefined) {
        this.#database.prepare('DELETE FROM log WHERE sequence <= ?').run(Number(end.sequence));
        return true;
      }
      const { changes } = this.#database
        .prepare(
          'DELETE FROM part WHERE id IN (SELECT id FROM part WHERE snapshot_index <> ? LIMIT ?)',
        )
        .run(index, sqliteLimits.compactParts);
      return Number(changes) > 0;
    });
  }

  /** Copies the write-ahead log into the database if it has grown long. For moments at which nobody waits for an answer. */
  checkpoint(): void {
    if (this.#uncopiedBytes < sqliteLimits.checkpointBytes) return;
    this.#uncopiedBytes = 0;
    this.#writing(() => this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)'));
  }

  /** Its mark, and whether it is empty, before it is loaded. */
  standing(): Standing {
    return this.#reading(() => {
      const acknowledged = Acknowledged.read(this.#files.acknowledged);
      const mark = createOrCheck(this.#database, this.#files, acknowledged);
      const snapshot = readMeta(this.#database, this.#files, metaSnapshot);
      const isLogEmpty = this.#database.prepare('SELECT 1 FROM log LIMIT 1').get() === undefined;
      return { mark, isEmpty: snapshot === undefined && isLogEmpty };
    });
  }

  /** Deletes everything, and puts the mark, in one transaction. */
  empty(mark: StoreMark): void {
    this.#writing(() => {
      this.#database.exec('BEGIN; DELETE FROM log; DELETE FROM part;');
      this.#database.prepare('DELETE FROM meta WHERE id = ?').run(metaSnapshot);
      writeMark(this.#database, mark);
      this.#database.exec('COMMIT');
    });
    Acknowledged.create(this.#files.acknowledged, 0).close();
  }

  /** Version of the program that wrote last; `undefined`: it is not known. */
  writtenBy(): string | undefined {
    return (readMeta(this.#database, this.#files, metaFormat) as Format | undefined)?.Program;
  }

  mark(mark: StoreMark | undefined): void {
    this.#writing(() => writeMark(this.#database, mark));
  }

  close(): void {
    this.#acknowledged?.close();
    rmSync(this.#files.pid, { force: true });
    this.#database.close();
  }

  *#load(): Generator<Loaded> {
    const acknowledged = Acknowledged.read(this.#files.acknowledged);
    const mark = createOrCheck(this.#database, this.#files, acknowledged);
    if (!this.#readsMarked) requireUnmarked(`the data directory ${this.#files.directory}`, mark);
    const snapshot = readMeta(this.#database, this.#files, metaSnapshot);
    if (snapshot !== undefined) this.#snapshot = snapshot as SnapshotRecord;
    const check = yield* readPieces(this.#database, this.#snapshot);
    check.end(acknowledged);
    this.#sequence = check.sequence;
    this.#index = check.index;
    this.#acknowledged = Acknowledged.create(this.#files.acknowledged, check.sequence);
  }

  /** Notes the version of this program, once it writes. A program that only fails to read leaves no trace. */
  #stampProgram(): void {
    if (this.#isStamped) return;
    this.#isStamped = true;
    if (this.#program === undefined || this.writtenBy() === this.#program) return;
    this.#writing(() => writeMark(this.#database, undefined, this.#program));
  }

  #reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw readError(this.#files.directory, this.#files.database, error);
    }
  }

  /** D5. */
  #writingUnsynced<T>(write: () => T): T {
    return this.#writing(() => {
      this.#database.exec('PRAGMA synchronous = NORMAL');
      try {
        return write();
      } finally {
        this.#database.exec('PRAGMA synchronous = FULL');
      }
    });
  }

  #writing<T>(write: () => T): T {
    try {
      return write();
    } catch (error) {
      throw writeError(this.#files.directory, error);
    }
  }
}

function bytesOf(loaded: Loaded): Bytes {
  return loaded.kind === 'batch' ? loaded.batch.bytes : loaded.bytes;
}
