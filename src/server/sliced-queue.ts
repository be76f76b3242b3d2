import type { World } from '../base/ports.ts';
import { Slices } from '../base/slices.ts';
import type { Steps } from '../base/steps.ts';
import type { RosterError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

export interface SlicedQueueOptions {
  /** Pieces of work that wait or are under way. */
  readonly sizeMax: number;
  /** What whoever comes when there are more is told. */
  readonly full: (sizeMax: number) => RosterError;
}

/** Nanoseconds of work on one piece, what others do between two slices left out. */
export type ElapsedNs = () => number;

/**
 * Does pieces of work one after the other, in slices: each may look at every node and all that is
 * there, and none of them is more urgent than the requests and decisions that go on beside it.
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
   * `begin` is called when its turn comes. Resolves with `undefined` when `signal` aborted before
   * the end. @throws RosterError when the queue is full
   */
  async run<T>(
    begin: (elapsedNs: ElapsedNs) => Steps<T>,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    return this.#enqueue(begin, signal);
  }

  /** The same for what nobody calls off. */
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
    const slices = new Slices(this.#world, limits.scheduler);
    return slices.run(
      begin(() => slices.elapsedNs()),
      signal,
    );
  }
}
