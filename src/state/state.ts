import type { Timers } from '../base/ports.ts';
import { noBatch } from './batch-hash.ts';
import { CommitQueue, type Waiter } from './commit-queue.ts';
import type { Batch, Engine, EngineEvent, Leadership } from './engine/engine.ts';
import { NotLeading, WritesClosed } from './errors.ts';
import { ReadSet, TrackedSnapshot } from './footprint.ts';
import { deepFreeze } from './freeze.ts';
import { Head } from './head.ts';
import { type StateLimits, stateLimits } from './limits.ts';
import { LogEnd } from './log-end.ts';
import { Replica } from './replica.ts';
import type { RowChange, Transacted } from './row-change.ts';
import { Snapshots, type StoredBytes } from './snapshots.ts';
import type { AnyDefinition } from './table.ts';
import type {
  Change,
  Footprint,
  Snapshot,
  State,
  Term,
  Transaction,
  Watch,
  Written,
} from './types.ts';
import { emptyTables } from './view.ts';
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
  const replica = new Replica(tables, limits.marksPerIndex, freeze ? deepFreeze : (row) => row);
  try {
    const stored = await loadAll(engine, replica);
    const report = options.report ?? (() => {});
    const snapshots = new Snapshots(engine, options.timers, limits, stored, report);
    return new Store(engine, replica, snapshots, { limits, freeze, report });
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function loadAll(engine: Engine, replica: Replica): Promise<StoredBytes> {
  let snapshot = 0;
  let log = 0;
  for await (const loaded of engine.load()) {
    if (loaded.kind === 'snapshot-part') {
      snapshot += loaded.bytes.byteLength;
      replica.loadSnapshotPart(loaded.bytes);
    } else {
      log += loaded.batch.bytes.byteLength;
      replica.loadBatch(loaded.batch);
    }
  }
  replica.endLoading();
  return { snapshot, log };
}

type Listener = (changes: readonly Change[], index: number) => void;
type TermListener = (term: Term | undefined) => void;

/** A term of leadership under way, with its head and its queue. */
interface Leading {
  readonly term: Term;
  readonly head: Head;
  readonly queue: CommitQueue;
}

interface StoreOptions {
  readonly limits: StateLimits;
  readonly freeze: boolean;
  readonly report: (error: unknown) => void;
}

/**
 * Invariants (those of the parts stand in their files)
 *  S1. Readers see only what is durable; what a reader once saw stays.
 *  S2. For each durable batch, of this process or another: the view moves first, then listeners hear
 *      of each of its transactions in order, then its writers resolve, then the watches that it
 *      concerns wake.
 *  S3. Once an append failed no write of the term is taken; reads and watches go on over the last view.
 *  S4. Head and queue live as long as a term. With it ends what is not durable; a write that comes
 *      while there is no term does not run.
 *  S5. After the end of a term nothing else of the log is taken in until its last append has settled.
 */
class Store implements State {
  readonly #engine: Engine;
  readonly #replica: Replica;
  readonly #options: StoreOptions;
  readonly #snapshots: Snapshots;
  readonly #watches = new Watches();
  readonly #listeners = new Set<Listener>();
  readonly #followers = new Set<Listener>();
  readonly #termListeners = new Set<TermListener>();
  readonly #unsubscribe: () => void;
  readonly #end: LogEnd | undefined;
  #leading: Leading | undefined;
  /** What the engine told while the last append of a term that is over has not settled. */
  #held: EngineEvent[] | undefined;
  #closed: WritesClosed | undefined;
  #closing: Promise<void> | undefined;

  constructor(engine: Engine, replica: Replica, snapshots: Snapshots, options: StoreOptions) {
    this.#engine = engine;
    this.#replica = replica;
    this.#options = options;
    this.#snapshots = snapshots;
    this.#end = engine.end && new LogEnd(() => engine.end!(), replica.index);
    if (engine.leadership.leader) this.#begin(engine.leadership);
    this.#unsubscribe = engine.subscribe((event) => this.#onEvent(event));
  }

  get closed(): Error | undefined {
    const closed = this.#leading?.queue.closed;
    return this.#closed ?? (closed instanceof WritesClosed ? closed : undefined);
  }

  get leading(): Term | undefined {
    return this.#leading?.term;
  }

  read(): Snapshot {
    return this.#replica.view;
  }

  head(): Snapshot {
    const leading = this.#leading;
    return leading?.queue.closed === undefined && leading
      ? leading.head.view()
      : this.#replica.view;
  }

  exact(): Promise<void> | undefined {
    return this.#end?.reached();
  }

  track(): { readonly snapshot: Snapshot; readonly footprint: Footprint } {
    const { view } = this.#replica;
    const footprint = new ReadSet(view.index, this.#options.limits.rangesPerIndex);
    return { snapshot: new TrackedSnapshot(view, footprint), footprint };
  }

  write<T>(run: (transaction: Transaction) => T): Promise<Written<T>> {
    const leading = this.#leading;
    if (leading === undefined) return Promise.reject(this.#closed ?? new NotLeading());
    const { head, queue } = leading;
    const { refusal } = queue;
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, fail) => {
      let settle: () => void;
      try {
        const { value, ran } = head.run(run);
        const { index } = head;
        settle = () => resolve({ index, value });
        if (ran !== undefined) tell(this.#followers, ran.changes, index);
        if (ran !== undefined) return queue.add(ran, { settle, fail });
      } catch (error) {
        // It may have thrown over something that never becomes durable: then that is the answer.
        settle = () => fail(error);
      }
      queue.observe({ settle, fail });
    });
  }

  watch(footprint: Footprint, wake: () => void): Watch {
    return this.#watches.park(footprint as ReadSet, this.#replica.view, wake);
  }

  onCommit(listen: Listener): () => void {
    return added(this.#listeners, listen);
  }

  onRan(listen: Listener): () => void {
    return added(this.#followers, listen);
  }

  onLeadership(listen: TermListener): () => void {
    const listener: TermListener = (term) => listen(term);
    this.#termListeners.add(listener);
    return () => this.#termListeners.delete(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#closed ??= new WritesClosed('the state was closed');
    await this.#leading?.queue.close(this.#closed);
    this.#unsubscribe();
    this.#end?.stop(this.#closed);
    await this.#snapshots.stop();
    await this.#engine.close();
    wakeAll(this.#watches.all());
  }

  /** The term of this process begins: it goes on from what is durable. */
  #begin({ epoch }: Leadership): void {
    const { limits, freeze } = this.#options;
    const head = new Head(this.#replica.view, limits, freeze);
    // A process that holds the log alone keeps no hashes.
    const hash = this.#end && (this.#replica.hash ?? noBatch);
    const queue = new CommitQueue(
      { engine: this.#engine, epoch, head, limits, hash },
      {
        committed: ({ view, transactions, waiters, bytes, hash }) => {
          this.#replica.adopt(view, hash);
          this.#publish(transactions, waiters);
          this.#snapshots.grew(bytes, { view, hash, epoch });
        },
        superseded: () => {
          if (this.#leading?.queue === queue) this.#endTerm();
        },
      },
    );
    this.#leading = { term: { epoch }, head, queue };
    this.#tellTerm();
  }

  #endTerm(): void {
    const leading = this.#leading;
    if (leading === undefined) return;
    this.#leading = undefined;
    const held: EngineEvent[] = [];
    this.#held = held;
    const settled = leading.queue.end(new NotLeading());
    this.#tellTerm();
    void settled.then(() => {
      this.#held = undefined;
      for (const event of held) this.#onEvent(event);
    });
  }

  #tellTerm(): void {
    const { leading } = this;
    for (const listen of [...this.#termListeners]) guarded(() => listen(leading));
  }

  #publish(transactions: readonly Transacted[], waiters: readonly Waiter[]): void {
    for (const { changes, index } of transactions) tell(this.#listeners, changes, index);
    for (const waiter of waiters) waiter.settle();
    const concerned: Parked[] = [];
    for (const { steps } of transactions) this.#watches.concerned(steps, concerned);
    wakeAll(concerned);
    this.#end?.applied(this.#replica.index);
  }

  #onEvent(event: EngineEvent): void {
    if (event.kind === 'failed') this.#closeWrites(event.error);
    else if (this.#held !== undefined) this.#held.push(event);
    else if (event.kind === 'batch') this.#apply(event.batch);
    else this.#followTerm(event);
  }

  #followTerm(event: EngineEvent & { readonly kind: 'leadership' }): void {
    this.#endTerm();
    if (!event.leadership.leader) return;
    if (this.#held === undefined) this.#begin(event.leadership);
    else this.#held.push(event);
  }

  /** Takes in what another process appended. */
  #apply(batch: Batch): void {
    if (this.#closed !== undefined) return;
    const bytes = batch.bytes.byteLength;
    try {
      const transactions = this.#replica.apply(batch);
      for (const { changes, index } of transactions) tell(this.#followers, changes, index);
      this.#publish(transactions, []);
      this.#snapshots.followed(bytes);
    } catch (error) {
      this.#options.report(error);
      this.#closeWrites(error as Error);
    }
  }

  #closeWrites(error: Error): void {
    this.#closed ??= new WritesClosed(error.message, error);
    this.#leading?.queue.fail(this.#closed);
    this.#end?.stop(this.#closed);
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
  changes: readonly RowChange[],
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
