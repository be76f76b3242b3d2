import { assert } from './assert.ts';
import { Heap } from './heap.ts';
import type { Random, Timer, World } from './ports.ts';
import { hashing } from './ports-real.ts';

interface PendingTimer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
  cleared: boolean;
}

/**
 * A world in which only `advance` lets time pass, and random numbers are a function of the seed.
 *
 * Invariants
 *  S1. Timers run in the order of their due times. Timers with the same due time run in the order in
 *      which they were set.
 *  S2. While a timer runs, `nowMs` and `monotonicMs` show its due time.
 *  S3. The same seed and the same calls give the same values.
 */
export class SimulatedWorld implements World {
  readonly clock: World['clock'];
  /** Work takes no time. */
  readonly processor: World['processor'] = { usedMs: () => 0 };
  readonly timers: World['timers'];
  readonly random: Random;
  readonly ids: World['ids'];
  readonly secrets: World['secrets'];

  #elapsedMs = 0;
  #wallMs: number;
  #order = 0;
  readonly #pending = new Heap<PendingTimer>(
    (left, right) => left.dueMs - right.dueMs || left.order - right.order,
  );

  constructor(seed: number, startMs = Date.UTC(2026, 0, 1)) {
    this.#wallMs = startMs;
    this.clock = {
      nowMs: () => Math.floor(this.#wallMs + this.#elapsedMs),
      monotonicMs: () => this.#elapsedMs,
    };
    this.timers = {
      after: (delayMs, run) => this.#addTimer(Math.max(delayMs, 0), run),
      soon: (run) => this.#addTimer(0, run),
      unhurried: (run) => this.#addTimer(0, run),
    };
    this.random = seededRandom(seed);
    this.ids = uuids(seededRandom(seed ^ 0x1d5));
    const secretRandom = seededRandom(seed ^ 0x5ec);
    this.secrets = {
      uuid: uuids(secretRandom).uuid,
      bytes: (count) => Uint8Array.from({ length: count }, () => secretRandom.below(256)),
      ...hashing,
    };
  }

  /** Number of timers that were set, and neither ran nor were cleared. */
  get pendingTimers(): number {
    return this.#pending.count((timer) => !timer.cleared);
  }

  /** When the next timer is due, by `monotonicMs`; `Infinity` if none is set. */
  nextDueMs(): number {
    while (this.#pending.peek()?.cleared === true) this.#pending.pop();
    return this.#pending.peek()?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  /** Moves only the wall clock, as a correction of the machine's clock does. */
  jumpWallClock(byMs: number): void {
    this.#wallMs += byMs;
  }

  /**
   * Lets `durationMs` pass: runs every timer that comes due, and between two timers all promises that
   * are ready.
   */
  advance(durationMs: number): Promise<void> {
    return this.advanceTo(this.#elapsedMs + durationMs);
  }

  /** As `advance`, until `monotonicMs` is the given time. */
  async advanceTo(endMs: number): Promise<void> {
    await turns(() => this.#runNext(endMs));
    this.#elapsedMs = endMs;
  }

  /** Runs the next timer. Returns `false` if none is due until then. */
  #runNext(endMs: number): boolean {
    for (;;) {
      const next = this.#pending.peek();
      if (next === undefined || next.dueMs > endMs) return false;
      this.#pending.pop();
      if (next.cleared) continue;
      assert(next.dueMs >= this.#elapsedMs, 'simulated time never goes back');
      this.#elapsedMs = next.dueMs;
      next.cleared = true;
      next.run();
      return true;
    }
  }

  #addTimer(delayMs: number, run: () => void): Timer {
    const timer = { dueMs: this.#elapsedMs + delayMs, order: this.#order++, run, cleared: false };
    this.#pending.push(timer);
    return {
      clear: () => {
        timer.cleared = true;
      },
    };
  }
}

/** Number of turns that are queued together: a round of the event loop costs more than most turns. */
const turnsQueued = 32;

/**
 * Calls `next` until it returns `false`. Before each call, every promise chain that is ready runs until
 * it waits, however long it is: between two macrotasks the whole microtask queue is drained. Rejects
 * with the error of `next`.
 */
function turns(next: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const turn = () => {
      if (isOver) return;
      try {
        if (next()) return;
        resolve();
      } catch (error) {
        reject(error);
      }
      isOver = true;
    };
    const round = () => {
      if (isOver) return;
      for (let queued = 0; queued < turnsQueued; queued++) setImmediate(turn);
      setImmediate(round);
    };
    round();
  });
}

/** Mulberry32: small, fast, and good enough for simulation. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    fraction: () => next() / 2 ** 32,
    below: (bound) => Math.floor((next() / 2 ** 32) * bound),
  };
}

function uuids(random: Random): { uuid(): string } {
  const hex = (digits: number): string => {
    let text = '';
    while (text.length < digits) text += random.below(16).toString(16);
    return text;
  };
  return {
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-${'89ab'[random.below(4)]}${hex(3)}-${hex(12)}`,
  };
}
