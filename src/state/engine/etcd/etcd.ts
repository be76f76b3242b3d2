import type { Timer } from '../../../base/ports.ts';
import type { Bytes } from '../../codec.ts';
import { Fenced, StateCorrupted, StateError } from '../../errors.ts';
import type { LogHealth } from '../../log-health.ts';
import type { Batch, CopiedState, Engine, EngineEvent, Leadership, LoadStep } from '../engine.ts';
import { requireUnmarked } from '../offline.ts';
import { Appender } from './appender.ts';
import { EtcdError, isCompacted } from './client.ts';
import { Compaction } from './compaction.ts';
import { Figures } from './figures.ts';
import { Follower } from './follower.ts';
import type { LogHead } from './head.ts';
import { EtcdWatchdog } from './health.ts';
import { Keys } from './keys.ts';
import { LeaderLease } from './lease.ts';
import { type EtcdLimits, etcdLimits } from './limits.ts';
import { type Front, LogReader } from './log-reader.ts';
import { LogMemory } from './memory.ts';
import type { EtcdEngineOptions } from './options.ts';
import { SnapshotStore } from './snapshot-store.ts';
import { type Beginning, loadLog, newerSnapshot } from './start.ts';
import { beginTerm } from './term.ts';

/**
 * A log in etcd that several servers share. `DESIGN.md` has its invariants.
 */
export class EtcdEngine implements Engine {
  readonly keepCopy?: (at: CopiedState, parts: AsyncIterable<Bytes>) => Promise<void>;
  isFromCopy = false;
  readonly #options: EtcdEngineOptions;
  readonly #limits: EtcdLimits;
  readonly #keys: Keys;
  readonly #server: string;
  readonly #appender: Appender;
  readonly #snapshots: SnapshotStore;
  readonly #memory: LogMemory;
  readonly #compaction: Compaction;
  readonly #lease: LeaderLease;
  readonly #follower: Follower;
  readonly #watchdog: EtcdWatchdog;
  readonly #figures: Figures;
  readonly #listeners = new Set<(event: EngineEvent) => void>();
  #leadership: Leadership = { leader: false, epoch: 0 };
  /** In a term of this process: the head after its last write. */
  #head: LogHead | undefined;
  #isEnding = false;
  /** Resolves when the term that ends has ended. */
  #ending: Promise<void> = Promise.resolve();
  #appending: Promise<void> | undefined;
  #beating: Timer | undefined;
  /** The beat under way. */
  #beat: Promise<void> = Promise.resolve();
  #isBeating = false;
  #isBeatWanted = false;
  #looking: Timer | undefined;
  #isClosed = false;
  readonly #elected = Promise.withResolvers<void>();

