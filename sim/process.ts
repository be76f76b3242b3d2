/**
 * A simulated program. It has a world of its own, which dies with it.
 *
 * 1. After `kill` none of its timers runs and no message reaches it.
 * 2. While it is frozen, timers and messages wait in order. They are delivered when it thaws.
 */
import type { Clock, Timer, World } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';

export class Process {
  readonly world: World;
  readonly #waiting: (() => void)[] = [];
  readonly #onDeath = new Set<() => void>();
  readonly #base: SimulatedWorld;
  #isAlive = true;
  #isFrozen = false;
  #thawedMs = Number.NEGATIVE_INFINITY;

  /** @param clock clock of its machine */
  constructor(base: SimulatedWorld, clock: Clock = base.clock) {
    this.#base = base;
    this.world = {
      clock,
      processor: base.processor,
      random: base.random,
      ids: base.ids,
      secrets: base.secrets,
      timers: {
        after: (delayMs, run) => this.#setTimer((fire) => base.timers.after(delayMs, fire), run),
        soon: (run) => this.#setTimer((fire) => base.timers.soon(fire), run),
        unhurried: (run) => this.#setTimer((fire) => base.timers.unhurried(fire), run),
      },
    };
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** Time since it was frozen last. */
  get awakeMs(): number {
    return this.#isFrozen ? 0 : this.#base.clock.monotonicMs() - this.#thawedMs;
  }

  /** Delivers a message or a timer. */
  post(run: () => void): void {
    if (!this.#isAlive) return;
    if (this.#isFrozen) this.#waiting.push(run);
    else run();
  }

  /** Calls `run` when the process dies, unless the result was called before. */
  onDeath(run: () => void): () => void {
    this.#onDeath.add(run);
    return () => this.#onDeath.delete(run);
  }

  kill(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#waiting.length = 0;
    for (const run of [...this.#onDeath]) run();
    this.#onDeath.clear();
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    if (!this.#isFrozen) return;
    this.#isFrozen = false;
    this.#thawedMs = this.#base.clock.monotonicMs();
    for (const run of this.#waiting.splice(0)) this.#base.timers.soon(() => this.post(run));
  }

  /** A timer that is cleared while its process is frozen does not run when that thaws. */
  #setTimer(set: (fire: () => void) => Timer, run: () => void): Timer {
    let isCleared = false;
    const fire = () => {
      if (!isCleared) run();
    };
    const timer = set(() => this.post(fire));
    return {
      clear: () => {
        isCleared = true;
        timer.clear();
      },
    };
  }
}

/** The clock of a machine. Its wall time may be wrong, and run fast or slow. */
export class MachineClock implements Clock {
  readonly #base: Clock;
  #offsetMs = 0;
  #rate = 1;
  #sinceMs = 0;

  constructor(base: Clock) {
    this.#base = base;
  }

  nowMs(): number {
    return this.#base.nowMs() + this.#offsetMs + this.#driftMs;
  }

  monotonicMs(): number {
    return this.#base.monotonicMs();
  }

  /** Sets the wall clock forward or back. */
  jump(byMs: number): void {
    this.#offsetMs += byMs;
  }

  /** From now on the wall clock runs at this rate. */
  run(rate: number): void {
    this.#offsetMs += this.#driftMs;
    this.#sinceMs = this.#base.monotonicMs();
    this.#rate = rate;
  }

  /** Sets the wall clock right. */
  mend(): void {
    this.#offsetMs = 0;
    this.#rate = 1;
  }

  get #driftMs(): number {
    return Math.floor((this.#rate - 1) * (this.#base.monotonicMs() - this.#sinceMs));
  }
}
