/**
 * The shape of the state: rows in typed tables with ordered keys, read through snapshots and
 * written by transactions. See `DESIGN.md` beside this file.
 */

/** What every record carries. A transaction stamps both; nobody else sets them. */
export interface Stamps {
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** A row before the transaction stamps it. Stamps given are ignored. */
export type Unstamped<R extends Stamps> = Omit<R, keyof Stamps> & Partial<Stamps>;

/** Key parts, most significant first. No part holds a NUL character. */
export type Key = readonly string[];

export interface IndexDefinition<R extends Stamps> {
  /** The parts that come before the primary key, or `undefined`: the row is not in this index. */
  readonly key: (row: R) => Key | undefined;
  /**
   * The index number at which the row last changed as far as this index is concerned; the default
   * is its `ModifyIndex`. A write that leaves key and touch alone neither moves the index's
   * `lastIndex` nor wakes who watches it.
   */
  readonly touch?: (row: R) => number;
  /** As the table's own. */
  readonly scopeParts?: number;
  /** Its keys are those of the index that stands before it, so that the two hold their rows once. */
  readonly sharesRows?: true;
}

/** One table. A namespaced noun's key starts with its partition and namespace. */
export interface TableDefinition<R extends Stamps = Stamps, I extends string = string> {
  readonly name: string;
  /** Version of the row's durable form; rises with each incompatible change. */
  readonly version: number;
  readonly key: (row: R) => Key;
  /** Lists are read by ranges of so many leading parts: their `lastIndex` is kept. Default: none. */
  readonly scopeParts?: number;
  /** New rows keep a `CreateIndex` they are put with: that of the record they are part of. */
  readonly keepsCreateIndex?: true;
  readonly indexes: Readonly<Record<I, IndexDefinition<R>>>;
  /** Fields whose objects many rows share by identity: each is written once (`shared-values.ts`). */
  readonly shared?: readonly (keyof R & string)[];
  /** Lifts a durable row of an older version to the current one. */
  readonly upcast?: (row: unknown, version: number) => R;
}

/** A contiguous range of keys: those that start with `prefix`, and then with `text`. */
export interface KeyRange {
  /** Whole leading parts. Default: none, which is the whole table. */
  readonly prefix?: Key;
  /** The beginning of the part after `prefix`. */
  readonly text?: string;
}

export interface ScanOptions extends KeyRange {
  /** Start at this full key (inclusive), in the direction of the scan. */
  readonly from?: Key;
  readonly reverse?: boolean;
}

export interface RangeReader<R extends Stamps> {
  scan(options?: ScanOptions): IterableIterator<R>;
  /**
   * The greatest of the touches of the rows in the range and of the last delete in it; 0 when
   * nothing was ever there.
   */
  lastIndex(range?: KeyRange): number;
}

export interface TableReader<R extends Stamps, I extends string> extends RangeReader<R> {
  get(...key: Key): R | undefined;
  has(...key: Key): boolean;
  /** The rows in the order of a secondary index. Its full keys end with the primary key. */
  by(index: I): RangeReader<R>;
  readonly size: number;
}

/** A consistent view that never changes, however long it is kept. */
export interface Snapshot {
  /** Committed transactions so far. */
  readonly index: number;
  table<R extends Stamps, I extends string>(definition: TableDefinition<R, I>): TableReader<R, I>;
}

export interface TableWriter<R extends Stamps, I extends string> extends TableReader<R, I> {
  /** Inserts or replaces by key. Stamps the row; keeps an existing `CreateIndex`. */
  put(row: Unstamped<R>): R;
  /** `true` when there was such a row. */
  delete(...key: Key): boolean;
}

/** A writable view of the speculative head. Valid only while its function runs. */
export interface Transaction extends Omit<Snapshot, 'table'> {
  /** The index this transaction gets if it changes anything. */
  readonly index: number;
  table<R extends Stamps, I extends string>(definition: TableDefinition<R, I>): TableWriter<R, I>;
}

export interface Written<T> {
  /** Index of the transaction; when it changed nothing, of the newest state that it saw. */
  readonly index: number;
  readonly value: T;
}

/** One row's change in a durable commit. */
export interface Change<R extends Stamps = Stamps> {
  readonly table: string;
  readonly before: R | undefined;
  readonly after: R | undefined;
}

/** What was read: keys and ranges. Gathered by a tracked snapshot, awaited by `State.watch`. */
export interface Footprint {
  /** The result's own index: the greatest over all that was read, never below 1. */
  readonly index: number;
}

/** A one-shot watch. `cancel` is idempotent. */
export interface Watch {
  cancel(): void;
}

/** A time during which one process, and no other, may write. */
export interface Term {
  /** Grows from each term to the next. */
  readonly epoch: number;
}

export interface State {
  /** The newest durable view. */
  read(): Snapshot;
  /**
   * The speculative head: what the next transaction will see. For deciders on the leader, whose
   * decisions are worth nothing unless they are committed after all that they saw. Where nothing
   * can be written it is the durable view.
   */
  head(): Snapshot;
  /** The term in which this process leads; `undefined` while it follows. */
  readonly leading: Term | undefined;
  /**
   * Calls `listen` when a term of this process begins, and with `undefined` when it ends: transactions
   * of the term that are not durable are void then. Returns the way out.
   */
  onLeadership(listen: (term: Term | undefined) => void): () => void;
  /**
   * Resolves when the view shows all that was durable, anywhere, when this was called. `undefined`
   * where it always does: this process alone holds the log. Rejects while the log cannot be asked.
   */
  exact(): Promise<void> | undefined;
  /** The newest durable view, noting what is read through it. */
  track(): { readonly snapshot: Snapshot; readonly footprint: Footprint };
  /**
   * Runs a synchronous function over the speculative head. Resolves when what it wrote, and all
   * that it could have read, is durable. What the function throws leaves no trace and rejects.
   * Rejects with `WritesClosed` once an append has failed, with `NotLeading`, without running it,
   * while this process follows, and with `OutcomeUnknown` when nobody knows what became of it.
   */
  write<T>(run: (transaction: Transaction) => T): Promise<Written<T>>;
  /**
   * Calls `wake` once, as soon as something in the footprint changes after the snapshot the
   * footprint was taken from (at once if it already has), or when the store is replaced.
   */
  watch(footprint: Footprint, wake: () => void): Watch;
  /** Calls `listen` after each durable commit with its changes, in order. Returns the way out. */
  onCommit(listen: (changes: readonly Change[], index: number) => void): () => void;
  /**
   * Calls `listen` right after each transaction ran on the head, whether it is durable or not, in
   * order and with none left out; those of other processes when they are durable. For who follows
   * the head, which begins anew with each term; it may not write. Returns the way out.
   */
  onRan(listen: (changes: readonly Change[], index: number) => void): () => void;
  /** Why writes are closed, or `undefined` while they are open. */
  readonly closed: Error | undefined;
  close(): Promise<void>;
}
