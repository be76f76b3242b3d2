import type { Clock, Timers } from '../base/ports.ts';
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
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #options: SlicedQueueOptions;
  #size = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
    options: SlicedQueueOptions,
  ) {
    this.#clock = clock;
    this.#timers = timers;
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
      .then(() => (signal?.aborted ? undefined : this.#inSlices(begin, signal)))
      .finally(() => this.#size--);
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #inSlices<T>(
    begin: (elapsedNs: ElapsedNs) => Steps<T>,
    signal: AbortSignal | undefined,
  ): Promise<T | undefined> {
    let startMs = this.#clock.monotonicMs();
    let workedMs = 0;
    const elapsedMs = () => workedMs + this.#clock.monotonicMs() - startMs;
    const steps = begin(() => Math.round(elapsedMs() * 1e6));
    for (;;) {
      const endMs = startMs + limits.scheduler.sliceMs;
      for (let step = 0; step < limits.scheduler.sliceSteps; step++) {
        const { done, value } = steps.next();
        if (done) return value;
        if (this.#clock.monotonicMs() >= endMs) break;
      }
      workedMs = elapsedMs();
      await new Promise<void>((resolve) => this.#timers.soon(resolve));
      startMs = this.#clock.monotonicMs();
      if (!signal?.aborted) continue;
      steps.return(undefined as never);
      return undefined;
    }
  }
}
