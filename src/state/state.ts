import type { Timers } from '../base/ports.ts';
import { Loader } from './codec.ts';
import { CommitQueue, type Committed } from './commit-queue.ts';
import type { Engine, EngineEvent } from './engine/engine.ts';
import { Fenced, WritesClosed } from './errors.ts';
import { ReadSet, TrackedSnapshot } from './footprint.ts';
import { deepFreeze } from './freeze.ts';
import { Head } from './head.ts';
import { type StateLimits, stateLimits } from './limits.ts';
import { Snapshots, type StoredBytes } from './snapshots.ts';
import type { AnyDefinition } from './table.ts';
import type { Change, Footprint, Snapshot, State, Transaction, Watch, Written } from './types.ts';
import { emptyTables, type View } from './view.ts';
import { guarded, type Parked, Watches, wakeAll } from './watches.ts';

export interface StateOptions {
  /** Every table there is. What is stored may hold no other. */
  readonly tables: readonly AnyDefinition[];
  readonly engine: Engine;
  readonly timers: Timers;
  /** Freeze every row and assert that it is plain data. For tests and development. */
  readonly freeze?: boolean;
  readonly limits?: Partial<StateLimits>;
  /** Told of what went wrong but harms nothing now, such as a snapshot that failed. */
  readonly report?: (error: unknown) => void;
}

/**
 * Opens the state on its engine and loads what is stored. Rejects with a `StateError`
 * (`errors.ts`) that says what is wrong with the store; the engine is closed then.
 */
export async function openState(options: StateOptions): Promise<State> {
  const { engine, freeze = false } = options;
  const limits = { ...stateLimits, ...options.limits };
  const tables = emptyTables(options.tables);
  const loader = new Loader(tables, limits.marksPerIndex, freeze ? deepFreeze : (row) => row);
  try {
    const stored = await loadAll(engine, loader);
    const head = new Head(loader.index, tables, limits, freeze);
    const report = options.report ?? (() => {});
    const snapshots = new Snapshots(engine, options.timers, limits, stored, report);
    return new Store(engine, head, limits, snapshots);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function loadAll(engine: Engine, loader: Loader): Promise<StoredBytes> {
  let snapshot = 0;
  let log = 0;
  for await (const loaded of engine.load()) {
    if (loaded.kind === 'snapshot-part') {
      snapshot += loaded.bytes.byteLength;
      loader.snapshotPart(loaded.bytes);
    } else {
      log += loaded.batch.bytes.byteLength;
      loader.batch(loaded.batch.bytes);
    }
  }
  loader.end();
  return { snapshot, log };
}

type Listener = (changes: readonly Change[], index: number) => void;

/**
 * Invariants (those of the parts stand in their files)
 *  S1. Readers see only what is durable; what a reader once saw stays.
 *  S2. For each durable batch: the view moves first, then listeners hear of each of its
 *      transactions in order, then its writers resolve, then the watches that it concerns wake.
 *  S3. Once an append failed no write is taken; reads and watches go on over the last view.
 */
class Store implements State {
  readonly #engine: Engine;
  readonly #head: Head;
  readonly #limits: StateLimits;
  readonly #queue: CommitQueue;
  readonly #snapshots: Snapshots;
  readonly #watches = new Watches();
  readonly #listeners = new Set<Listener>();
  readonly #followers = new Set<Listener>();
  readonly #unsubscribe: () => void;
  #view: View;
  #closing: Promise<void> | undefined;

  constructor(engine: Engine, head: Head, limits: StateLimits, snapshots: Snapshots) {
    this.#engine = engine;
    this.#head = head;
    this.#limits = limits;
    this.#snapshots = snapshots;
    this.#view = head.view();
    this.#queue = new CommitQueue(engine, head, limits, (committed) => this.#publish(committed));
    this.#unsubscribe = engine.subscribe((event) => this.#onEvent(event));
  }

  get closed(): Error | undefined {
    return this.#queue.closed;
  }

  read(): Snapshot {
    return this.#view;
  }

  head(): Snapshot {
    return this.#head.view();
  }

  track(): { readonly snapshot: Snapshot; readonly footprint: Footprint } {
    const footprint = new ReadSet(this.#view.index, this.#limits.rangesPerIndex);
    return { snapshot: new TrackedSnapshot(this.#view, footprint), footprint };
  }

  write<T>(run: (transaction: Transaction) => T): Promise<Written<T>> {
    const refusal = this.#queue.refusal;
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, fail) => {
      let settle: () => void;
      try {
        const { value, ran } = this.#head.run(run);
        const index = this.#head.index;
        settle = () => resolve({ index, value });
        if (ran !== undefined) tell(this.#followers, ran.changes, index);
        if (ran !== undefined) return this.#queue.add(ran, { settle, fail });
      } catch (error) {
        // It may have thrown over something that never becomes durable: then that is the answer.
        settle = () => fail(error);
      }
      this.#queue.observe({ settle, fail });
    });
  }

  watch(footprint: Footprint, wake: () => void): Watch {
    return this.#watches.park(footprint as ReadSet, this.#view, wake);
  }

  onCommit(listen: Listener): () => void {
    return added(this.#listeners, listen);
  }

  onRan(listen: Listener): () => void {
    return added(this.#followers, listen);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#queue.close(new WritesClosed('the state was closed'));
    this.#unsubscribe();
    await this.#snapshots.stop();
    await this.#engine.close();
    wakeAll(this.#watches.all());
  }

  #publish({ view, transactions, waiters, bytes }: Committed): void {
    this.#view = view;
    for (const { changes, index } of transactions) tell(this.#listeners, changes, index);
    for (const waiter of waiters) waiter.settle();
    const concerned: Parked[] = [];
    for (const { steps } of transactions) this.#watches.concerned(steps, concerned);
    wakeAll(concerned);
    this.#snapshots.grew(bytes, view);
  }

  #onEvent(event: EngineEvent): void {
    if (event.kind === 'failed') {
      this.#queue.fail(new WritesClosed(event.error.message, event.error));
    } else if (!event.leadership.leader) {
      const fenced = new Fenced('another leader has taken over');
      this.#queue.fail(new WritesClosed(fenced.message, fenced));
    }
  }
}

function added(listeners: Set<Listener>, listen: Listener): () => void {
  // A function of its own, so that listening twice with one function is two listeners.
  const listener: Listener = (changes, index) => listen(changes, index);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

function tell(
  listeners: ReadonlySet<Listener>,
  changes: Committed['transactions'][number]['changes'],
  index: number,
): void {
  if (listeners.size === 0) return;
  const told = changes.map(({ table, before, after }) => ({
    table: table.definition.name,
    before,
    after,
  }));
  for (const listen of [...listeners]) guarded(() => listen(told, index));
}
