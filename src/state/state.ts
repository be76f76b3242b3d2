import type { Timers } from '../base/ports.ts';
import { unhurriedPause } from '../base/slices.ts';
import { noBatch } from './batch-hash.ts';
import type { Bytes } from './codec.ts';
import { CommitQueue, type Waiter } from './commit-queue.ts';
import { differences } from './differences.ts';
import type { Batch, Engine, EngineEvent, Leadership } from './engine/engine.ts';
import { NotLeading, WritesClosed } from './errors.ts';
import { ReadSet, TrackedSnapshot } from './footprint.ts';
import { deepFreeze } from './freeze.ts';
import { Head, type Ran } from './head.ts';
import { type StateLimits, stateLimits } from './limits.ts';
import { LogEnd } from './log-end.ts';
import { Replica } from './replica.ts';
import type { RowChange, Transacted } from './row-change.ts';
import { Snapshots, type StoredBytes } from './snapshots.ts';
import type { AnyDefinition } from './table.ts';
import type {
  Begun,
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
  /** All tables. A store that holds another table is refused. */
  readonly tables: readonly AnyDefinition[];
  readonly engine: Engine;
  readonly timers: Timers;
  /** Freeze every row and assert that it is plain data. For tests and development. */
  readonly freeze?: boolean;
  readonly limits?: Partial<StateLimits>;
  /** Takes the errors that no caller gets, such as that of a failed snapshot. */
  readonly report?: (error: unknown) => void;
}

/**
 * Loads the state from its engine. Closes the engine and rejects with a `StateError` (`errors.ts`)
 * if the store cannot be used.
 */
