import { pause, unhurriedPause } from '../base/slices.ts';
import { noBatch } from './batch-hash.ts';
import type { StateClock } from './clock.ts';
import { type Bytes, savedState } from './codec.ts';
import { CommitQueue, type Waiter } from './commit-queue.ts';
import { differences } from './differences.ts';
import type { Batch, Engine, EngineEvent, Leadership } from './engine/engine.ts';
import { Fenced, NotLeading, OutcomeUnknown, WritesClosed } from './errors.ts';
import { type StateFigures, stateFigures } from './figures.ts';
import { ReadSet, TrackedSnapshot } from './footprint.ts';
import { Form } from './form.ts';
import { Head, type Ran } from './head.ts';
import { type Leading, openHead, stillLeads } from './leading.ts';
import { type Follower, type Listener, Listeners, tellChanges } from './listeners.ts';
import { LogEnd } from './log-end.ts';
import { rehearsalOn } from './rehearsal.ts';
import type { Replica } from './replica.ts';
import { makeRestore, type RestoreMade } from './restore.ts';
import { type RestoreEntry, restoreIn } from './restore-entry.ts';
import type { Transacted } from './row-change.ts';
import { beginWrite, type Running, runWrite } from './run-write.ts';
import type { Snapshots } from './snapshots.ts';
import type { StoreOptions } from './store-options.ts';
import type {
  Begun,
  Footprint,
  Rehearsal,
  Restoring,
  SavedState,
  Snapshot,
  State,
  StateDraft,
  Term,
  Transaction,
  Watch,
  WriteOptions,
  Written,
} from './types.ts';
import { type Parked, Watches, wakeAll } from './watches.ts';

/**
 * Invariants (the files of its parts have their own)
 *  S1. Readers see durable transactions only, so nothing that a reader has seen is taken back.
 *  S2. Each durable batch, of this process or another, first moves the view. Then listeners hear of
 *      its transactions in order, then its writers resolve, then the watches of its changes wake.
 *  S3. After a failed append the term takes no write. Reads and watches go on over the last view.
 *  S4. Head and commit queue live for one term. Its end discards the transactions that are not
 *      durable. Without a term no write runs.
 *  S5. When a term ends, batches and terms that follow it wait until its last append has settled.
 *  S6. A snapshot in place of batches is a single commit to listeners: all rows that differ. Then listeners
 *      hear that the state was replaced, and every watch wakes.
 *  S7. A restore runs between two terms. Once it is durable the view moves as a whole, then listeners hear
 *      of it, then every watch wakes, and only then the next term begins.
 */
export class Store implements State {
  readonly clock: StateClock | undefined;
  readonly #engine: Engine;
  #replica: Replica;
  readonly #options: StoreOptions;
  readonly #snapshots: Snapshots;
  readonly #watches = new Watches();
  readonly #listeners = new Listeners<Parameters<Follower>>();
  readonly #followers = new Listeners<Parameters<Follower>>();
  readonly #termListeners = new Listeners<[term: Term | undefined]>();
  readonly #replaceListeners = new Listeners<[index: number]>();
  readonly #unsubscribe: () => void;
  readonly #logEnd: LogEnd | undefined;
  #leading: Leading | undefined;
  /** Events that wait for the last append of the term that ended (S5), or for a snapshot (S6). */
  #held: EngineEvent[] | undefined;
  #closed: WritesClosed | undefined;
  #restoring: Promise<unknown> | undefined;
  #closing: Promise<void> | undefined;

