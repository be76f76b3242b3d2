import type { Clock, Random, Timer, Timers } from '../../base/ports.ts';
import type { Bytes } from '../codec.ts';
import { Fenced, OutcomeUnknown } from '../errors.ts';
import type { Batch, Engine, EngineEvent, Leadership, Loaded } from './engine.ts';
import {
  batchChecksum,
  checkPart,
  checkParts,
  LogCheck,
  type LogRecord,
  noSnapshot,
  type PartRecord,
  partChecksum,
  type SnapshotRecord,
} from './log-check.ts';

/** Faults of the log for every process. They may be changed at any time. */
export interface SharedLogFaults {
  /** How long an append takes, half of it on the way to the log. Default: no time. */
  appendDelayMs?: number | undefined;
  /** The error of the next appends, if they are to fail. The log keeps nothing of them. */
  failAppend?: ((batch: Batch) => Error | undefined) | undefined;
  /** Whether the log keeps the batch, and its answer is lost. */
  loseAnswer?: ((batch: Batch) => boolean) | undefined;
}

export interface SharedLogOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** How long a leader leads without renewing its lease. */
  readonly leaseMs: number;
  /** Called with each batch that becomes durable, and its epoch. */
  readonly appended?: (batch: Batch, epoch: number) => void;
}

/**
 * The log of several processes, for tests and the simulator. It outlives them.
 *
 * The lease only says which process should try to lead. Safety comes from each append, which compares
 * the epoch and the end of the log.
 */
export class SharedLog {
  readonly faults: SharedLogFaults = {};
  readonly #options: SharedLogOptions;
  readonly #engines = new Set<SharedMemoryEngine>();
  snapshot: SnapshotRecord = noSnapshot;
  parts: PartRecord[] = [];
  records: LogRecord[] = [];
  #sequence = 0;
  #index = 0;
  #epoch = 0;
  #leader: SharedMemoryEngine | undefined;
  #leaseEndMs = 0;

  constructor(options: SharedLogOptions) {
    this.#options = options;
  }

  /** Index of the last transaction. */
  get index(): number {
    return this.#index;
  }

  get epoch(): number {
    return this.#epoch;
  }

  attach(engine: SharedMemoryEngine): void {
    this.#engines.add(engine);
  }

