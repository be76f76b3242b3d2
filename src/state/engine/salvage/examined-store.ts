import { existsSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Bytes } from '../../codec.ts';
import {
  DataDirectoryInUse,
  DataDirectoryUnusable,
  StateCorrupted,
  StateError,
} from '../../errors.ts';
import { Acknowledged } from '../acknowledged.ts';
import type { Batch, Loaded } from '../engine.ts';
import { sqliteLimits } from '../limits.ts';
import { noSnapshot, type SnapshotRecord } from '../log-check.ts';
import { requireUnmarked, type StoreMark } from '../offline.ts';
import { readError, sqliteCodeOf, sqliteCodes } from '../sqlite-errors.ts';
import {
  createOrCheck,
  filesIn,
  metaSnapshot,
  pidIn,
  readMeta,
  requireUninterrupted,
  type SqliteFiles,
} from '../sqlite-files.ts';
import { readPieces } from '../sqlite-pieces.ts';
import { type Base, chooseBase, endOf, greatest } from './base.ts';
import { DatabasePages } from './pages.ts';
import { bytesAt, type FoundBatch, FoundPieces } from './pieces.ts';

/** A fault of a store, and where it is. */
export interface StoreDamage {
  readonly at: string;
  readonly fault: string;
}

/**
 * The embedded store of a data directory that no agent uses, as far as it is legible.
 *
 * Invariants
 *  X1. Nothing of the store changes.
 *  X2. As long as it is open no agent can use the store, unless the store is so damaged that none could anyway.
 */
export class ExaminedStore {
  readonly #files: SqliteFiles;
  readonly #database: DatabaseSync | undefined;
  readonly #openFault: Error | undefined;
  readonly #hadIndexFile: boolean;
  #legible: Legible | undefined;

