/**
 * The processor of a server's machine: work takes time, and other events run between two slices of work.
 *
 * 1. Its clock never goes back. It is at most `aheadMaxMs` ahead of the world's clock, and never behind.
 * 2. Slices run in the order in which they were requested.
 */
import type { Clock, Random, Timer, Timers } from '../src/base/ports.ts';

/** The speed of the processor. */
export interface Pace {
  /** Time between two readings of the clock. */
  readonly workMs: number;
  /** Longest wait for a slice. */
  readonly turnMaxMs: number;
}

export const usualPace: Pace = { workMs: 0.3, turnMaxMs: 10 };

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