  /** Removes a process that ended. Its lease ends at once if it says goodbye, or else at its time. */
  detach(engine: SharedMemoryEngine, saysGoodbye: boolean): void {
    this.#engines.delete(engine);
    if (saysGoodbye && this.#leader === engine) this.#leader = undefined;
  }

  /** Whether no process leads, or the leader's lease is over. */
  get isFree(): boolean {
    return this.#leader === undefined || this.#options.clock.monotonicMs() >= this.#leaseEndMs;
  }

  /** Begins a term if the log is free and the process knows all of it. Returns the epoch. */
  campaign(engine: SharedMemoryEngine, knownIndex: number): number | undefined {
    if (!this.isFree || knownIndex !== this.#index) return undefined;
    this.#leader = engine;
    this.#leaseEndMs = this.#options.clock.monotonicMs() + this.#options.leaseMs;
    return ++this.#epoch;
  }

  /** Extends the lease. Returns `false` if the process no longer leads. */
  renew(engine: SharedMemoryEngine, epoch: number): boolean {
    if (this.#leader !== engine || this.#epoch !== epoch) return false;
    this.#leaseEndMs = this.#options.clock.monotonicMs() + this.#options.leaseMs;
    return true;
  }

  /** Ends the leader's lease: any process may try at once. */
  depose(): void {
    this.#leader = undefined;
  }

  /** @throws Fenced */
  commit(batch: Batch, expectedIndex: number, epoch: number): void {
    this.#requireEpoch(epoch);
    if (expectedIndex !== this.#index) throw new Fenced(`the log ends at index ${this.#index}`);
    const sequence = ++this.#sequence;
    this.records.push({ ...batch, sequence, checksum: batchChecksum(sequence, batch) });
    this.#index = batch.lastIndex;
    this.#options.appended?.(batch, epoch);
    for (const engine of this.#engines) engine.hint();
  }

  /** The batches after the index, in order. */
  after(index: number): readonly LogRecord[] {
    return this.records.filter(({ firstIndex }) => firstIndex > index);
  }

  /** Replaces the snapshot. The log keeps the batches that a living process still needs. */
  replaceSnapshot(index: number, epoch: number, parts: PartRecord[]): void {
    this.#requireEpoch(epoch);
    const covered = this.records.findLast((record) => record.lastIndex <= index);
    const sequence = covered?.sequence ?? this.snapshot.sequence;
    this.snapshot = { index, sequence, parts: parts.length };
    this.parts = parts;
    const needed = Math.min(index, ...[...this.#engines].map((engine) => engine.position));
    this.records = this.records.filter((record) => record.lastIndex > needed);
  }

  #requireEpoch(epoch: number): void {
    if (epoch !== this.#epoch) throw new Fenced(`epoch ${epoch} has passed`);
  }
}

export interface SharedMemoryOptions {
  readonly log: SharedLog;
  readonly timers: Timers;
  readonly random: Random;
  /** Time between two renewals of the lease, or between two attempts to lead. */
  readonly beatMs: number;
}

/** The engine of one process on a {@link SharedLog}. */
export class SharedMemoryEngine implements Engine {
  /** Delay until this process hears of a batch. */
  deliveryDelayMs = 0;
  readonly #options: SharedMemoryOptions;
  readonly #log: SharedLog;
  readonly #listeners = new Set<(event: EngineEvent) => void>();
  #leadership: Leadership = { leader: false, epoch: 0 };
  /** Index up to which this process knows the log. */
  #position = 0;
  #appending: Promise<void> | undefined;
  #beating: Timer | undefined;
  #isGone = false;
  /** It leaves its next beat to others. */
  #isResting = false;
  /** It leaves every beat to others. */
  #restsForGood = false;

  constructor(options: SharedMemoryOptions) {
    this.#options = options;
    this.#log = options.log;
  }

  get leadership(): Leadership {
    return this.#leadership;
  }

  get position(): number {
    return this.#position;
  }

  async *load(): AsyncGenerator<Loaded> {
    const log = this.#log;
    const { snapshot } = log;
    this.#position = snapshot.index;
    log.attach(this);
    const parts = [...log.parts];
    const records = log.after(snapshot.index);
    for (const [ordinal, part] of parts.entries()) {
      checkPart(snapshot, ordinal, part);
      yield { kind: 'snapshot-part', bytes: part.bytes };
    }
    checkParts(snapshot, parts.length);
    const check = new LogCheck(snapshot);
    for (const record of records) {
      check.next(record);
      yield { kind: 'batch', batch: record };
    }
    this.#position = check.index;
  }

  subscribe(listen: (event: EngineEvent) => void): () => void {
    this.#listeners.add(listen);
    if (this.#beating === undefined) this.#beat();
    return () => {
      this.#listeners.delete(listen);
    };
  }

  async end(): Promise<number> {
    await this.#travelHalfway();
    return this.#log.index;
  }

  async append(batch: Batch, expectedIndex: number, epoch: number): Promise<void> {
    const appended = this.#sendBatch(batch, expectedIndex, epoch);
    const settled = appended.then(
      () => {},
      () => {},
    );
    this.#appending = settled;
    try {
      await appended;
      this.#position = batch.lastIndex;
    } catch (error) {
      // The next leader finds out whether the batch is in the log.
      if (this.#log.renew(this, epoch)) this.#log.depose();
      throw error;
    } finally {
      this.#appending = undefined;
    }
  }

  async #sendBatch(batch: Batch, expectedIndex: number, epoch: number): Promise<void> {
    const { leader, epoch: own } = this.#leadership;
    if (!leader || epoch !== own) throw new Fenced(`epoch ${epoch} has passed`);
    const { faults } = this.#log;
    await this.#travelHalfway();
    const fault = faults.failAppend?.(batch);
    if (fault !== undefined) throw fault;
    const isLost = faults.loseAnswer?.(batch) === true;
    this.#log.commit(batch, expectedIndex, epoch);
    await this.#travelHalfway();
    if (isLost) throw new OutcomeUnknown();
  }

  async saveSnapshot(index: number, epoch: number, parts: AsyncIterable<Bytes>): Promise<void> {
    const stored: PartRecord[] = [];
    for await (const bytes of parts) {
      const ordinal = stored.length;
      stored.push({ ordinal, bytes, checksum: partChecksum(index, ordinal, bytes) });
    }
    this.#log.replaceSnapshot(index, epoch, stored);
  }

  async stepDown(isForGood: boolean): Promise<void> {
    this.#restsForGood ||= isForGood;
    await this.#appending;
    const { epoch } = this.#leadership;
    if (!this.#leadership.leader || !this.#log.renew(this, epoch)) return;
    this.#log.depose();
    this.#isResting = true;
    this.#lead({ leader: false, epoch });
    this.#pull();
  }

  async close(): Promise<void> {
    await this.#appending;
    this.#leaveLog(true);
  }

  /** The process dies: it sends and receives nothing more. */
  crash(): void {
    this.#leaveLog(false);
  }

  /** The log has grown. */
  hint(): void {
    this.#options.timers.after(this.deliveryDelayMs, () => this.#pull());
  }

  #leaveLog(saysGoodbye: boolean): void {
    this.#isGone = true;
    this.#beating?.clear();
    this.#listeners.clear();
    this.#log.detach(this, saysGoodbye);
  }

  #beat(): void {
    const { timers, random, beatMs } = this.#options;
    const nextMs = beatMs * (0.5 + random.fraction());
    this.#beating = timers.after(nextMs, () => {
      if (this.#isGone) return;
      this.#beat();
      if (this.#leadership.leader) this.#renew();
      else if (!this.#isResting && !this.#restsForGood) this.#campaign();
      this.#isResting = false;
    });
  }

  #renew(): void {
    const { epoch } = this.#leadership;
    if (this.#log.renew(this, epoch)) return;
    // E8: the last append settles before the term ends.
    void (this.#appending ?? Promise.resolve()).then(() => {
      if (this.#isGone || !this.#leadership.leader || this.#leadership.epoch !== epoch) return;
      this.#lead({ leader: false, epoch });
      this.#pull();
    });
  }

  #campaign(): void {
    if (!this.#log.isFree) return;
    this.#pull();
    const epoch = this.#log.campaign(this, this.#position);
    if (epoch !== undefined) this.#lead({ leader: true, epoch });
  }

  #lead(leadership: Leadership): void {
    this.#leadership = leadership;
    this.#tellListeners({ kind: 'leadership', leadership });
  }

  /** Tells the batches of other processes. A leader knows its own batches. */
  #pull(): void {
    if (this.#isGone || this.#beating === undefined) return;
    if (this.#leadership.leader || this.#appending !== undefined) return;
    for (const batch of this.#log.after(this.#position)) {
      this.#position = batch.lastIndex;
      this.#tellListeners({ kind: 'batch', batch });
    }
  }

  #tellListeners(event: EngineEvent): void {
    for (const listen of [...this.#listeners]) listen(event);
  }

  async #travelHalfway(): Promise<void> {
    const { appendDelayMs } = this.#log.faults;
    if (appendDelayMs === undefined) return;
    await new Promise<void>((resolve) => {
      this.#options.timers.after(appendDelayMs / 2, resolve);
    });
  }
}
