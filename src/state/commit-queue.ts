import type { Timers } from '../base/ports.ts';
import type { Timing } from '../base/timing.ts';
import { batchHash } from './batch-hash.ts';
import type { StateClock } from './clock.ts';
import { encodeBatch } from './codec.ts';
import type { Engine } from './engine/engine.ts';
import {
  Fenced,
  NotLeading,
  OutcomeUnknown,
  type StateError,
  WriteQueueFull,
  WritesClosed,
} from './errors.ts';
import type { Head, Ran } from './head.ts';
import type { StateLimits } from './limits.ts';
import { Linger } from './linger.ts';
import type { Transacted } from './row-change.ts';
import type { View } from './view.ts';

/** The promise of a write that waits until it is durable. `settle` or `fail` is called, once. */
export interface Waiter {
  settle(): void;
  fail(error: StateError): void;
}

/** Transactions that become durable together. */
interface Group {
  readonly transactions: Ran[];
  readonly waiters: Waiter[];
  /** Characters of the encoded transactions. */
  size: number;
  /** When its first transaction came, if times are measured. */
  beganMs: number | undefined;
}

interface SealedGroup extends Group {
  /** The state after its last transaction. */
  readonly view: View;
}

/** A batch that became durable. */
export interface Committed {
  readonly view: View;
  readonly transactions: readonly Transacted[];
  readonly waiters: readonly Waiter[];
  readonly bytes: number;
  /** Hash of the batch, if hashes are kept. */
  readonly hash: string | undefined;
}

export interface QueueOptions {
  readonly engine: Engine;
  /** The epoch of its term. */
  readonly epoch: number;
  readonly head: Head;
  readonly limits: StateLimits;
  readonly timers: Timers;
  /** Hash of the last batch of the log, if hashes are kept. */
  readonly hash: string | undefined;
  /** Gives batches their time; `undefined`: they have none. */
  readonly clock: Pick<StateClock, 'nowMs' | 'note'> | undefined;
  readonly times: Timing;
}

/** Takes the outcomes of appends. */
export interface Outcome {
  committed(committed: Committed): void;
  /** Another leader may have appended to the log: the term is over. */
  superseded(): void;
}

/**
 * Appends the transactions that ran on the head to the log: group commit. It lives as long as its head.
 *
 * Invariants
 *  Q1. At most one append is under way. Transactions that run meanwhile wait, and are appended together.
 *  Q2. While the queue is idle, the transactions of a turn of the event loop become one batch, up to
 *      the size of a batch. Transactions that nobody waits for may wait for others (`linger.ts`).
 *  Q3. Waiters settle in the order in which they came, each after everything that it could have read.
 *  Q4. After a failed append no waiter settles, and nothing is appended.
 *  Q5. When the term ends, transactions that were not sent fail at once, as not done. The engine
 *      tells the outcome of the append under way.
 *  Q6. Transactions that run while a transaction is held become one batch with it, after the last of
 *      them is released.
 */
export class CommitQueue {
  readonly #engine: Engine;
  readonly #epoch: number;
  readonly #head: Head;
  readonly #limits: StateLimits;
  readonly #clock: QueueOptions['clock'];
  readonly #times: Timing;
  readonly #outcome: Outcome;
  readonly #linger: Linger;
  #hash: string | undefined;
  #open: Group = emptyGroup();
  #sealed: SealedGroup[] = [];
  #flying: SealedGroup | undefined;
  /** Resolves when the append under way has settled. */
  #flight: Promise<void> = Promise.resolve();
  #flushSoon = false;
  /** Transactions that keep back what ran since. */
  #held = 0;
  /** Whether the open group may wait for transactions that somebody waits for. */
  #lingers = true;
  #writes = 0;
  #size = 0;
  #closed: WritesClosed | NotLeading | undefined;
  #idle: (() => void)[] = [];

  constructor(options: QueueOptions, outcome: Outcome) {
    const { engine, epoch, head, limits, timers, hash, clock, times } = options;
    this.#linger = new Linger(timers, limits, () => this.#flushNow());
    this.#hash = hash;
    this.#clock = clock;
    this.#times = times;
    this.#engine = engine;
    this.#epoch = epoch;
    this.#head = head;
    this.#limits = limits;
    this.#outcome = outcome;
  }

