import { Heap } from '../../../base/heap.ts';
import type { Timer, Timers } from '../../../base/ports.ts';

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
  /** It was not done: it comes again, later, unless it is over. Names those that this made superfluous. */
  readonly nack: () => readonly E[];
}

interface Entry<E> {
  readonly evaluation: E;
  deliveries: number;
  place: 'waiting' | 'ready' | 'out' | 'delayed';
  /** Ended by something else than its decision: it is not handed out any more. */
  isOver: boolean;
  /** Of the delay. */
  timer: Timer | undefined;
}

/**
 * Hands out pending evaluations to schedulers.
 *
 * Invariants
 *  B1. At most one evaluation of a job is out at a time; the others of that job wait behind it.
 *  B2. Among those that are ready, the one with the highest priority goes first; equal ones in the
 *      order in which they were created.
 *  B3. When an evaluation of a job is done, the one with the highest priority (then the newest)
 *      among those that wait is next. Those that were created before it are superfluous: it sees all
 *      they saw. Those that came after it go on waiting, whatever their priority: what they are
 *      for may be all that is left to do when their time comes, as after a purge.
 *  B4. An evaluation is out, ready, waiting or delayed, never two of these; queueing it again does
 *      nothing.
 *  B5. After `deliveriesMax` deliveries without an ack it is given to `giveUp` instead.
 *  B6. One that is over is never handed out, and makes no other superfluous.
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
  /** By the id of the evaluation, wherever it is. */
  readonly #known = new Map<string, Entry<E>>();
  /** Jobs with an evaluation that is ready, out or delayed, and those that wait behind it. */
  readonly #waiting = new Map<string, Entry<E>[]>();
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
    const counts = { waiting: 0, ready: 0, out: 0, delayed: 0 };
    for (const { place } of this.#known.values()) counts[place]++;
    const { ready, waiting, delayed } = counts;
    return { ready, waiting, delayed, known: this.#known.size };
  }

  enqueue(evaluation: E): void {
    if (this.#known.has(evaluation.ID)) return;
    const entry: Entry<E> = {
      evaluation,
      deliveries: 0,
      place: 'waiting',
      isOver: false,
      timer: undefined,
    };
    this.#known.set(evaluation.ID, entry);
    const behind = this.#waiting.get(jobOf(evaluation));
    if (behind === undefined) {
      this.#waiting.set(jobOf(evaluation), []);
      this.#makeReady(entry);
    } else {
      behind.push(entry);
    }
  }

  /**
   * These are over, all at the same moment, as when their job is purged. Those that are out stay so
   * until their delivery is settled; in the place of one that was ready, the next of its job goes.
   * Names those that this made superfluous.
   */
  end(over: readonly Pick<E, 'ID'>[]): readonly E[] {
    const ended = over.flatMap(({ ID }) => this.#known.get(ID) ?? []);
    for (const entry of ended) entry.isOver = true;
    for (const entry of ended) if (entry.place === 'waiting') this.#leave(entry);
    return ended.flatMap((entry) =>
      entry.place === 'ready' || entry.place === 'delayed' ? this.#next(entry) : [],
    );
  }

  /** Whether an evaluation of the job is out, ready or delayed. */
  isBusyWith(evaluation: Pick<Brokered, 'Namespace' | 'JobID'>): boolean {
    return this.#waiting.has(jobOf(evaluation));
  }

  /** The next evaluation, or `undefined` when none is ready. */
  take(): Delivery<E> | undefined {
    const entry = this.#popReady();
    if (entry === undefined) return undefined;
    entry.place = 'out';
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
      nack: () => once(() => this.#redeliver(entry), []),
    };
  }

  /** Calls `wake` once, as soon as an evaluation is ready. One waiter at a time. */
  whenReady(wake: () => void): void {
    this.#wake = wake;
    if (this.#ready.size > 0) this.#awaken();
  }

  /** Forgets everything, as a server does that no longer leads. */
  clear(): void {
    for (const { timer } of this.#known.values()) timer?.clear();
    while (this.#ready.pop() !== undefined);
    this.#known.clear();
    this.#waiting.clear();
    this.#wake = undefined;
  }

  #makeReady(entry: Entry<E>): void {
    entry.place = 'ready';
    this.#ready.push(entry);
    this.#awaken();
  }

  #awaken(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** Those that are over were left among the ready ones. */
  #popReady(): Entry<E> | undefined {
    let entry = this.#ready.pop();
    while (entry?.isOver === true) entry = this.#ready.pop();
    return entry;
  }

  /** It waits no longer. */
  #leave(entry: Entry<E>): void {
    const job = jobOf(entry.evaluation);
    this.#known.delete(entry.evaluation.ID);
    const others = this.#waiting.get(job)!.filter((other) => other !== entry);
    this.#waiting.set(job, others);
  }

  /** The job's next one goes, now that this one is done with. */
  #next(done: Entry<E>): readonly E[] {
    const job = jobOf(done.evaluation);
    done.timer?.clear();
    this.#known.delete(done.evaluation.ID);
    const behind = this.#waiting.get(job) ?? [];
    if (behind.length === 0) {
      this.#waiting.delete(job);
      return [];
    }
    const next = behind.reduce((first, entry) =>
      goesBefore(entry.evaluation, first.evaluation) ? entry : first,
    );
    const { CreateIndex } = next.evaluation;
    const isNewer = ({ evaluation }: Entry<E>) => evaluation.CreateIndex > CreateIndex;
    const superfluous = behind.filter((entry) => entry !== next && !isNewer(entry));
    for (const { evaluation } of superfluous) this.#known.delete(evaluation.ID);
    this.#waiting.set(job, behind.filter(isNewer));
    this.#makeReady(next);
    return superfluous.map(({ evaluation }) => evaluation);
  }

  #redeliver(entry: Entry<E>): readonly E[] {
    if (entry.isOver) return this.#next(entry);
    if (entry.deliveries >= this.#limits.deliveriesMax) {
      this.#giveUp(entry.evaluation, this.#next(entry));
      return [];
    }
    const { firstNackMs, nackStepMs } = this.#limits;
    const delayMs = entry.deliveries === 1 ? firstNackMs : nackStepMs * (entry.deliveries - 1);
    entry.place = 'delayed';
    entry.timer = this.#timers.after(delayMs, () => {
      entry.timer = undefined;
      this.#makeReady(entry);
    });
    return [];
  }
}

/** Of two that wait: the higher priority, then the newer one. */
const goesBefore = (left: Brokered, right: Brokered): boolean =>
  left.Priority === right.Priority
    ? left.CreateIndex > right.CreateIndex
    : left.Priority > right.Priority;

const jobOf = (evaluation: Pick<Brokered, 'Namespace' | 'JobID'>): string =>
  `${evaluation.Namespace}\0${evaluation.JobID}`;