export async function openState(options: StateOptions): Promise<State> {
  const { engine, freeze = false } = options;
  const limits = { ...stateLimits, ...options.limits };
  const ready = freeze ? deepFreeze : <R>(row: R) => row;
  const newReplica = () => new Replica(emptyTables(options.tables), limits.marksPerIndex, ready);
  const replica = newReplica();
  try {
    const stored = await loadAll(engine, replica);
    const report = options.report ?? (() => {});
    const { timers } = options;
    const snapshots = new Snapshots({ engine, timers, limits, report }, stored);
    return new Store(engine, replica, snapshots, { limits, freeze, report, timers, newReplica });
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

/** The term in which this process leads, with its head and its commit queue. */
interface Leading {
  readonly term: Term;
  readonly head: Head;
  readonly queue: CommitQueue;
}

interface StoreOptions {
  readonly limits: StateLimits;
  readonly freeze: boolean;
  readonly timers: Timers;
  readonly report: (error: unknown) => void;
  /** An empty one. */
  readonly newReplica: () => Replica;
}

/**
 * Invariants (the files of its parts have their own)
 *  S1. Readers see durable transactions only, so nothing that a reader has seen is taken back.
 *  S2. Each durable batch, of this process or another, first moves the view. Then listeners hear of
 *      its transactions in order, then its writers resolve, then the watches of its changes wake.
 *  S3. After a failed append the term takes no write. Reads and watches go on over the last view.
 *  S4. Head and commit queue live for one term. Its end discards the transactions that are not
 *      durable. Without a term no write runs.
 *  S5. When a term ends, batches and terms that follow it wait until its last append has settled.
 *  S6. A snapshot in place of batches is a single commit to listeners: all rows that differ. Every watch
 *      wakes.
 */
class Store implements State {
  readonly #engine: Engine;
  #replica: Replica;
  readonly #options: StoreOptions;
  readonly #snapshots: Snapshots;
  readonly #watches = new Watches();
  readonly #listeners = new Set<Listener>();
  readonly #followers = new Set<Listener>();
  readonly #termListeners = new Set<TermListener>();
  readonly #unsubscribe: () => void;
  readonly #logEnd: LogEnd | undefined;
  #leading: Leading | undefined;
  /** Events that wait for the last append of the term that ended (S5), or for a snapshot (S6). */
  #held: EngineEvent[] | undefined;
  #closed: WritesClosed | undefined;
  #closing: Promise<void> | undefined;

  constructor(engine: Engine, replica: Replica, snapshots: Snapshots, options: StoreOptions) {
    this.#engine = engine;
    this.#replica = replica;
    this.#options = options;
    this.#snapshots = snapshots;
    this.#logEnd = engine.end && new LogEnd(() => engine.end!(), replica.index);
    if (engine.leadership.leader) this.#beginTerm(engine.leadership);
    this.#unsubscribe = engine.subscribe((event) => this.#onEvent(event));
  }

  get isFull(): boolean {
    return this.#engine.isFull === true;
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
    return this.#logEnd?.reached();
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
        if (ran !== undefined) tellListeners(this.#followers, ran.changes, index);
        if (ran !== undefined) return queue.add(ran, { settle, fail });
      } catch (error) {
        // The error may rest on transactions that never become durable: then their failure is the answer.
        settle = () => fail(error);
      }
      queue.observe({ settle, fail });
    });
  }

  begin<T>(run: (transaction: Transaction) => T): Begun<T> {
    const leading = this.#leading;
    if (leading === undefined) throw this.#closed ?? new NotLeading();
    const { head, queue } = leading;
    if (queue.refusal !== undefined) throw queue.refusal;
    const { promise: durable, resolve: settle, reject: fail } = Promise.withResolvers<void>();
    const release = () => {};
    let result: { readonly value: T; readonly ran: Ran | undefined };
    try {
      result = head.run(run);
    } catch (error) {
      queue.observe({ settle: () => fail(error), fail });
      return { written: undefined, durable, release };
    }
    const { value, ran } = result;
    const written = { index: head.index, value };
    if (ran === undefined) {
      queue.observe({ settle, fail });
      return { written, durable, release };
    }
    tellListeners(this.#followers, ran.changes, head.index);
    const held = { written, durable, release: queue.hold() };
    queue.add(ran, { settle, fail });
    return held;
  }

  watch(footprint: Footprint, wake: () => void): Watch {
    return this.#watches.park(footprint as ReadSet, this.#replica.view, wake);
  }

  onCommit(listen: Listener): () => void {
    return addListener(this.#listeners, listen);
  }

  onRan(listen: Listener): () => void {
    return addListener(this.#followers, listen);
  }

  onLeadership(listen: TermListener): () => void {
    return addListener(this.#termListeners, listen);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#closed ??= new WritesClosed('the state was closed');
    await this.#leading?.queue.close(this.#closed);
    this.#unsubscribe();
    this.#logEnd?.stop(this.#closed);
    await this.#snapshots.stop();
    await this.#engine.close();
    wakeAll(this.#watches.all());
  }

  /** Begins a term of this process on the durable view. */
  #beginTerm({ epoch }: Leadership): void {
    const { limits, freeze } = this.#options;
    const head = new Head(this.#replica.view, limits, freeze);
    // A process that holds the log alone keeps no hashes.
    const hash = this.#logEnd && (this.#replica.hash ?? noBatch);
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
    void settled.then(() => this.#release(held));
  }

  #release(held: readonly EngineEvent[]): void {
    this.#held = undefined;
    for (const event of held) this.#onEvent(event);
  }

  #tellTerm(): void {
    const { leading } = this;
    for (const listen of [...this.#termListeners]) guarded(() => listen(leading));
  }

  #publish(transactions: readonly Transacted[], waiters: readonly Waiter[]): void {
    for (const { changes, index } of transactions) {
      tellListeners(this.#listeners, changes, index);
    }
    for (const waiter of waiters) waiter.settle();
    const concerned: Parked[] = [];
    for (const { steps } of transactions) this.#watches.concerned(steps, concerned);
    wakeAll(concerned);
    this.#logEnd?.applied(this.#replica.index);
  }

  #onEvent(event: EngineEvent): void {
    if (event.kind === 'failed') this.#closeWrites(event.error);
    else if (this.#held !== undefined) this.#held.push(event);
    else if (event.kind === 'batch') this.#applyBatch(event.batch);
    else if (event.kind === 'snapshot') this.#replaceAll(event.parts);
    else this.#followTerm(event);
  }

  #followTerm(event: EngineEvent & { readonly kind: 'leadership' }): void {
    this.#endTerm();
    if (!event.leadership.leader) return;
    if (this.#held === undefined) this.#beginTerm(event.leadership);
    else this.#held.push(event);
  }

  /** Applies a batch of another process. */
  #applyBatch(batch: Batch): void {
    if (this.#closed !== undefined) return;
    const bytes = batch.bytes.byteLength;
    try {
      const transactions = this.#replica.apply(batch);
      for (const { changes, index } of transactions) {
        tellListeners(this.#followers, changes, index);
      }
      this.#publish(transactions, []);
      this.#snapshots.followed(bytes);
    } catch (error) {
      this.#options.report(error);
      this.#closeWrites(error as Error);
    }
  }

  /** Takes in a snapshot in place of the batches that the log no longer has. */
  #replaceAll(parts: Iterable<Bytes>): void {
    const held: EngineEvent[] = [];
    this.#held = held;
    void this.#loadAnew(parts)
      .catch((error) => {
        this.#options.report(error);
        this.#closeWrites(error);
      })
      .then(() => this.#release(held));
  }

  async #loadAnew(parts: Iterable<Bytes>): Promise<void> {
    const replica = this.#options.newReplica();
    for (const part of parts) {
      replica.loadSnapshotPart(part);
      await unhurriedPause(this.#options.timers);
    }
    replica.endLoading();
    if (this.#closed !== undefined) return;
    const { index } = replica;
    const changes = differences(this.#replica.view, replica.view);
    this.#replica = replica;
    tellListeners(this.#followers, changes, index);
    this.#publish([{ index, changes, steps: [] }], []);
    wakeAll(this.#watches.all());
  }

  #closeWrites(error: Error): void {
    this.#closed ??= new WritesClosed(error.message, error);
    this.#leading?.queue.fail(this.#closed);
    this.#logEnd?.stop(this.#closed);
  }
}

function addListener<Heard extends readonly unknown[]>(
  listeners: Set<(...heard: Heard) => void>,
  listen: (...heard: Heard) => void,
): () => void {
  // A new function, so that the same `listen` may be added twice.
  const listener = (...heard: Heard) => listen(...heard);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

function tellListeners(
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
