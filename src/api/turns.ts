import type { Timer, World } from '../base/ports.ts';
import { type Step, takeSlice } from '../base/slices.ts';
import type { Steps } from '../base/steps.ts';
import { limits } from '../model/limits.ts';

/** The result of a task; `undefined`: it was abandoned. */
export type Taken<T> = { readonly value: T } | undefined;

/**
 * Long tasks of requests, without delay for other requests.
 *
 * Invariants
 *  T1. Between two turns, all ready work goes first: requests, commits, timers.
 *  T2. Long tasks take turns, regardless of their number.
 */
export class Turns {
  readonly #world: Pick<World, 'clock' | 'timers'>;
  readonly #waiting: (() => void)[] = [];
  #next: Timer | undefined;

  constructor(world: Pick<World, 'clock' | 'timers'>) {
    this.#world = world;
  }

  /**
   * Waits for a turn of `limits.list.sliceMs` and takes steps in it. Resolves with `true` after the
   * last step. Rejects with the exception of a step.
   */
  take(step: Step): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(takeSlice(step, this.#world.clock, limits.list));
        } catch (error) {
          reject(error);
        }
      });
      this.#scheduleTurn();
    });
  }

  /** Takes steps now, up to `limits.list.atOnceMs`. `true`: the last step was taken. */
  begin(step: Step): boolean {
    return takeSlice(step, this.#world.clock, { sliceMs: limits.list.atOnceMs });
  }

  /**
   * Takes all steps: at once and without a promise if they are short, else in turns. When `isGone`
   * returns true, no more steps are taken and the result is `undefined`.
   */
  through<T>(steps: Steps<T>, isGone: () => boolean = () => false): Taken<T> | Promise<Taken<T>> {
    let taken: Taken<T>;
    const step: Step = () => {
      if (isGone()) return true;
      const { done, value } = steps.next();
      if (done) taken = { value };
      return done === true;
    };
    if (this.begin(step)) return taken;
    return (async () => {
      while (!(await this.take(step)));
      return taken;
    })();
  }

  /** As `through`, for tasks that are never abandoned. */
  async finish<T>(steps: Steps<T>): Promise<T> {
    return (await this.through(steps))!.value;
  }

  #scheduleTurn(): void {
    this.#next ??= this.#world.timers.soon(() => {
      this.#next = undefined;
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#scheduleTurn();
    });
  }
}
