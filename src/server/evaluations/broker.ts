import { Heap } from '../../base/heap.ts';
import type { Timer, Timers } from '../../base/ports.ts';

/** What the broker needs to know of an evaluation. */
export interface Brokered {
  readonly ID: string;
  readonly Namespace: string;
  readonly JobID: string;
  readonly Type: string;
  readonly Priority: number;
  readonly CreateIndex: number;
}

export interface BrokerLimits {
  /** How often an evaluation is handed out before it counts as failed. */
  readonly deliveriesMax: number;
  /** Back-off before the n-th redelivery: `firstNackMs`, then `nackStepMs` times (n - 1). */
  readonly firstNackMs: number;
  readonly nackStepMs: number;
}

export interface Delivery<E> {
  readonly evaluation: E;
  /** It is done: the next one of the same job may go. Names those that it made superfluous. */
  readonly ack: () => readonly E[];
  /** It was not done: it comes again, later. */
  readonly nack: () => void;
}

interface Entry<E> {
  readonly evaluation: E;
  deliveries: number;
}

/**
 * Hands out pending evaluations to schedulers. Source: facts/scheduler.md §5.1 "Broker".
 *
 * Invariants
 *  B1. At most one evaluation of a job is out at a time; the others of that job wait behind it.
 *  B2. Among those that are ready, the one with the highest priority goes first; equal ones in the
 *      order in which they were created.
 *  B3. When an evaluation of a job is done, the one with the highest priority (then the newest)
 *      among those that wait is next, and the older ones are superfluous: it sees all they saw.
 *  B4. An evaluation is out, ready, waiting or delayed, never two of these; queueing it again does
 *      nothing.
 *  B5. After `deliveriesMax` deliveries without an ack it is given to `giveUp` instead.
 */
export class Broker<E extends Brokered> {
  readonly #limits: BrokerLimits;
  readonly #timers: Timers;
  readonly #giveUp: (evaluation: E, superfluous: readonly E[]) => void;
  readonly #ready = new Heap<Entry<E>>(
    (left, right) =>
      right.evaluation.Priority - left.evaluation.Priority ||
      left.evaluation.CreateIndex - right.evaluation.CreateIndex,
  );
  /** Ids known to the broker, whatever state they are in. */
  readonly #known = new Set<string>();
  /** Jobs with an evaluation that is ready, out or delayed, and those that wait behind it. */
  readonly #waiting = new Map<string, Entry<E>[]>();
  readonly #delayed = new Set<Timer>();
  #wake: (() => void) | undefined;

  constructor(options: {
    limits: BrokerLimits;
    timers: Timers;
    giveUp: (evaluation: E, superfluous: readonly E[]) => void;
  }) {
    this.#limits = options.limits;
    this.#timers = options.timers;
    this.#giveUp = options.giveUp;
  }

  /** Evaluations known to it, whatever state they are in. */
  get size(): number {
    return this.#known.size;
  }

  get counts(): { ready: number; waiting: number; delayed: number; known: number } {
    let waiting = 0;
    for (const entries of this.#waiting.values()) waiting += entries.length;
    return {
      ready: this.#ready.size,
      waiting,
      delayed: this.#delayed.size,
      known: this.#known.size,
    };
  }

  enqueue(evaluation: E): void {
    if (this.#known.has(evaluation.ID)) return;
    this.#known.add(evaluation.ID);
    const entry = { evaluation, deliveries: 0 };
    const behind = this.#waiting.get(jobOf(evaluation));
    if (behind === undefined) {
      this.#waiting.set(jobOf(evaluation), []);
      this.#makeReady(entry);
    } else {
      behind.push(entry);
    }
  }

  /** Whether an evaluation of the job is out, ready or delayed. */
  isBusyWith(evaluation: Pick<Brokered, 'Namespace' | 'JobID'>): boolean {
    return this.#waiting.has(jobOf(evaluation));
  }

  /** The next evaluation, or `undefined` when none is ready. */
  take(): Delivery<E> | undefined {
    const entry = this.#ready.pop();
    if (entry === undefined) return undefined;
    entry.deliveries++;
    let settled = false;
    const once = <T>(then: () => T, otherwise: T): T => {
      if (settled) return otherwise;
      settled = true;
      return then();
    };
    return {
      evaluation: entry.evaluation,
      ack: () => once(() => this.#next(entry), []),
      nack: () => once(() => this.#redeliver(entry), undefined),
    };
  }

  /** Calls `wake` once, as soon as an evaluation is ready. One waiter at a time. */
  whenReady(wake: () => void): void {
    if (this.#ready.size > 0) wake();
    else this.#wake = wake;
  }

  /** Forgets everything, as a server does that no longer leads. */
  clear(): void {
    for (const timer of this.#delayed) timer.clear();
    this.#delayed.clear();
    while (this.#ready.pop() !== undefined);
    this.#known.clear();
    this.#waiting.clear();
    this.#wake = undefined;
  }

  #makeReady(entry: Entry<E>): void {
    this.#ready.push(entry);
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #next(done: Entry<E>): readonly E[] {
    const job = jobOf(done.evaluation);
    this.#known.delete(done.evaluation.ID);
    const behind = this.#waiting.get(job) ?? [];
    if (behind.length === 0) {
      this.#waiting.delete(job);
      return [];
    }
    behind.sort(
      (left, right) =>
        right.evaluation.Priority - left.evaluation.Priority ||
        right.evaluation.CreateIndex - left.evaluation.CreateIndex,
    );
    const [next, ...older] = behind;
    this.#waiting.set(job, []);
    for (const entry of older) this.#known.delete(entry.evaluation.ID);
    this.#makeReady(next!);
    return older.map((entry) => entry.evaluation);
  }

  #redeliver(entry: Entry<E>): void {
    if (entry.deliveries >= this.#limits.deliveriesMax) {
      this.#giveUp(entry.evaluation, this.#next(entry));
      return;
    }
    const { firstNackMs, nackStepMs } = this.#limits;
    const delayMs = entry.deliveries === 1 ? firstNackMs : nackStepMs * (entry.deliveries - 1);
    const timer = this.#timers.after(delayMs, () => {
      this.#delayed.delete(timer);
      this.#makeReady(entry);
    });
    this.#delayed.add(timer);
  }
}

const jobOf = (evaluation: Pick<Brokered, 'Namespace' | 'JobID'>): string =>
  `${evaluation.Namespace}\0${evaluation.JobID}`;
