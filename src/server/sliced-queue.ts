import type { World } from '../base/ports.ts';
import { inSlices, WorkTime } from '../base/slices.ts';
import type { Steps } from '../base/steps.ts';
import type { RosterError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

export interface SlicedQueueOptions {
  /** Pieces of work that wait or are under way. */
  readonly sizeMax: number;
  /** The refusal of a piece of work when the queue is full. */
  readonly full: (sizeMax: number) => RosterError;
}

/** Nanoseconds spent on one piece of work, pauses left out. */
export type ElapsedNs = () => number;

/**
 * Does pieces of work one after the other, in slices. Each piece may look at every node, and none
 * is more urgent than the requests and decisions beside it.
 */
export class SlicedQueue {
  readonly #world: Pick<World, 'clock' | 'timers'>;
  readonly #options: SlicedQueueOptions;
  #size = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(world: Pick<World, 'clock' | 'timers'>, options: SlicedQueueOptions) {
    this.#world = world;
    this.#options = options;
  }

  /**
   * `begin` is called when its turn comes. Resolves with `undefined` if `signal` aborts before the
   * end.
   * @throws RosterError when the queue is full
   */
  async run<T>(
    begin: (elapsedNs: ElapsedNs) => Steps<T>,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    return this.#enqueue(begin, signal);
  }

  /** Work that cannot be called off. */
  async finish<T>(begin: (elapsedNs: ElapsedNs) => Steps<T>): Promise<T> {
    return (await this.#enqueue(begin, undefined)) as T;
  }

  async #enqueue<T>(begin: (elapsedNs: ElapsedNs) => Steps<T>, signal: AbortSignal | undefined) {
    const { sizeMax, full } = this.#options;
    if (this.#size >= sizeMax) throw full(sizeMax);
    this.#size++;
    const turn = this.#last
      .then(() => (signal?.aborted ? undefined : this.#run(begin, signal)))
      .finally(() => this.#size--);
    this.#last = turn.catch(() => {});
    return turn;
  }

  #run<T>(begin: (elapsedNs: ElapsedNs) => Steps<T>, signal: AbortSignal | undefined) {
    const { clock, timers } = this.#world;
    const time = new WorkTime(clock, limits.scheduler);
    const steps = begin(() => time.elapsedNs());
    return inSlices(steps, time.take, timers, signal);
  }
}