  constructor(options: EtcdEngineOptions) {
    const limits = { ...etcdLimits, ...options.limits };
    const { client, ids, report } = options;
    const keys = new Keys(options.prefix);
    const server = ids.uuid();
    const reader = new LogReader(client, keys, limits);
    this.#figures = new Figures(options.clock);
    this.#memory = new LogMemory(options, reader, () => ({
      ...this.#follower.position,
      currentMs: this.#figures.currentMs,
    }));
    const parts = { ...options, keys, limits, reader, server };
    this.#options = options;
    if (options.copy) this.keepCopy = (at, state) => this.#memory.keepCopy(at, state);
    this.#limits = limits;
    this.#keys = keys;
    this.#server = server;
    this.#appender = new Appender(parts);
    this.#snapshots = new SnapshotStore(parts);
    this.#compaction = new Compaction(parts);
    this.#lease = new LeaderLease(parts);
    this.#watchdog = new EtcdWatchdog({
      client,
      limits,
      quotaBytes: options.quotaBytes,
      warn: (sentence) => report(new Error(sentence)),
    });
    this.#follower = new Follower({
      ...parts,
      confirm: (front) => this.#memory.confirm(front),
      looked: ({ head }, sentMs) => {
        if (options.readsMarked !== true) requireUnmarked(options.where, head?.mark);
        const { leader, epoch } = this.#leadership;
        this.#figures.looked(head, sentMs, !leader || (head?.epoch ?? 0) <= epoch);
      },
      follows: () => !this.#leadership.leader && this.#appending === undefined && !this.#isClosed,
      epoch: () => (this.#leadership.leader ? this.#leadership.epoch : undefined),
      batch: (batch) => this.#tellListeners({ kind: 'batch', batch }),
      cut: (front) => this.#replaceBySnapshot(front),
      superseded: () => this.#endTerm(),
      leaderGone: () => this.#beatAfter(options.random.fraction() * limits.campaignJitterMs),
      leaderPut: (leader) => this.#lease.isNamed({ leader }) && this.#beatAfter(0),
      fault: (error) => this.#onFault(error),
    });
  }

  get leadership(): Leadership {
    return this.#leadership;
  }

  /** Its name for a leader that steps down; `undefined`: it cannot succeed it at once. */
  get candidate(): string | undefined {
    const isAway = this.#isClosed || this.#figures.obstacle || this.#leadership.leader;
    return isAway || this.#lease.restsForGood || this.#lease.isHeldBack ? undefined : this.#server;
  }

  /** Why new work should wait: the database of etcd is nearly full. */
  get isFull(): boolean {
    return this.#watchdog.isFull;
  }

  get health(): LogHealth {
    const { leader, epoch } = this.#leadership;
    const { health, fault } = this.#figures;
    const term = Math.max(health.term, epoch);
    const leaseAgeMs = leader ? this.#lease.ageMs : undefined;
    const { isHeldBack } = this.#lease;
    // Nobody asks etcd for its size any more once the log has a fault.
    const store = fault === undefined ? this.#watchdog.store : undefined;
    return { ...health, term, leaseAgeMs, isHeldBack, store };
  }

  async *load(): AsyncGenerator<LoadStep> {
    yield* loadLog({
      starting: { ...this.#options, limits: this.#limits, isClosed: () => this.#isClosed },
      follower: this.#follower,
      snapshots: this.#snapshots,
      fittingCopy: (front) => this.#memory.fittingCopy(front),
      noteCopy: (isFromCopy) => {
        this.isFromCopy = isFromCopy;
      },
      instead: this.#beginOnCopy.bind(this),
      reached: () => {
        this.#figures.current();
        return this.#memory.keepSeen();
      },
    });
  }

  /** Where a start without the log begins: the follower goes on from there as soon as the log is confirmed. */
  async #beginOnCopy(reason: StateError): Promise<Beginning | undefined> {
    const found = await this.#memory.copyAlone(this.#options.clock.nowMs(), reason);
    if (found === undefined) return undefined;
    this.isFromCopy = true;
    this.#figures.beginAt(found.currentMs);
    this.#figures.obstacle = reason;
    this.#elected.resolve();
    return { front: undefined, snapshot: found.copy };
  }

  /**
   * From now on it tries to lead, if it was held back. Resolves when it leads, or another server holds the leader key, or
   * after too long.
   */
  async settled(): Promise<void> {
    if (this.#lease.endHoldingBack()) this.#beatAfter(0);
    const late = this.#options.timers.after(this.#limits.electMs, () => this.#elected.resolve());
    await this.#elected.promise;
    late.clear();
  }

  subscribe(listen: (event: EngineEvent) => void): () => void {
    this.#listeners.add(listen);
    if (this.#listeners.size === 1 && this.#beating === undefined && !this.#isClosed) {
      this.#follower.watch();
      this.#beatAfter(this.#options.random.fraction() * this.#limits.campaignJitterMs);
      this.#lookAfterHealth();
    }
    return () => void this.#listeners.delete(listen);
  }

  async end(): Promise<number> {
    const { head } = await this.#follower.look().catch((error) => {
      if (error instanceof StateError) this.#onFault(error);
      throw error;
    });
    const index = head?.index ?? 0;
    if (index > this.#follower.position.index) this.#follower.hint();
    return index;
  }

  async append(batch: Batch, expectedIndex: number, epoch: number): Promise<void> {
    const sent = this.#figures.append(this.#sendBatch(batch, expectedIndex, epoch));
    this.#appending = Promise.allSettled([sent]).then(() => {});
    try {
      await sent;
    } catch (error) {
      const { cause } = error as Error;
      const isRefused = cause instanceof EtcdError && cause.kind !== 'unknown';
      if (isRefused) this.#options.report(cause);
      this.#endTerm();
      throw error;
    } finally {
      this.#appending = undefined;
    }
  }

  async #sendBatch(batch: Batch, expectedIndex: number, epoch: number): Promise<void> {
    const head = this.#requireTerm(epoch);
    const { index, hash } = this.#follower.position;
    if (expectedIndex !== index || (batch.previous ?? '') !== hash) {
      throw new Fenced(`the log ends at index ${index}`);
    }
    const appended = await this.#appender.append(batch, head);
    this.#follower.moveTo(appended.head);
    this.#head = appended.head;
    if (!appended.isHead) this.#endTerm();
  }

  async saveSnapshot(index: number, epoch: number, parts: AsyncIterable<Bytes>): Promise<void> {
    try {
      await this.#snapshots.save(index, this.#requireTerm(epoch), parts);
    } catch (error) {
      if (!(error instanceof StateCorrupted) && !isCompacted(error)) throw error;
      // Another leader may have swept its chunks away, or etcd have come back older.
      await this.#follower.look();
      this.#requireTerm(epoch);
      throw error;
    }
  }

  async stepDown(isForGood: boolean, successor?: string): Promise<void> {
    const { leader } = this.#leadership;
    if (leader || isForGood) this.#lease.rest(isForGood);
    if (!leader) return;
    this.#endTerm();
    await this.#appending;
    // Nothing is sent in this term any more, so others need not wait for the listeners of its end.
    const left = this.#lease.leaveTo(successor);
    await this.#ending;
    await left;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#beating?.clear();
    this.#looking?.clear();
    this.#follower.stop();
    await this.#appending;
    await this.#beat;
    this.#listeners.clear();
    await this.#lease.resign();
    await this.#memory.end();
    await this.#options.client.close();
  }

  #requireTerm(epoch: number): LogHead {
    const { leader, epoch: own } = this.#leadership;
    if (leader && !this.#isEnding && !this.#isClosed && epoch === own && this.#head !== undefined)
      return this.#head;
    throw new Fenced(`epoch ${epoch} has passed`);
  }

  async #replaceBySnapshot(front: Front): Promise<boolean> {
    const snapshot = await newerSnapshot(this.#follower, this.#snapshots, front);
    if (snapshot === undefined) return false;
    this.#follower.startAt(snapshot.record);
    this.#tellListeners({ kind: 'snapshot', parts: snapshot.parts });
    return true;
  }

  #beatAfter(delayMs: number): void {
    if (this.#isClosed) return;
    this.#beating?.clear();
    this.#beating = this.#options.timers.after(delayMs, () => {
      if (this.#isBeating) this.#isBeatWanted = true;
      else this.#beat = this.#runBeat();
    });
  }

  async #runBeat(): Promise<void> {
    const { random } = this.#options;
    let nextMs = this.#limits.beatMs * (0.75 + random.fraction() / 4);
    const startMs = this.#options.clock.monotonicMs();
    this.#isBeating = true;
    this.#isBeatWanted = false;
    try {
      if (this.#leadership.leader) await this.#renew();
      else await this.#campaign();
      this.#figures.current(startMs);
      this.#figures.obstacle = undefined;
    } catch (error) {
      this.#onFault(error);
      nextMs = this.#limits.retryMs * (1 + random.fraction());
    }
    this.#isBeating = false;
    this.#beatAfter(this.#isBeatWanted ? 0 : nextMs);
  }

  async #renew(): Promise<void> {
    try {
      if (!(await this.#lease.renew())) return this.#endTerm();
      await this.#follower.look();
    } catch (error) {
      if (this.#options.clock.monotonicMs() >= this.#lease.endMs) this.#endTerm();
      throw error;
    }
  }

  /** Takes the leader key and begins a term, in one write of the head, if nobody else should lead. */
  async #campaign(): Promise<void> {
    const steps = [this.#follower.pull(), this.#lease.hold()] as const;
    const [pulled, held] = await Promise.allSettled(steps);
    if (pulled.status === 'rejected') throw pulled.reason;
    const { value: front } = pulled;
    if (this.#isClosed || !this.#lease.mayTake(front)) return this.#elected.resolve();
    if (this.#lease.isHeldBack) return;
    if (held.status === 'rejected') throw held.reason;
    const parts = { ...this.#options, keys: this.#keys, server: this.#server };
    // The term begins on exactly the head that was applied.
    const begin = beginTerm(parts, front.head, this.#lease.taking(front, held.value));
    const begun = await begin.catch((error) => this.#lease.giveUp(error));
    if (begun === undefined) this.#isBeatWanted = true;
    else this.#beginTerm(begun);
  }

  #beginTerm(head: LogHead): void {
    this.#head = head;
    this.#follower.moveTo(head);
    this.#lead({ leader: true, epoch: head.epoch });
    this.#elected.resolve();
    void this.#memory.keepSeen();
    this.#snapshots.clean(head).catch((error) => {
      if (!this.#isClosed) this.#options.report(error);
    });
  }

  /** The event comes when the last append has settled. */
  #endTerm(): void {
    const { leader, epoch } = this.#leadership;
    if (!leader || this.#isEnding) return;
    this.#isEnding = true;
    const ended = Promise.withResolvers<void>();
    this.#ending = ended.promise;
    void (this.#appending ?? Promise.resolve()).then(() => {
      this.#options.timers.soon(() => {
        this.#isEnding = false;
        this.#head = undefined;
        this.#lead({ leader: false, epoch });
        this.#beatAfter(0);
        ended.resolve();
      });
    });
  }

  #lead(leadership: Leadership): void {
    this.#leadership = leadership;
    if (!this.#isClosed) this.#follower.watch();
    this.#tellListeners({ kind: 'leadership', leadership });
  }

  #tellListeners(event: EngineEvent): void {
    for (const listen of [...this.#listeners]) listen(event);
  }

  #lookAfterHealth(): void {
    this.#looking = this.#options.timers.after(this.#limits.statusMs, () =>
      this.#lookAfterHealth(),
    );
    const head = this.#head;
    const steps = [
      this.#watchdog.look(),
      head && this.#compaction.step(head),
      this.#memory.keepSeen(),
    ];
    for (const step of steps) step?.catch((error) => this.#onFault(error));
  }

  /** An etcd out of reach is tried again. A log that has diverged ends the work of this engine. */
  #onFault(error: unknown): void {
    if (this.#isClosed) return;
    const isFinal = error instanceof StateError && !(error instanceof Fenced);
    if (isFinal || !this.#figures.obstacle) this.#options.report(error);
    this.#figures.obstacle = error as Error;
    if (!isFinal) return;
    this.#figures.fault = error;
    this.#isClosed = true;
    this.#beating?.clear();
    this.#looking?.clear();
    this.#follower.stop();
    if (this.#leadership.leader) this.#lead({ ...this.#leadership, leader: false });
    this.#tellListeners({ kind: 'failed', error });
    void this.#memory.end();
    void this.#lease.resign();
  }
}
