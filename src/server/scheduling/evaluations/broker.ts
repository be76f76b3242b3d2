import { Heap } from '../../../base/heap.ts';
import type { Timer, Timers } from '../../../base/ports.ts';

/** The fields of an evaluation that the broker uses. */
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
  /**
   * The evaluation is decided: the job's next one may go. Returns evaluations that it made
   * superfluous.
   */
  readonly ack: () => readonly E[];
  /**
   * The evaluation was not decided: unless it has ended, it comes again later. Returns evaluations
   * made superfluous.
   */
  readonly nack: () => readonly E[];
}

type BrokerPlace = 'waiting' | 'ready' | 'out' | 'delayed';

interface Entry<E> {
  readonly evaluation: E;
  deliveries: number;
  place: BrokerPlace;
  /** The evaluation has ended otherwise than by its decision, and is not handed out any more. */
  isOver: boolean;
  /** The timer of the delay. */
  timer: Timer | undefined;
}

/**
 * Hands out pending evaluations to workers.
 *
 * Invariants
 *  B1. At most one evaluation of a job is out at a time; its other evaluations wait behind it.
 *  B2. Of the ready evaluations the one with the highest priority goes first, then the oldest.
 *  B3. When an evaluation of a job is decided, the job's waiting one with the highest priority, then
 *      the newest, is next. Waiting evaluations that are older than that one are superfluous: it sees
 *      everything they saw. Newer ones go on waiting, whatever their priority: they may be about
 *      something that has yet to be done, as after a purge.
 *  B4. An evaluation is out, ready, waiting or delayed, and only one of these. Queueing it again does
 *      nothing.
 *  B5. After `deliveriesMax` deliveries without an ack it is given to `giveUp` instead.
 *  B6. An evaluation that has ended is never handed out, and makes no other superfluous.
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
  /** All evaluations by id. */
  readonly #known = new Map<string, Entry<E>>();
  /**
   * Jobs with an evaluation that is ready, out or delayed, and the evaluations that wait behind it.
   */
  readonly #waiting = new Map<string, Entry<E>[]>();
  readonly #counts: Record<BrokerPlace, number> = { waiting: 0, ready: 0, out: 0, delayed: 0 };
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

  /** The number of evaluations, in whatever place. */
  get size(): number {
    return this.#known.size;
  }

  /** The number of evaluations in each place. */
  get counts(): Readonly<Record<BrokerPlace, number>> {
    return { ...this.#counts };
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
    this.#counts.waiting++;
    const behind = this.#waiting.get(jobOf(evaluation));
    if (behind === undefined) {
      this.#waiting.set(jobOf(evaluation), []);
      this.#makeReady(entry);
    } else {
      behind.push(entry);
    }
  }

  /**
   * These evaluations have ended, all at the same moment, as when their job is purged. An
   * evaluation that is out stays so until its delivery is settled; a ready one is replaced by the
   * next of its job. Returns evaluations made superfluous.
   */
  end(over: readonly Pick<E, 'ID'>[]): readonly E[] {
    const ended = over.flatMap(({ ID }) => this.#known.get(ID) ?? []);
    for (const entry of ended) entry.isOver = true;
    for (const entry of ended) if (entry.place === 'waiting') this.#leaveQueue(entry);
    return ended.flatMap((entry) =>
      entry.place === 'ready' || entry.place === 'delayed' ? this.#next(entry) : [],
    );
  }

  /** Whether an evaluation of the job is out, ready or delayed. */
  isBusyWith(evaluation: Pick<Brokered, 'Namespace' | 'JobID'>): boolean {
    return this.#waiting.has(jobOf(evaluation));
  }

  /** `undefined`: no evaluation is ready. */
  take(): Delivery<E> | undefined {
    const entry = this.#popReady();
    if (entry === undefined) return undefined;
    this.#moveEntry(entry, 'out');
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

  /** Calls `wake` once, as soon as an evaluation is ready. There is one waiter at a time. */
  whenReady(wake: () => void): void {
    this.#wake = wake;
    if (this.#ready.size > 0) this.#awaken();
  }

  /** Forgets everything, when this server no longer leads. */
  clear(): void {
    for (const { timer } of this.#known.values()) timer?.clear();
    while (this.#ready.pop() !== undefined);
    this.#known.clear();
    Object.assign(this.#counts, { waiting: 0, ready: 0, out: 0, delayed: 0 });
    this.#waiting.clear();
    this.#wake = undefined;
  }

  #moveEntry(entry: Entry<E>, place: BrokerPlace): void {
    this.#counts[entry.place]--;
    this.#counts[place]++;
    entry.place = place;
  }

  #forgetEntry({ evaluation, place }: Entry<E>): void {
    if (this.#known.delete(evaluation.ID)) this.#counts[place]--;
  }

  #makeReady(entry: Entry<E>): void {
    this.#moveEntry(entry, 'ready');
    this.#ready.push(entry);
    this.#awaken();
  }

  #awaken(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** Ended evaluations are left in the heap until they come to its top. */
  #popReady(): Entry<E> | undefined {
    let entry = this.#ready.pop();
    while (entry?.isOver === true) entry = this.#ready.pop();
    return entry;
  }

  /** Takes the evaluation out of those that wait. */
  #leaveQueue(entry: Entry<E>): void {
    const job = jobOf(entry.evaluation);
    this.#forgetEntry(entry);
    const others = this.#waiting.get(job)!.filter((other) => other !== entry);
    this.#waiting.set(job, others);
  }

  /** Makes the job's next evaluation ready, now that this one is done. */
  #next(done: Entry<E>): readonly E[] {
    const job = jobOf(done.evaluation);
    done.timer?.clear();
    this.#forgetEntry(done);
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
    for (const entry of superfluous) this.#forgetEntry(entry);
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
    this.#moveEntry(entry, 'delayed');
    entry.timer = this.#timers.after(delayMs, () => {
      entry.timer = undefined;
      this.#makeReady(entry);
    });
    return [];
  }
}

/** The higher priority, then the newer evaluation. */
const goesBefore = (left: Brokered, right: Brokered): boolean =>
  left.Priority === right.Priority
    ? left.CreateIndex > right.CreateIndex
    : left.Priority > right.Priority;

const jobOf = (evaluation: Pick<Brokered, 'Namespace' | 'JobID'>): string =>
  `${evaluation.Namespace}\0${evaluation.JobID}`;