  constructor(engine: Engine, replica: Replica, snapshots: Snapshots, options: StoreOptions) {
    this.clock = options.clock;
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

  get figures(): StateFigures {
    return stateFigures(this.#snapshots, this.#options.times, this.#leading?.queue);
  }

  read(): Snapshot {
    return this.#replica.view;
  }

  saved(): SavedState {
    const { view } = this.#replica;
    return savedState(view, Form.of(this.#options.source, view));
  }

  head(): Snapshot {
    return openHead(this.#leading)?.view() ?? this.#replica.view;
  }

  peek<T>(look: (now: Snapshot) => T): T {
    return look(openHead(this.#leading)?.now ?? this.#replica.view);
  }

  rehearse(): Rehearsal {
    return rehearsalOn(this.head(), this.#options);
  }

  exact(): Promise<void> | undefined {
    return this.#logEnd?.reached();
  }

  track(): { readonly snapshot: Snapshot; readonly footprint: Footprint } {
    const { view } = this.#replica;
    const footprint = new ReadSet(view.index, this.#options.limits.rangesPerIndex);
    return { snapshot: new TrackedSnapshot(view, footprint), footprint };
  }

  write<T>(run: (transaction: Transaction) => T, options?: WriteOptions): Promise<Written<T>> {
    const leading = this.#leading;
    if (leading === undefined) return Promise.reject(this.#closed ?? new NotLeading());
    return runWrite(this.#runningIn(leading), run, options);
  }

  begin<T>(run: (transaction: Transaction) => T): Begun<T> {
    const leading = this.#leading;
    if (leading === undefined) throw this.#closed ?? new NotLeading();
    return beginWrite(this.#runningIn(leading), run);
  }

  #runningIn({ head, queue, term }: Leading): Running {
    const tell = (ran: Ran) => tellChanges(this.#followers, ran.changes, ran.index, ran.text);
    return { head, queue, tell, stillLeads: () => stillLeads(this, term) };
  }

  watch(footprint: Footprint, wake: () => void): Watch {
    return this.#watches.park(footprint as ReadSet, this.#replica.view, wake);
  }

  onCommit(listen: Listener): () => void {
    return this.#listeners.add(listen);
  }

  onRan(listen: Follower): () => void {
    return this.#followers.add(listen);
  }

  onLeadership(listen: (term: Term | undefined) => void): () => void {
    return this.#termListeners.add(listen);
  }

  onReplaced(listen: (index: number) => void): () => void {
    return this.#replaceListeners.add(listen);
  }

  draft(): StateDraft {
    return this.#replica.draft();
  }

  restore<T>(restoring: Restoring<T>): Promise<Written<T>> {
    const leading = this.#leading;
    if (leading === undefined) return Promise.reject(this.#closed ?? new NotLeading());
    const restored = this.#stopTerm(leading)
      .then(() => this.#appendRestore(leading, restoring))
      .finally(() => this.#release());
    this.#restoring = restored.catch(() => {});
    return restored;
  }

  /** S7. */
  async #appendRestore<T>(leading: Leading, restoring: Restoring<T>): Promise<Written<T>> {
    const made = this.#makeRestore(leading, restoring);
    const { batch, view, hash, value } = made;
    const { epoch } = leading.term;
    const bytes = batch.bytes.byteLength;
    try {
      await this.#engine.append(batch, batch.firstIndex - 1, epoch);
    } catch (error) {
      if (error instanceof Fenced) throw new NotLeading(error);
      if (!(error instanceof OutcomeUnknown)) this.#closeWrites(error as Error);
      throw this.#closed ?? error;
    }
    this.#replica.adopt(view, hash);
    this.#tellReplaced();
    this.#goOn(leading);
    this.#snapshots.restored(bytes, { view, hash, epoch });
    return { index: view.index, value };
  }

  /** If it cannot be made, the process leads on as before. */
  #makeRestore<T>(leading: Leading, restoring: Restoring<T>): RestoreMade<T> {
    try {
      if (!this.#mayGoOn(leading)) throw this.#closed ?? new NotLeading();
      const previous = this.#logEnd && (this.#replica.hash ?? noBatch);
      return makeRestore(restoring, { ...this.#options, before: this.#replica.view, previous });
    } catch (error) {
      this.#goOn(leading);
      throw error;
    }
  }

  /** Begins another term after that one, if this process still leads. */
  #goOn(leading: Leading): void {
    if (this.#mayGoOn(leading)) this.#beginTerm({ leader: true, epoch: leading.term.epoch });
    // Nobody else finds out what became of the append.
    else if (leading.isSuperseded && this.#logEnd === undefined) {
      this.#closeWrites(new OutcomeUnknown());
    }
  }

  #mayGoOn({ isSuperseded }: Leading): boolean {
    const isOver = this.#held?.some(({ kind }) => kind === 'leadership') ?? false;
    return this.#closed === undefined && !isSuperseded && !isOver;
  }

  get candidate(): string | undefined {
    return this.#engine.candidate;
  }

  async stepDown(isForGood = false, successor?: string): Promise<void> {
    await this.#engine.stepDown?.(isForGood, successor);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#closed ??= new WritesClosed('the state was closed');
    await this.#leading?.queue.close(this.#closed);
    await this.#restoring;
    this.#unsubscribe();
    this.#logEnd?.stop(this.#closed);
    await this.#snapshots.stop();
    await this.#engine.close();
    wakeAll(this.#watches.all());
  }

  /** Begins a term of this process on the durable view. */
  #beginTerm({ epoch }: Leadership): void {
    const { limits, clock, timers, times } = this.#options;
    const head = new Head(this.#replica.view, this.#options);
    // A process that holds the log alone keeps no hashes.
    const hash = this.#logEnd && (this.#replica.hash ?? noBatch);
    const queue = new CommitQueue(
      { engine: this.#engine, epoch, head, limits, timers, hash, clock, times },
      {
        committed: ({ view, transactions, waiters, bytes, hash }) => {
          this.#replica.adopt(view, hash);
          this.#publish(transactions, waiters);
          this.#snapshots.grew(bytes, { view, hash, epoch, isPaced: () => queue.isPaced });
        },
        superseded: () => {
          leading.isSuperseded = true;
          if (this.#leading === leading) this.#endTerm();
        },
      },
    );
    const leading: Leading = { term: { epoch }, head, queue, isSuperseded: false };
    this.#leading = leading;
    this.#termListeners.tell(this.leading);
  }

  #endTerm(): void {
    const leading = this.#leading;
    if (leading !== undefined) void this.#stopTerm(leading).then(() => this.#release());
  }

  /** S5. Resolves when the last append has settled. Until `release` events are held. */
  #stopTerm(leading: Leading): Promise<void> {
    this.#leading = undefined;
    this.#held = [];
    const settled = leading.queue.end(new NotLeading());
    this.#termListeners.tell(this.leading);
    return settled;
  }

  /** Takes in what the engine told meanwhile. */
  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held) this.#onEvent(event);
  }

  /** S7. */
  #tellReplaced(): void {
    const { index } = this.#replica;
    this.#replaceListeners.tell(index);
    wakeAll(this.#watches.all());
    this.#logEnd?.applied(index);
  }

  #publish(transactions: readonly Transacted[], waiters: readonly Waiter[]): void {
    for (const { changes, index } of transactions) tellChanges(this.#listeners, changes, index);
    for (const waiter of waiters) waiter.settle();
    const concerned: Parked[] = [];
    for (const { changes } of transactions) this.#watches.concerned(changes, concerned);
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
    try {
      const restore = restoreIn(batch.bytes, `the batch from index ${batch.firstIndex}`);
      if (restore !== undefined) {
        void this.#applyRestore(restore, batch);
        return;
      }
      const transactions = this.#replica.apply(batch);
      for (const { changes, index } of transactions) tellChanges(this.#followers, changes, index);
      this.#publish(transactions, []);
      this.#snapshots.followed(batch.bytes.byteLength, this.#replica);
    } catch (error) {
      this.#options.report(error);
      this.#closeWrites(error as Error);
    }
  }

  /** Takes in a snapshot in place of the batches that the log no longer has. */
  #replaceAll(parts: Iterable<Bytes>): void {
    this.#held = [];
    void this.#loadAnew(parts)
      .catch((error) => {
        this.#options.report(error);
        this.#closeWrites(error);
      })
      .then(() => this.#release());
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
    tellChanges(this.#followers, changes, index);
    tellChanges(this.#listeners, changes, index);
    this.#tellReplaced();
  }

  /** The same for a restore, in slices. S5 holds meanwhile. */
  async #applyRestore(restore: RestoreEntry, batch: Batch): Promise<void> {
    this.#held = [];
    try {
      for (const _ of this.#replica.applyRestore(restore, batch)) await pause(this.#options.timers);
      this.#tellReplaced();
      this.#snapshots.followed(batch.bytes.byteLength, this.#replica);
    } catch (error) {
      this.#options.report(error);
      this.#closeWrites(error as Error);
    }
    this.#release();
  }

  #closeWrites(error: Error): void {
    this.#closed ??= new WritesClosed(error.message, error);
    this.#leading?.queue.fail(this.#closed);
    this.#logEnd?.stop(this.#closed);
    this.#snapshots.failed(this.#replica);
  }
}
