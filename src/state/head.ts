import { assert } from '../base/assert.ts';
import { encodeTransaction } from './codec.ts';
import { Form, type FormSource } from './form.ts';
import { deepFreeze } from './freeze.ts';
import { encodeKey } from './keys.ts';
import type { StateLimits } from './limits.ts';
import type { OrderedIndex } from './ordered-index.ts';
import type { RowChange, Transacted } from './row-change.ts';
import { SharedHolders } from './shared-values.ts';
import type { Step } from './stepping.ts';
import type { AnyTable, Table } from './table.ts';
import type {
  Key,
  KeyRange,
  RangeReader,
  ScanOptions,
  Stamps,
  TableDefinition,
  TableWriter,
  Transaction,
  Unstamped,
} from './types.ts';
import { type Tables, tableOf, View } from './view.ts';

/** A transaction that ran on the head and changed something. */
export interface Ran extends Transacted {
  /** Its durable form. */
  readonly text: string;
}

interface HeadOptions {
  readonly limits: Pick<StateLimits, 'marksPerIndex' | 'sharedValues'>;
  readonly freeze: boolean;
  /** Where the state says in which form it is written; `undefined`: in the newest. */
  readonly source?: FormSource | undefined;
  /** The form of the first transaction, in place of that of the view. */
  readonly form?: Form | undefined;
}

/**
 * The newest state, durable or not. Transactions run on it. It begins as the durable view and lives
 * for one term.
 *
 * Invariants
 *  H1. A transaction that throws leaves tables and index as they were.
 *  H2. `index` grows by one with each transaction that changes something, and only then.
 *  H3. A view that was taken is never changed.
 */
export class Head {
  readonly #tables: Tables;
  readonly #marksPerIndex: number;
  readonly #holders: SharedHolders;
  readonly #freeze: boolean;
  readonly #source: FormSource | undefined;
  #form: Form | undefined;
  readonly #dirty = new Set<AnyTable>();
  #view: View;
  #index: number;
  #running = false;

  constructor(view: View, { limits, freeze, source, form }: HeadOptions) {
    this.#index = view.index;
    this.#tables = cloneAll(view.tables);
    this.#marksPerIndex = limits.marksPerIndex;
    this.#holders = new SharedHolders(limits.sharedValues);
    this.#freeze = freeze;
    this.#source = source;
    this.#form = form ?? Form.of(source, view);
    this.#view = view;
  }

  get index(): number {
    return this.#index;
  }

  /** Whether every reader of the log reads batches that are compressed. */
  get isPackable(): boolean {
    return this.#form?.isPackable === true;
  }

