import { assert, present } from '../base/assert.ts';
import type { Steps } from '../base/steps.ts';
import { batchHash } from './batch-hash.ts';
import type { StateClock } from './clock.ts';
import {
  type Bytes,
  type Entry,
  ordersOf,
  parse,
  type SnapshotMarks,
  type SnapshotPart,
  type SnapshotRows,
  type TransactionForm,
} from './codec.ts';
import { Draft } from './draft.ts';
import type { Batch } from './engine/engine.ts';
import { Diverged, StateCorrupted } from './errors.ts';
import { encodeKey, hasSameParts } from './keys.ts';
import type { StateLimits } from './limits.ts';
import type { OrderedIndex } from './ordered-index.ts';
import { type RestoreEntry, restoreIn } from './restore-entry.ts';
import type { RowChange, Transacted } from './row-change.ts';
import { knownTable, type Loadings, liftedRow, RowsLoader } from './rows-loader.ts';
import { SharedReader } from './shared-values.ts';
import type { AnyDefinition, AnyTable } from './table.ts';
import { loadingsOf, type TableLoading } from './table-loading.ts';
import type { Stamps } from './types.ts';
import { emptyTables, type Tables, View } from './view.ts';

type ReplicaLimits = Pick<StateLimits, 'marksPerIndex' | 'deferredKeys'>;

/**
 * The durable state in this process: the log, applied to tables.
 *
 * Invariants
 *  P1. It is loaded once: first the parts of a snapshot, then the batches after it, in order. From
 *      then on its view is the state after the last batch that was applied or adopted.
 *  P2. It moves by whole batches, in the order of the log and without a gap. A batch that cannot be
 *      applied leaves no trace.
 *  P3. A batch of another process yields the same here as on the head of that process: rows, marks,
 *      the index of every range, and the changes of each transaction.
 *  P4. Where batches have hashes, a batch that does not follow the applied batches is refused with
 *      `Diverged`.
 *  P5. Nobody undoes a batch of another process, so its steps are not gathered. Its changes of secondary indexes wait
 *      until somebody reads them, or there are too many: a process that only follows is seldom asked.
 */
export class Replica {
  readonly #limits: ReplicaLimits;
  readonly #ready: (row: Stamps) => Stamps;
  /** Indexes for which the snapshot has no marks of the present version. */
  readonly #unmarked = new Set<OrderedIndex<Stamps>>();
  readonly #loader: RowsLoader;
  readonly #clock: Pick<StateClock, 'note'> | undefined;
  #view: View;
  /** The tables of the view while they are loaded. */
  #loading: Loadings | undefined;
  #index = 0;
  #hash: string | undefined;
  /** Index of the last restore; 0: there was none. */
  #restored = 0;

  /** `tables` are empty. `ready` is applied to each row that is read, `clock` is told of each batch. */
  constructor(
    tables: Tables,
    limits: ReplicaLimits,
    ready: (row: Stamps) => Stamps,
    clock?: Pick<StateClock, 'note'>,
  ) {
    this.#view = new View(0, tables);
    this.#limits = limits;
    this.#ready = ready;
    this.#loader = new RowsLoader(ready);
    this.#clock = clock;
    this.#loading = loadingsOf(tables);
  }

  /** Hash of the last batch; `undefined` where no hashes are kept. */
  get hash(): string | undefined {
    return this.#hash;
  }

  /** Index of the last transaction. */
  get index(): number {
    return this.#index;
  }

