/** The real world with a clock that a test sets forward. Timers that were due until then run at once. */
import type { Timer, Timers, World } from '../../src/base/ports.ts';
import { realWorld } from '../../src/base/ports-real.ts';

interface Pending {
  readonly dueMs: number;
  readonly run: () => void;
  timer: Timer;
}

export class JumpingWorld {
  readonly #pending = new Set<Pending>();
  #aheadMs = 0;

  get world(): World {
    const { clock, timers } = realWorld;
    return {
      ...realWorld,
      clock: {
        ...clock,
        nowMs: () => clock.nowMs() + this.#aheadMs,
        monotonicMs: () => clock.monotonicMs() + this.#aheadMs,
      },
      timers: {
        after: (delayMs, run) => this.#runAfter(delayMs, run),
        soon: (run) => timers.soon(run),
        unhurried: (run) => timers.unhurried(run),
      } satisfies Timers,
    };
  }

  jump(byMs: number): void {
    this.#aheadMs += byMs;
    for (const pending of [...this.#pending]) {
      pending.timer.clear();
      this.#begin(pending);
    }
  }

  #runAfter(delayMs: number, run: () => void): Timer {
    const dueMs = realWorld.clock.monotonicMs() + this.#aheadMs + delayMs;
    const pending: Pending = { dueMs, run, timer: { clear: () => {} } };
    this.#pending.add(pending);
    this.#begin(pending);
    return {
      clear: () => {
        this.#pending.delete(pending);
        pending.timer.clear();
      },
    };
  }

  #begin(pending: Pending): void {
    const leftMs = pending.dueMs - realWorld.clock.monotonicMs() - this.#aheadMs;
    pending.timer = realWorld.timers.after(Math.max(0, leftMs), () => {
      this.#pending.delete(pending);
      pending.run();
    });
  }
}
