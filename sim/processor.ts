/**
 * The processor of the server's machine: work takes time there, and what comes in meanwhile has its
 * turn between two slices of it.
 *
 * 1. Its clock never goes back, is never behind the world's, and never ahead of it for long.
 * 2. Turns come in the order in which they were asked for.
 */
import type { Clock, Random, Timer, Timers } from '../src/base/ports.ts';

/** How slow it is. */
export interface Pace {
  /** Milliseconds that pass between two looks at the clock. */
  readonly workMs: number;
  /** The longest that a turn is waited for, in milliseconds. */
  readonly turnMaxMs: number;
}

export const usualPace: Pace = { workMs: 0.3, turnMaxMs: 10 };

/** However much is done in one turn. */
const aheadMaxMs = 50;

export class Processor {
  pace = usualPace;
  readonly #random: Random;
  #lastMs = 0;
  #turnDueMs = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  clockOver(base: Clock): Clock {
    return {
      nowMs: () => base.nowMs(),
      monotonicMs: () => {
        const nowMs = base.monotonicMs();
        const workedMs = Math.min(this.#lastMs + this.pace.workMs, nowMs + aheadMaxMs);
        this.#lastMs = Math.max(nowMs, workedMs, this.#lastMs);
        return this.#lastMs;
      },
    };
  }

  timersOver(base: Timers, clock: Clock): Timers {
    const soon = (run: () => void): Timer => {
      const nowMs = clock.monotonicMs();
      const dueMs = nowMs + this.#random.fraction() * this.pace.turnMaxMs;
      this.#turnDueMs = Math.max(this.#turnDueMs, dueMs);
      return base.after(this.#turnDueMs - nowMs, run);
    };
    return { after: (delayMs, run) => base.after(delayMs, run), soon, unhurried: soon };
  }
}