  get view(): View {
    assert(this.#loading === undefined, 'the replica is not loaded yet');
    return this.#view;
  }

  loadSnapshotPart(bytes: Bytes): void {
    const part = parse(bytes, 'the snapshot') as SnapshotPart;
    if ('Index' in part) {
      this.#index = part.Index;
      this.#hash = part.Hash;
      this.#restored = part.Restored ?? 0;
      this.#clock?.note(part.Time ?? 0);
    } else if ('Rows' in part) this.#loadRows(part);
    else this.#loadMarks(part);
  }

  loadBatch(batch: Batch): void {
    this.#closeSnapshot();
    this.#requireNext(batch);
    const restore = restoreIn(batch.bytes, placeOf(batch));
    if (restore !== undefined) this.#loadRestore(restore, batch);
    else {
      const tables = new LastTable(this.#loadings);
      for (const form of this.#transactionsIn(batch.bytes)) this.#load(tables, form);
    }
    this.#hash = batchHash(batch);
  }

  endLoading(): void {
    this.#closeSnapshot();
    for (const loading of this.#loadings.values()) loading.end();
    for (const { index } of this.#orders()) index.noteRestore(this.#restored);
    this.#loading = undefined;
    this.#view = new View(this.#index, this.#view.tables);
  }

  /**
   * Applies a batch that another process appended. Returns its transactions in order.
   */
  apply(batch: Batch): readonly Transacted[] {
    const { lastIndex, bytes } = batch;
    const before = this.view.index;
    this.#requireNext(batch);
    const tables = new Writable(this.#view.tables);
    try {
      const transacted = this.#transactionsIn(bytes).map((form) => this.#replay(tables, form));
      if (this.#index !== lastIndex) {
        const fault = `it ends with ${this.#index}, not with ${lastIndex}`;
        throw new StateCorrupted(placeOf(batch), fault);
      }
      tables.settleBeyond(this.#limits.deferredKeys);
      this.#view = new View(this.#index, tables.all);
      this.#hash = batchHash(batch);
      return transacted;
    } catch (error) {
      this.#index = before;
      throw error;
    }
  }

  /** Moves to a durable view of this process's own head. `hash`: that of its last batch. */
  adopt(view: View, hash: string | undefined): void {
    assert(view.index > this.view.index, 'the durable view does not go back');
    this.#view = view;
    this.#index = view.index;
    this.#hash = hash;
  }

  /** Tables for the rows of a snapshot that is restored. */
  draft(): Draft {
    return new Draft(this.#definitions, this.#ready);
  }

  /** Applies a restore that another process appended. Until the last step nothing shows of it. */
  *applyRestore({ transaction, texts }: RestoreEntry, batch: Batch): Steps<void> {
    const before = this.view.index;
    this.#requireNext(batch);
    const draft = this.draft();
    for (const text of texts) {
      draft.add(text);
      yield;
    }
    yield* draft.settle();
    const { tables } = draft.viewBefore(batch.lastIndex);
    try {
      this.#index = batch.lastIndex - 1;
      this.#replay(tables, transaction);
    } catch (error) {
      this.#index = before;
      throw error;
    }
    this.adopt(new View(batch.lastIndex, tables), batchHash(batch));
  }

  get #loadings(): Loadings {
    return present(this.#loading, 'the replica is loaded once');
  }

  get #definitions(): readonly AnyDefinition[] {
    return [...this.#view.tables.values()].map(({ definition }) => definition);
  }

  /** Loads a restore, in place of all that was loaded before. */
  #loadRestore({ transaction, texts }: RestoreEntry, batch: Batch): void {
    const tables = emptyTables(this.#definitions);
    const loadings = loadingsOf(tables);
    this.#loading = loadings;
    this.#view = new View(0, tables);
    for (const text of texts) {
      this.#loader.load(loadings, parse(text, placeOf(batch)) as SnapshotRows);
    }
    this.#loader.end();
    this.#restored = batch.lastIndex;
    for (const { index } of this.#orders()) index.restoreAt(batch.lastIndex);
    this.#index = batch.lastIndex - 1;
    this.#load(new LastTable(loadings), transaction);
  }

  /** @throws Diverged, StateCorrupted */
  #requireNext(batch: Batch): void {
    const { firstIndex, previous, timeMs = 0 } = batch;
    if (firstIndex !== this.#index + 1) {
      throw new StateCorrupted(placeOf(batch), `it follows ${this.#index}`);
    }
    const applied = this.#hash;
    if (applied !== undefined && previous !== undefined && applied !== previous) {
      throw new Diverged(`${applied} up to index ${this.#index}`, `goes on from ${previous}`);
    }
    this.#clock?.note(timeMs);
  }

  #loadRows(part: SnapshotRows): void {
    const { table } = this.#loader.load(this.#loadings, part);
    for (const { index } of ordersOf(table)) this.#unmarked.add(index);
  }

  #loadMarks({ Table, Version, Order, Floor, Marks }: SnapshotMarks): void {
    const loading = knownTable(this.#loadings, Table, Version);
    const { table } = loading;
    // Another version may have other keys.
    if (Version !== table.definition.version) return;
    for (const { name, index } of ordersOf(table)) {
      if (name !== Order) continue;
      const marks = Marks.map(([key, mark]): [string, number] => [encodeKey(key), mark]);
      loading.restoreMarks(index, Floor, marks);
      this.#unmarked.delete(index);
    }
  }

  /** Any row may have left an index without marks, so every range of it counts as changed. */
  #closeSnapshot(): void {
    for (const index of this.#unmarked) index.restoreMarks(this.#index, []);
    this.#unmarked.clear();
    this.#loader.end();
  }

  #transactionsIn(bytes: Bytes): readonly TransactionForm[] {
    return parse(bytes, `the batch after index ${this.#index}`) as TransactionForm[];
  }

  /** Applies a stored transaction to tables that are loaded. */
  #load(tables: LastTable<TableLoading>, [index, ...entries]: TransactionForm): void {
    const place = `the transaction ${index}`;
    if (index !== this.#index + 1) throw new StateCorrupted(place, `it follows ${this.#index}`);
    const transaction = { index };
    const values = new SharedReader();
    const marked = new Set<TableLoading>();
    for (const entry of entries) {
      const table = tables.of(entry[0], entry[1]);
      const key = entry[2];
      const before = table.at(key);
      const after = this.#rowAfter(table, { before, entry, values, place });
      if (table.replace(key, { before, after }, transaction)) marked.add(table);
    }
    for (const { table } of marked) table.prune(this.#limits.marksPerIndex);
    this.#index = index;
  }

  /** Applies a stored transaction to the tables. */
  #replay(tables: Pick<Tables, 'get'>, [index, ...entries]: TransactionForm): Transacted {
    const place = `the transaction ${index}`;
    if (index !== this.#index + 1) throw new StateCorrupted(place, `it follows ${this.#index}`);
    const changes: RowChange[] = [];
    const transaction = { index, defers: true };
    const values = new SharedReader();
    const known = new LastTable(tables);
    for (const entry of entries) {
      const table = known.of(entry[0], entry[1]);
      const key = encodeKey(entry[2]);
      const before = table.primary.get(key);
      const after = this.#rowAfter(table, { before, entry, values, place });
      table.replace(key, before, after, transaction);
      changes.push({ table, key: entry[2], before, after });
    }
    for (const table of new Set(changes.map((change) => change.table))) {
      table.prune(this.#limits.marksPerIndex);
    }
    this.#index = index;
    return { index, changes };
  }

  /** The row that the entry leaves. */
  #rowAfter(
    table: AnyTable | TableLoading,
    { before, entry: [name, version, parts, stored], values, place }: Stored,
  ): Stamps | undefined {
    if (stored === undefined) return undefined;
    const row = liftedRow(table, values.read(table, stored, before, place), version);
    const after = this.#ready(row);
    if (!hasSameParts(table.definition.key(after), parts)) {
      throw new StateCorrupted(place, `a row of ${name} does not have the key of its entry`);
    }
    return after;
  }

  *#orders() {
    for (const table of this.#view.tables.values()) yield* ordersOf(table);
  }
}

/** A stored entry, and what reads it. */
interface Stored {
  /** The row at its key before. */
  readonly before: Stamps | undefined;
  readonly entry: Entry;
  readonly values: SharedReader;
  readonly place: string;
}

/** Tables by name. */
interface Found<T> {
  get(name: string): T | undefined;
}

/** Finds known tables, and looks for none again that it was asked for last: neighbours are often of the same. */
class LastTable<T extends AnyTable | TableLoading> {
  readonly #tables: Found<T>;
  #name = '';
  #version = 0;
  #table: T | undefined;

  constructor(tables: Found<T>) {
    this.#tables = tables;
  }

  /** @throws StateFormatUnknown */
  of(name: string, version: number): T {
    if (this.#table !== undefined && name === this.#name && version === this.#version)
      return this.#table;
    this.#name = name;
    this.#version = version;
    this.#table = knownTable(this.#tables, name, version);
    return this.#table;
  }
}

/** Tables that begin as those of a view. `get` replaces a table by its clone. */
class Writable {
  readonly all: Map<string, AnyTable>;
  readonly #cloned = new Set<string>();

  constructor(tables: Tables) {
    this.all = new Map(tables);
  }

  /** Settles what the changes of an index left undone, if that is much. */
  settleBeyond(max: number): void {
    for (const name of this.#cloned) this.all.get(name)!.settleBeyond(max);
  }

  get(name: string): AnyTable | undefined {
    const table = this.all.get(name);
    if (table === undefined || this.#cloned.has(name)) return table;
    const clone = table.clone();
    this.#cloned.add(name);
    this.all.set(name, clone);
    return clone;
  }
}

const placeOf = ({ firstIndex }: Batch): string => `the batch from index ${firstIndex}`;
