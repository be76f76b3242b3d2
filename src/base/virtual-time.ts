/**
 * Time that passes only when it is told to, for a program that runs inside a test.
 *
 * Invariants
 *  V1. Work that takes no time is done by itself, also while nobody advances the time.
 *  V2. Time passes only in `advance` and `advanceUntil`, from the due time of one timer to that of the next.
 *  V3. Both begin with all work done that is ready, and end so.
 */
import { durationMs, parseDuration } from './duration.ts';
import { virtualTimeLimits } from './limits.ts';
import type { Clock, Timers, World } from './ports.ts';
import { SimulatedWorld } from './ports-simulated.ts';

/** `"1m"`, `"1h30m"`, or milliseconds. */
export type TimeSpan = string | number;

/** The time in a virtual world, as its tests see it. */
export interface VirtualClock extends Clock {
  /** Lets the time pass, with everything that happens in it. */
  advance(time: TimeSpan): Promise<void>;
  /**
   * Lets time pass until the promise settles, and settles as it does. Rejects when that takes longer than
   * `atMost`, by default an hour.
   */
  advanceUntil<T>(happens: Promise<T>, atMost?: TimeSpan): Promise<T>;
}

export class VirtualTime implements VirtualClock {
  /** The ports of the program. */
  readonly world: World;
  readonly #world: SimulatedWorld;
  /** Moves of the time follow each other. */
  #last: Promise<unknown> = Promise.resolve();
  /** The number of moves that wait or are under way. */
  #moves = 0;

  constructor(seed: number, startMs?: number) {
    const world = new SimulatedWorld(seed, startMs);
    this.#world = world;
    this.world = { ...portsOf(world), timers: this.#timersOver(world.timers) };
  }

  nowMs(): number {
    return this.#world.clock.nowMs();
  }

  monotonicMs(): number {
    return this.#world.clock.monotonicMs();
  }

  advance(time: TimeSpan): Promise<void> {
    const forMs = timeSpanMs(time);
    return this.#moveTime(() => this.#world.advance(forMs));
  }

  advanceUntil<T>(
    happens: Promise<T>,
    atMost: TimeSpan = virtualTimeLimits.untilMaxMs,
  ): Promise<T> {
    const atMostMs = timeSpanMs(atMost);
    let isOver = false;
    const note = () => {
      isOver = true;
    };
    happens.then(note, note);
    return this.#moveTime(async () => {
      const endMs = this.monotonicMs() + atMostMs;
      await this.#world.advance(0);
      while (!isOver && this.#world.nextDueMs() <= endMs) {
        await this.#world.advanceTo(Math.max(this.#world.nextDueMs(), this.monotonicMs()));
      }
      if (isOver) return happens;
      await this.#world.advanceTo(endMs);
      throw new Error(lateSentence(atMost));
    });
  }

  #moveTime<T>(move: () => Promise<T>): Promise<T> {
    this.#moves++;
    const moved = this.#last.then(move).finally(() => {
      this.#moves--;
      this.#doReadyWork();
    });
    this.#last = moved.catch(() => {});
    return moved;
  }

  /** V1. A move that waits or is under way does the work itself. */
  #doReadyWork(): void {
    if (this.#moves === 0 && this.#world.nextDueMs() <= this.monotonicMs()) void this.advance(0);
  }

  #timersOver({ after, soon, unhurried }: Timers): Timers {
    const ready = <T>(timer: T): T => {
      this.#doReadyWork();
      return timer;
    };
    return {
      after: (delayMs, run) => ready(after(delayMs, run)),
      soon: (run) => ready(soon(run)),
      unhurried: (run) => ready(unhurried(run)),
    };
  }
}

const portsOf = ({ clock, processor, random, ids, secrets, timers }: World): World => ({
  clock,
  processor,
  random,
  ids,
  secrets,
  timers,
});

const lateSentence = (atMost: TimeSpan): string =>
  `This did not happen within ${typeof atMost === 'string' ? atMost : `${atMost} ms`} of virtual time.`;

/** @throws TypeError for a text that is no duration, and for a time before now */
export function timeSpanMs(time: TimeSpan): number {
  const nanoseconds = typeof time === 'string' ? parseDuration(time) : time * 1e6;
  if (nanoseconds !== undefined && nanoseconds >= 0) return durationMs(nanoseconds);
  throw new TypeError(
    `"${time}" is no span of time. Give a text such as "1m30s", or milliseconds.`,
  );
}
