import type { Timer, World } from '../base/ports.ts';
import { type Step, takeSlice } from '../base/slices.ts';
import type { Steps } from '../base/steps.ts';
import { limits } from '../model/limits.ts';

/** What steps came to; `undefined`: they were given up. */
export type Taken<T> = { readonly value: T } | undefined;

/**
 * How requests do long work without holding up the others.
 *
 * Invariants
 *  T1. Between two turns everything goes first that is ready: requests, commits, timers.
 *  T2. Whoever has long work takes turns with all others who have, however many they are.
 */
export class Turns {
  readonly #world: Pick<World, 'clock' | 'timers'>;
  readonly #waiting: (() => void)[] = [];
  #next: Timer | undefined;

  constructor(world: Pick<World, 'clock' | 'timers'>) {
    this.#world = world;
  }

  /**
   * Waits for a turn of `limits.list.sliceMs` and takes steps in it. Resolves with whether the last
   * one was among them. Rejects with what a step throws.
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
      this.#soon();
    });
  }

  /** Takes steps here and now, for as long as that holds up nobody. */
  begin(step: Step): boolean {
    return takeSlice(step, this.#world.clock, { sliceMs: limits.list.atOnceMs });
  }

  /**
   * Takes all of the steps: at once where they are quickly taken, without a promise, and in turns
   * where there is more to do. With `isGone`, nothing more is done once that is so, and the promise
   * is of `undefined`.
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

  /** The same for what nobody calls off. */
  async finish<T>(steps: Steps<T>): Promise<T> {
    return (await this.through(steps))!.value;
  }

  #soon(): void {
    this.#next ??= this.#world.timers.soon(() => {
      this.#next = undefined;
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#soon();
    });
  }
}