  /** Runs the function. `ran` is `undefined` when it changed nothing. */
  run<T>(run: (transaction: Transaction) => T): {
    readonly value: T;
    readonly ran: Ran | undefined;
  } {
    assert(!this.#running, 'a transaction cannot run inside another');
    const transaction = new HeadTransaction(this.#tables, this.#index + 1, {
      freeze: this.#freeze,
      form: this.#form,
    });
    this.#running = true;
    try {
      const value = run(transaction);
      assert(!isThenable(value), 'a transaction is a synchronous function');
      const { index, changes } = transaction;
      if (changes.length === 0) return { value, ran: undefined };
      const text = encodeTransaction(index, changes, { holders: this.#holders, form: this.#form });
      const ran = { index, changes, text };
      this.#commit(ran);
      return { value, ran };
    } catch (error) {
      undo(transaction.steps);
      throw error;
    } finally {
      transaction.open = false;
      this.#running = false;
    }
  }

  /** The head as it is now, until the next transaction runs. */
  get now(): View {
    return new View(this.#index, this.#tables);
  }

  /** A view of the head as it is now. It shares unchanged tables with the view before it. */
  view(): View {
    if (this.#view.index === this.#index) return this.#view;
    const tables = new Map(this.#view.tables);
    for (const table of this.#dirty) tables.set(table.definition.name, table.clone());
    this.#dirty.clear();
    this.#view = new View(this.#index, tables);
    return this.#view;
  }

  #commit(ran: Ran): void {
    for (const { table } of ran.changes) this.#dirty.add(table);
    for (const { table } of ran.changes) table.prune(this.#marksPerIndex);
    this.#index = ran.index;
    const { table: name } = this.#source ?? {};
    // The new form holds from the next transaction on.
    if (name !== undefined && ran.changes.some(({ table }) => table.definition.name === name)) {
      this.#form = Form.of(this.#source, new View(this.#index, this.#tables));
    }
  }
}

function cloneAll(tables: Tables): Tables {
  return new Map([...tables].map(([name, table]) => [name, table.clone()]));
}

function undo(steps: readonly Step[]): void {
  for (const step of steps.toReversed()) step.index.undo(step);
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

class HeadTransaction implements Transaction {
  readonly index: number;
  readonly changes: RowChange[] = [];
  readonly steps: Step[] = [];
  readonly freeze: boolean;
  readonly form: Form | undefined;
  open = true;
  readonly #tables: Tables;

  constructor(
    tables: Tables,
    index: number,
    { freeze, form }: { readonly freeze: boolean; readonly form: Form | undefined },
  ) {
    this.#tables = tables;
    this.index = index;
    this.freeze = freeze;
    this.form = form;
  }

  get hasChanged(): boolean {
    return this.changes.length > 0;
  }

  table<R extends Stamps, I extends string>(definition: TableDefinition<R, I>): TableWriter<R, I> {
    return new HeadTable(this, tableOf(this.#tables, definition));
  }
}

class HeadTable<R extends Stamps, I extends string> implements TableWriter<R, I> {
  readonly #transaction: HeadTransaction;
  readonly #table: Table<R, I>;

  constructor(transaction: HeadTransaction, table: Table<R, I>) {
    this.#transaction = transaction;
    this.#table = table;
  }

  get size(): number {
    return this.#openTable().size;
  }

  get(...key: Key): R | undefined {
    return this.#openTable().primary.get(encodeKey(key));
  }

  has(...key: Key): boolean {
    return this.get(...key) !== undefined;
  }

  /** Yields the present rows, even if the caller changes the table meanwhile. */
  scan(options?: ScanOptions): IterableIterator<R> {
    return this.#openTable().primary.stableScan(options);
  }

  find(range: KeyRange, matches?: (row: R) => boolean): R | undefined {
    return this.#openTable().find(range, matches);
  }

  lastIndex(range?: KeyRange): number {
    return this.#openTable().lastIndex(range);
  }

  by(index: I): RangeReader<R> {
    return new HeadIndex(() => this.#openTable().index(index));
  }

  put(row: Unstamped<R>): R {
    const table = this.#openTable();
    const { index, freeze, form } = this.#transaction;
    const parts = table.definition.key(row as R);
    const key = encodeKey(parts);
    const before = table.primary.get(key);
    const given = table.definition.keepsCreateIndex ? row.CreateIndex : undefined;
    // TypeScript cannot see that the stamps complete an `Unstamped` row.
    const stamped = {
      ...row,
      CreateIndex: before?.CreateIndex ?? given ?? index,
      ModifyIndex: index,
    } as unknown as R;
    const after =
      form === undefined ? stamped : (form.shown(anyTable(table), stamped) as unknown as R);
    if (freeze) deepFreeze(after);
    this.#makeChange(key, { table: anyTable(table), key: parts, before, after });
    return after;
  }

  delete(...parts: Key): boolean {
    const table = this.#openTable();
    const key = encodeKey(parts);
    const before = table.primary.get(key);
    if (before === undefined) return false;
    this.#makeChange(key, { table: anyTable(table), key: parts, before, after: undefined });
    return true;
  }

  #makeChange(key: string, change: RowChange): void {
    change.table.replace(key, change.before, change.after, this.#transaction);
    this.#transaction.changes.push(change);
  }

  #openTable(): Table<R, I> {
    assert(this.#transaction.open, 'a transaction is valid only while its function runs');
    return this.#table;
  }
}

const anyTable = <R extends Stamps, I extends string>(table: Table<R, I>): AnyTable =>
  table as unknown as AnyTable;

class HeadIndex<R extends Stamps> implements RangeReader<R> {
  readonly #index: () => OrderedIndex<R>;

  constructor(index: () => OrderedIndex<R>) {
    this.#index = index;
  }

  scan(options?: ScanOptions): IterableIterator<R> {
    return this.#index().stableScan(options);
  }

  find(range: KeyRange, matches?: (row: R) => boolean): R | undefined {
    return this.#index().find(range, matches);
  }

  lastIndex(range?: KeyRange): number {
    return this.#index().lastIndex(range);
  }
}
