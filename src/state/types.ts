/**
 * The shape of the state: rows in typed tables with ordered keys, read through snapshots and
 * written by transactions. See `DESIGN.md` beside this file.
 */

import type { Clock } from '../base/ports.ts';
import type { Steps } from '../base/steps.ts';
import type { StateFigures } from './figures.ts';

/** The stamps of every record. Only a transaction sets them. */
export interface Stamps {
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** A row before the transaction stamps it. Its own stamps are ignored. */
export type Unstamped<R extends Stamps> = Omit<R, keyof Stamps> & Partial<Stamps>;

/** Key parts, the most significant part first. No part holds a NUL character. */
export type Key = readonly string[];

export interface IndexDefinition<R extends Stamps> {
  /** The parts before the primary key; `undefined` for a row that is not in this index. */
  readonly key: (row: R) => Key | undefined;
  /**
   * The index of the last change of the row that counts for this index. Default: its `ModifyIndex`.
   * A write that changes neither key nor touch does not move `lastIndex` and wakes no watch.
   */
  readonly touch?: (row: R) => number;
  /** Like `scopeParts` of the table. */
  readonly scopeParts?: number;
  /** The index has the keys of the index before it, so that the two hold them once. */
  readonly sharesKeys?: true;
  /** Of a table whose rows are alike: the index has every row, and a snapshot has them in its order. */
  readonly alike?: true;
}

/** A table. The key of a namespaced noun starts with its partition and namespace. */
export interface TableDefinition<R extends Stamps = Stamps, I extends string = string> {
  readonly name: string;
  /** Version of the row's durable form; rises with each incompatible change. */
  readonly version: number;
  readonly key: (row: R) => Key;
  /** Number of leading parts in the ranges of lists. The `lastIndex` of these ranges is kept. Default: 0. */
  readonly scopeParts?: number;
  /** A new row keeps the `CreateIndex` that it is put with, which is that of the record it belongs to. */
  readonly keepsCreateIndex?: true;
  readonly indexes: Readonly<Record<I, IndexDefinition<R>>>;
  /** Fields whose objects many rows share by identity: each is written once (`shared-values.ts`). */
  readonly shared?: readonly (keyof R & string)[];
  /** Rows are written as differences from each other (`alike-rows.ts`). */
  readonly alike?: true;
  /** A snapshot leaves the table out as long as nothing was ever in it. */
  readonly isOmittedUnused?: true;
  /** Lifts a durable row of an older version to the current one. */
  readonly upcast?: (row: unknown, version: number) => R;
  /**
   * Gives a row the form of an older version, for servers that read no newer one. The key and the objects of
   * shared fields stay. Needed from the second version on that servers of one cluster may meet.
   */
  readonly downcast?: (row: R, version: number) => unknown;
}

/** A contiguous range: all keys that start with `prefix`, followed by `text`. */
export interface KeyRange {
  /** Whole leading parts. Default: none, which is the whole table. */
  readonly prefix?: Key;
  /** Beginning of the part after `prefix`. */
  readonly text?: string;
}

export interface ScanOptions extends KeyRange {
  /** The full key at which the scan starts, inclusive, in its direction. */
  readonly from?: Key;
  readonly reverse?: boolean;
}

export interface RangeReader<R extends Stamps> {
  scan(options?: ScanOptions): IterableIterator<R>;
  /** The first row in the range that matches: by default, the first row. `matches` must change no table. */
  find(range: KeyRange, matches?: (row: R) => boolean): R | undefined;
  /**
   * The index of the last change in the range: the greatest touch of its rows, or its last delete if
   * that came later. 0 if the range was always empty.
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
  /** Number of committed transactions. */
  readonly index: number;
  table<R extends Stamps, I extends string>(definition: TableDefinition<R, I>): TableReader<R, I>;
}

export interface TableWriter<R extends Stamps, I extends string> extends TableReader<R, I> {
  /** Inserts or replaces the row of that key, and stamps it. An existing row's `CreateIndex` stays. */
  put(row: Unstamped<R>): R;
  /** Returns whether there was such a row. */
  delete(...key: Key): boolean;
}

/** A writable view of the speculative head, valid only while its function runs. */
export interface Transaction extends Omit<Snapshot, 'table'> {
  /** The index of this transaction, if it changes anything. */
  readonly index: number;
  /** Whether it has changed something so far. */
  readonly hasChanged: boolean;
  table<R extends Stamps, I extends string>(definition: TableDefinition<R, I>): TableWriter<R, I>;
}

/** A transaction that ran, and waits to be sent to the log. */
export interface Begun<T> {
  /** `undefined`: the function threw, and `durable` rejects with its error. */
  readonly written: Written<T> | undefined;
  /** Resolves when what it wrote, and all that it could have read, is durable. */
  readonly durable: Promise<void>;
  /** Lets it, and all that ran after it, be sent. */
  release(): void;
}

export interface WriteOptions {
  /**
   * Nobody waits for it: while others write, it may become durable with the next transaction of theirs, at most
   * `limits.state.lingerMs` later than alone.
   */
  readonly lingers?: boolean;
  /**
   * The transaction is work of a loop of the term, whose result no caller is told. If the transaction changes nothing, the
   * log is not asked whether the term is over.
   */
  readonly isOfTerm?: boolean;
}

export interface Written<T> {
  /** Index of the transaction, or of the newest state that it saw if it changed nothing. */
  readonly index: number;
  readonly value: T;
}

/** The change of a row by a transaction. */
export interface Change<R extends Stamps = Stamps> {
  readonly table: string;
  readonly before: R | undefined;
  readonly after: R | undefined;
}

/** The keys and ranges read through a tracked snapshot, for `State.watch`. */
export interface Footprint {
  /** The index of the result: the greatest index of the keys and ranges, at least 1. */
  readonly index: number;
}

/** A watch that wakes once. `cancel` may be called again. */
export interface Watch {
  cancel(): void;
}

/** A time in which only this process may write. */
export interface Term {
  /** Grows from each term to the next. */
  readonly epoch: number;
}

export interface TimedClock extends Clock {
  /** Time of the newest batch that this process shows; 0: there is none. */
  readonly batchMs: number;
}

/** A view as it is saved outside the store: the rows of all tables. */
export interface SavedState {
  readonly index: number;
  /** Every table in the order of its rows, with their number. */
  readonly tables: readonly {
    readonly name: string;
    readonly version: number;
    readonly rows: number;
  }[];
  /**
   * JSON of the rows: `{"Table", "Version", "Rows"}`, in texts of about `bytes`; `undefined` wherever
   * others may get their turn.
   */
  texts(bytes: number): Iterable<Uint8Array | undefined>;
}

/** The rows of a snapshot on their way into the state. Nothing of the state changes with it. */
export interface StateDraft {
  /** Takes rows, in the form of `SavedState.texts`. @throws StateCorrupted, StateFormatUnknown */
  add(text: Uint8Array<ArrayBuffer>): void;
  /** Puts the rows in order, when all are there. */
  settle(): Steps<void>;
  /** The number of rows in each table. */
  counts(): SavedState['tables'];
  /** The rows, for checks. */
  rows(): Snapshot;
}

/** A restore of the state. */
export interface Restoring<T> {
  readonly draft: StateDraft;
  /** The file that the rows of the draft came from, which the log keeps. */
  readonly file: readonly Uint8Array[];
  /** The restore gets an index above this one, and above all indexes of the log. */
  readonly above: number;
  /**
   * Runs on the restored rows, as part of the restore; it has to change something. `before`: the state
   * that is replaced. If it throws, nothing is restored.
   */
  readonly run: (transaction: Transaction, before: Snapshot) => T;
}

/** Transactions that run on a copy of the head, and of which nothing is kept. */
export interface Rehearsal {
  /** The head at its beginning. */
  readonly before: Snapshot;
  /** The copy as it is now. */
  now(): Snapshot;
  /** Runs a transaction on the copy. If it throws, its changes are undone. */
  run<T>(transaction: (transaction: Transaction) => T): Rehearsed<T>;
}

export interface Rehearsed<T> extends Written<T> {
  readonly changes: readonly Change[];
}

export interface State {
  /**
   * The clock of transactions (`clock.ts`); `undefined` where this process alone holds the log, and its own
   * clock serves.
   */
  readonly clock: TimedClock | undefined;
  /** The newest durable view. */
  read(): Snapshot;
  /** The newest durable view, to be saved outside the store. */
  saved(): SavedState;
  /**
   * The speculative head, which the next transaction will see. For deciders on the leader: a decision is
   * committed after everything that it saw, or never. Where writes are closed it is the durable view.
   */
  head(): Snapshot;
  /**
   * Looks at the {@link head} as it is now. Its rows are valid for the call only, and it costs nothing: after a view
   * of the head, each change of the next transactions copies the path to its row.
   */
  peek<T>(look: (now: Snapshot) => T): T;
  /** Begins a rehearsal on the speculative head. */
  rehearse(): Rehearsal;
  /** The term in which this process leads; `undefined` while it follows. */
  readonly leading: Term | undefined;
  /**
   * Calls `listen` when a term of this process begins, and with `undefined` when it ends, which voids
   * the transactions of the term that are not durable. Returns a function that unsubscribes.
   */
  onLeadership(listen: (term: Term | undefined) => void): () => void;
  /**
   * Resolves when the view shows every transaction that was durable in any process at the call.
   * `undefined` where this process alone holds the log: there the view always does. Rejects while the
   * log cannot be asked.
   */
  exact(): Promise<void> | undefined;
  /** The newest durable view, and the footprint that its readers leave. */
  track(): { readonly snapshot: Snapshot; readonly footprint: Footprint };
  /**
   * Runs a synchronous function on the speculative head. Resolves when its changes, and all that it
   * could have read, are durable. If it changed nothing, resolves once the log has shown that this process still led,
   * where other processes hold the log as well. If the function throws, its changes are undone and the promise
   * rejects with the error. Rejects with `WritesClosed` after an append has failed, with `NotLeading` while this
   * process follows, or if nothing was stored since the term is over or may be, and with `OutcomeUnknown` if the log
   * did not answer.
   */
  write<T>(run: (transaction: Transaction) => T, options?: WriteOptions): Promise<Written<T>>;
  /**
   * As `write`, but tells the value at once, and sends nothing to the log until `release`, which the caller
   * calls in the same turn. So a transaction that follows from the value can go in the same batch.
   * @throws WritesClosed, NotLeading, WriteQueueFull: it was not run
   */
  begin<T>(run: (transaction: Transaction) => T): Begun<T>;
  /**
   * Calls `wake` once, as soon as a key or range of the footprint has changed since its snapshot, or
   * when the state closes.
   */
  watch(footprint: Footprint, wake: () => void): Watch;
  /** Tables for the rows of a snapshot that is to be restored. */
  draft(): StateDraft;
  /**
   * Replaces the whole state, as a single entry of the log. The term ends before, and another one begins
   * after it. Resolves when it is durable. Rejects as `write` does; then nothing was restored, or nobody
   * knows (`OutcomeUnknown`).
   */
  restore<T>(restoring: Restoring<T>): Promise<Written<T>>;
  /**
   * Calls `listen` when the state was replaced as a whole, right after the view has moved and before the next
   * term: by a restore of this process or another, or by a snapshot in place of batches that this process missed. Returns a function that unsubscribes.
   */
  onReplaced(listen: (index: number) => void): () => void;
  /** Calls `listen` with the changes of each durable transaction, in order. Returns a function that unsubscribes. */
  onCommit(listen: (changes: readonly Change[], index: number) => void): () => void;
  /**
   * Calls `listen` with the changes of each transaction as soon as it has run on the head, in order and
   * without a gap, and with its durable form (`codec.ts`). A transaction of another process is heard when it is
   * durable, without that form. Followers of the head begin anew with each term. `listen` must not write. Returns a
   * function that unsubscribes.
   */
  onRan(listen: (changes: readonly Change[], index: number, text?: string) => void): () => void;
  /** Why writes are closed, or `undefined` while they are open. */
  readonly closed: Error | undefined;
  /**
   * Ends the term of this process, if another process may lead. Resolves when it has ended. A process that steps
   * down for good, since it ends, does not lead again.
   * @param successor the `candidate` of the process that should lead; the others lead only if it fails to
   */
  stepDown(isForGood?: boolean, successor?: string): Promise<void>;
  /** The name of this process for a leader that steps down; `undefined`: it cannot succeed it at once. */
  readonly candidate: string | undefined;
  readonly figures: StateFigures;
  /** Whether the store is too full for new work. Other writes go on. */
  readonly isFull: boolean;
  close(): Promise<void>;
}