  /** The reason why no transaction may run; `undefined` if one may. */
  get refusal(): WritesClosed | NotLeading | WriteQueueFull | undefined {
    if (this.#closed !== undefined) return this.#closed;
    const { waitingWrites, waitingBytes } = this.#limits;
    if (this.#writes < waitingWrites && this.#size < waitingBytes) return undefined;
    return new WriteQueueFull(this.#writes, this.#size);
  }

  get closed(): WritesClosed | NotLeading | undefined {
    return this.#closed;
  }

  /** Transactions that are not durable yet. */
  get waiting(): number {
    return this.#writes;
  }

  /** When the first transaction of the append under way came, if there is one and times are measured. */
  get oldestMs(): number | undefined {
    return this.#flying?.beganMs;
  }

  /** Whether writes that somebody waits for follow each other closely. */
  get isPaced(): boolean {
    return this.#linger.isPaced;
  }

  /** Adds the transaction that has just run on the head. `lingers`: nobody waits for it. */
  add(ran: Ran, waiter: Waiter, lingers = false): void {
    const group = this.#open;
    if (group.transactions.length === 0) group.beganMs = this.#times.begin();
    group.transactions.push(ran);
    group.waiters.push(waiter);
    group.size += ran.text.length;
    this.#writes++;
    this.#size += ran.text.length;
    if (group.size >= this.#limits.batchBytes && this.#held === 0) this.#seal();
    if (!lingers) {
      this.#linger.noteWrite();
      this.#lingers = false;
    }
    this.#flushWithTurn();
  }

  /** Keeps back all that is not sealed, until the result is called. */
  hold(): () => void {
    this.#held++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#held--;
      if (this.#held === 0) this.#flushWithTurn();
    };
  }

  #flushWithTurn(): void {
    if (this.#flying !== undefined || this.#flushSoon) return;
    this.#flushSoon = true;
    queueMicrotask(() => {
      this.#flushSoon = false;
      this.#flush();
    });
  }

  /** Settles the waiter when all transactions that ran before are durable. */
  observe(waiter: Waiter): void {
    const last =
      this.#open.transactions.length > 0 ? this.#open : (this.#sealed.at(-1) ?? this.#flying);
    if (last === undefined) waiter.settle();
    else last.waiters.push(waiter);
    if (last === this.#open) this.#flushNow();
  }

  /** Takes no more transactions, and fails those that wait. */
  fail(error: WritesClosed): void {
    if (this.#closed !== undefined && this.#writes === 0) return;
    this.#closed ??= error;
    this.#linger.stop();
    this.#dropGroup(this.#flying, error);
    this.#flying = undefined;
    this.#dropUnsent(error);
  }

  /**
   * Ends the term: takes no more transactions, and fails those that were not sent. Resolves when the
   * append under way has settled.
   */
  end(reason: NotLeading): Promise<void> {
    this.#closed ??= reason;
    this.#linger.stop();
    this.#dropUnsent(reason);
    return this.#flight;
  }

  /** Takes no more transactions. Resolves when those that wait are durable, or have failed. */
  async close(reason: WritesClosed): Promise<void> {
    this.#closed ??= reason;
    this.#flushNow();
    this.#linger.stop();
    if (this.#writes === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #seal(): void {
    this.#sealed.push({ ...this.#open, view: this.#head.view() });
    this.#open = emptyGroup();
    this.#lingers = true;
    this.#linger.end();
  }

  #flushNow(): void {
    this.#lingers = false;
    this.#flushWithTurn();
  }

  #flush(): void {
    if (this.#flying !== undefined) return;
    const isWaiting = this.#open.transactions.length > 0;
    if (this.#sealed.length === 0 && isWaiting && this.#held === 0) {
      if (!this.#lingers || !this.#linger.begin()) this.#seal();
    }
    const group = this.#sealed.shift();
    if (group === undefined) {
      if (!isWaiting) this.#tellIdle();
    } else {
      this.#flying = group;
      this.#flight = this.#appendGroup(group);
    }
  }

  async #appendGroup(group: SealedGroup): Promise<void> {
    const firstIndex = group.transactions[0]!.index;
    const bytes = encodeBatch(group.transactions);
    const length = bytes.byteLength;
    const timeMs = this.#clock?.nowMs();
    const previous = this.#hash;
    const hash = batchHash({ previous, bytes });
    try {
      const { index: lastIndex } = group.view;
      const { isPackable } = this.#head;
      const batch = { firstIndex, lastIndex, bytes, previous, hash, timeMs, isPackable };
      await this.#engine.append(batch, firstIndex - 1, this.#epoch);
    } catch (error) {
      if (this.#flying === group) this.#appendFailed(group, error);
      return;
    }
    if (this.#flying !== group) return;
    this.#times.end(group.beganMs);
    this.#flying = undefined;
    this.#hash = hash;
    this.#clock?.note(timeMs ?? 0);
    this.#writes -= group.transactions.length;
    this.#size -= group.size;
    // The next append comes first, so that the engine works while this thread tells the listeners.
    this.#flush();
    this.#outcome.committed({ ...group, bytes: length, hash });
  }

  #appendFailed(group: SealedGroup, error: unknown): void {
    const isFenced = error instanceof Fenced;
    const hasEnded = this.#closed instanceof NotLeading;
    if (!isFenced && !hasEnded && !(error instanceof OutcomeUnknown)) {
      this.fail(new WritesClosed(messageOf(error), error));
      return;
    }
    const reason = new NotLeading(error);
    this.#closed ??= reason;
    this.#flying = undefined;
    this.#dropGroup(group, isFenced ? reason : new OutcomeUnknown(error));
    this.#dropUnsent(reason);
    this.#outcome.superseded();
  }

  #dropUnsent(error: StateError): void {
    const unsent = [...this.#sealed, this.#open];
    this.#sealed = [];
    this.#open = emptyGroup();
    for (const group of unsent) this.#dropGroup(group, error);
    if (this.#flying === undefined) this.#tellIdle();
  }

  #dropGroup(group: Group | undefined, error: StateError): void {
    if (group === undefined) return;
    this.#writes -= group.transactions.length;
    this.#size -= group.size;
    for (const waiter of group.waiters) waiter.fail(error);
  }

  #tellIdle(): void {
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }
}

function emptyGroup(): Group {
  return { transactions: [], waiters: [], size: 0, beganMs: undefined };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
