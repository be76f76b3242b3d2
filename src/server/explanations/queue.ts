import type { Clock, Timers } from '../../base/ports.ts';
import type { Steps } from '../../base/steps.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

/**
 * Makes explanations one after the other, in slices: each may look at every node and all that is
 * there, and none of them is more urgent than the requests and decisions that go on beside it.
 */
export class ExplanationQueue {
  readonly #clock: Clock;
  readonly #timers: Timers;
  #size = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ clock, timers }: { readonly clock: Clock; readonly timers: Timers }) {
    this.#clock = clock;
    this.#timers = timers;
  }

  /**
   * `begin` is called when its turn comes. Resolves with `undefined` when `signal` aborted before
   * the end. @throws RosterError `too-many-explanations`
   */
  async run<T>(begin: () => Steps<T>, signal: AbortSignal): Promise<T | undefined> {
    const { explanationsMax: limit } = limits.scheduler;
    if (this.#size >= limit) throw refusal('too-many-explanations', { limit });
    this.#size++;
    const turn = this.#last
      .then(() => (signal.aborted ? undefined : this.#inSlices(begin(), signal)))
      .finally(() => this.#size--);
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #inSlices<T>(steps: Steps<T>, signal: AbortSignal): Promise<T | undefined> {
    for (;;) {
      const endMs = this.#clock.monotonicMs() + limits.scheduler.sliceMs;
      for (let step = 0; step < limits.scheduler.sliceSteps; step++) {
        const { done, value } = steps.next();
        if (done) return value;
        if (this.#clock.monotonicMs() >= endMs) break;
      }
      await new Promise<void>((resolve) => this.#timers.soon(resolve));
      if (!signal.aborted) continue;
      steps.return(undefined as never);
      return undefined;
    }
  }
}