  /** @throws DataDirectoryInUse, DataDirectoryUnusable */
  constructor(directory: string) {
    this.#files = filesIn(directory);
    requireUninterrupted(directory);
    if (!existsSync(this.#files.database)) {
      throw new DataDirectoryUnusable(directory, 'it holds no state.db');
    }
    this.#hadIndexFile = existsSync(this.#indexFile);
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(this.#files.database, { readOnly: true, timeout: 0 });
      database.prepare('SELECT count(*) FROM sqlite_schema').get();
      this.#database = database;
    } catch (error) {
      database?.close();
      this.#openFault = this.#openingFault(error);
    }
  }

  /** All that is stored, as an agent reads it. @throws StateError */
  async *load(): AsyncGenerator<Loaded> {
    const { acknowledged: path, database: file, directory } = this.#files;
    if (this.#database === undefined) throw this.#openFault!;
    try {
      const acknowledged = Acknowledged.read(path);
      if (acknowledged === 0 && statSync(file).size === 0) return;
      const mark = createOrCheck(this.#database, this.#files, acknowledged);
      requireUnmarked(`the data directory ${directory}`, mark);
      const snapshot = readMeta(this.#database, this.#files, metaSnapshot) ?? noSnapshot;
      const check = yield* readPieces(this.#database, snapshot as SnapshotRecord);
      check.end(acknowledged);
    } catch (error) {
      if (error instanceof StateError) throw error;
      // Here an error of the disk is damage, too.
      throw new StateCorrupted(file, (error as Error).message, error);
    }
  }

  /** The faults that SQLite finds in the structure of its file. */
  structure(): readonly StoreDamage[] {
    const at = this.#files.database;
    if (this.#database === undefined) return [{ at, fault: this.#openFault!.message }];
    try {
      return this.#database
        .prepare(`PRAGMA integrity_check(${sqliteLimits.faultsMax})`)
        .all()
        .flatMap(({ integrity_check: text }) => String(text).split('\n'))
        .filter((fault) => fault !== 'ok' && !fault.startsWith('***'))
        .map((fault) => ({ at, fault }));
    } catch (error) {
      return [{ at, fault: (error as Error).message }];
    }
  }

  /** Damage that an agent does not notice: where nothing tells how far the log went, its end may be missing. */
  ending(): readonly StoreDamage[] {
    const { acknowledged: at } = this.#files;
    return Acknowledged.isCertain(at) ? [] : [{ at, fault: 'it is missing or illegible' }];
  }

  /** The pieces of the store that are legible. */
  legible(): Legible {
    this.#legible ??= new Legible(this.#files);
    return this.#legible;
  }

  close(): void {
    this.#legible?.close();
    this.#database?.close();
    // SQLite keeps an index of the write-ahead log in this file, and leaves it behind.
    if (this.#database !== undefined && !this.#hadIndexFile)
      rmSync(this.#indexFile, { force: true });
  }

  get #indexFile(): string {
    return `${this.#files.database}-shm`;
  }

  /** The error of a damaged file. @throws DataDirectoryInUse, DataDirectoryUnusable */
  #openingFault(error: unknown): Error {
    const { directory, database, pid } = this.#files;
    if (sqliteCodeOf(error) === sqliteCodes.busy)
      throw new DataDirectoryInUse(directory, pidIn(pid));
    const fault = readError(directory, database, error);
    if (fault instanceof StateCorrupted) return fault;
    throw fault;
  }
}

/** The legible pieces of a store, from a snapshot to the end of the log that follows it. */
export class Legible {
  readonly damage: readonly StoreDamage[];
  /** `undefined`: there is none, or nobody knows (`isMarkKnown`). */
  readonly mark: StoreMark | undefined;
  readonly isMarkKnown: boolean;
  /** Whether the last acknowledged batch is known. */
  readonly isEndKnown: boolean;
  readonly #pages: DatabasePages;
  readonly #found = new FoundPieces();
  readonly #base: Base;
  readonly #acknowledged: number | undefined;

  constructor(files: SqliteFiles) {
    this.#pages = new DatabasePages(files.database);
    this.#acknowledged = readAcknowledged(files.acknowledged);
    this.isEndKnown = Acknowledged.isCertain(files.acknowledged);
    this.#base = this.#search();
    this.mark = this.#found.mark;
    this.isMarkKnown = this.#found.format !== undefined;
    this.damage = [...this.#damageIn(files)];
  }

  /** Whether nothing is missing from the snapshot to the last acknowledged batch. */
  get isWhole(): boolean {
    const { missing, isRecorded } = this.#base;
    return missing.length === 0 && isRecorded && this.#cutFrom() === undefined;
  }

  /** Whether the number of parts of the snapshot is known. */
  get isRecorded(): boolean {
    return this.#base.isRecorded;
  }

  /** The snapshot index; 0: there is no snapshot. */
  get snapshotIndex(): number {
    return this.#base.snapshot.index;
  }

  /** The last index of the batches that follow each other. */
  get index(): number {
    return endOf(this.#base);
  }

  /** The greatest index that is named anywhere. */
  get lastIndex(): number {
    const all = [...this.#found.batches.values()].flat();
    return greatest(
      all.map(({ lastIndex }) => lastIndex),
      this.index,
    );
  }

  /** The parts of the snapshot in their order; `undefined` where one is missing. */
  *parts(): Generator<Bytes | undefined> {
    const { snapshot } = this.#base;
    const parts = this.#found.parts.get(snapshot.index);
    for (let ordinal = 0; ordinal < snapshot.parts; ordinal++) {
      const part = parts?.get(ordinal);
      yield part && bytesAt(part);
    }
  }

  *batches(): Generator<Batch> {
    for (const batch of this.#base.batches) yield batchOf(batch);
  }

  /** All of it, if it is whole. */
  async *load(): AsyncGenerator<Loaded> {
    for (const bytes of this.parts()) yield { kind: 'snapshot-part', bytes: bytes! };
    for (const batch of this.batches()) yield { kind: 'batch', batch };
  }

  /** The batches after the first one that is missing, as far as they are there. */
  *cut(): Generator<Batch> {
    for (const [, found] of this.#cutBatches()) if (found !== undefined) yield batchOf(found);
  }

  /** The names of the batches that are missing or illegible. */
  missingBatches(): readonly string[] {
    const missing: number[] = [];
    for (const [sequence, found] of this.#cutBatches())
      if (found === undefined) missing.push(sequence);
    return rangesOf(missing).map((range) => `batch ${range} of the log`);
  }

  /** The names of the parts of the snapshot that are missing or illegible. */
  missingParts(): readonly string[] {
    const { missing, snapshot } = this.#base;
    return rangesOf(missing).map(
      (range) => `part ${range} of the snapshot at index ${snapshot.index}`,
    );
  }

  /** Content of rows whose checksum does not match. It may serve to name what is lost. */
  *torn(): Generator<Bytes> {
    for (const piece of this.#found.torn) yield bytesAt(piece);
  }

  close(): void {
    this.#pages.close();
  }

  /** Looks further only if something is missing in what SQLite would show. */
  #search(): Base {
    const { committed, others } = this.#pages;
    const found = this.#found;
    found.scan(committed, true);
    const base = chooseBase(found, this.#acknowledged);
    if (this.isEndKnown && isComplete(base, found, this.#acknowledged ?? 0)) {
      return base;
    }
    for (const pages of others) found.scan(pages, false);
    for (const pages of [committed, ...others]) found.scanThoroughly(pages);
    return chooseBase(found, this.#acknowledged);
  }

  /** The batches from the first one on that is missing, by sequence. */
  *#cutBatches(): Generator<readonly [sequence: number, found: FoundBatch | undefined]> {
    const { batches } = this.#found;
    const last = greatest(batches.keys(), this.#acknowledged);
    for (let sequence = this.#cutFrom() ?? last + 1; sequence <= last; sequence++) {
      const found = batches.get(sequence)?.find(({ firstIndex }) => firstIndex > this.index);
      yield [sequence, found];
    }
  }

  /** The sequence of the first batch that is missing; `undefined`: none is. */
  #cutFrom(): number | undefined {
    const { snapshot, batches } = this.#base;
    const end = batches.at(-1)?.sequence ?? snapshot.sequence;
    if (end < (this.#acknowledged ?? 0)) return end + 1;
    const isLater = [...this.#found.batches.values()]
      .flat()
      .some(({ sequence, firstIndex }) => sequence > end && firstIndex > this.index);
    return isLater ? end + 1 : undefined;
  }

  *#damageIn({ database, acknowledged }: SqliteFiles): Generator<StoreDamage> {
    if (!this.isMarkKnown) yield { at: database, fault: 'its format is illegible' };
    if (!this.isEndKnown) yield { at: acknowledged, fault: 'it is missing or illegible' };
    if (!this.isRecorded) {
      yield { at: `the snapshot at index ${this.snapshotIndex}`, fault: 'its record is illegible' };
    }
    for (const at of [...this.missingParts(), ...this.missingBatches()]) {
      yield { at, fault: 'missing or illegible' };
    }
  }
}

/** Increasing numbers, those that follow each other as `2 to 5`. */
function rangesOf(numbers: readonly number[]): readonly string[] {
  const ranges: [first: number, last: number][] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range?.[1] === number - 1) range[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`));
}

/** Whether nothing is missing, and nothing is left over. */
function isComplete(base: Base, found: FoundPieces, acknowledged: number): boolean {
  const end = base.batches.at(-1)?.sequence ?? base.snapshot.sequence;
  const last = greatest(found.batches.keys(), acknowledged);
  const isSound = base.isRecorded && base.missing.length === 0;
  return isSound && found.format !== undefined && end >= last;
}

function readAcknowledged(path: string): number | undefined {
  try {
    return Acknowledged.read(path);
  } catch {
    return undefined;
  }
}

const batchOf = (found: FoundBatch): Batch => ({
  firstIndex: found.firstIndex,
  lastIndex: found.lastIndex,
  bytes: bytesAt(found),
});
