/**
 * The world, as the program may know it. All code below `main.ts` takes these ports as arguments and
 * never uses the ambient clock, timers or random numbers, so that the simulator can run it.
 * `ports-real.ts` has the real ports, `ports-simulated.ts` the simulated ports.
 */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. May jump. */
  nowMs(): number;
  /** Milliseconds since an arbitrary start, for measuring. Never goes back. */
  monotonicMs(): number;
}

/** The time that this thread has worked, which passes slower than that of the clock while others use the machine. */
export interface Processor {
  /** Milliseconds since an arbitrary start. Never goes back. */
  usedMs(): number;
}

/** A timer that was set. Clearing it twice, or after it ran, does nothing. */
export interface Timer {
  clear(): void;
}

export interface Timers {
  /** Runs `run` once, `delayMs` from now. A timer does not keep the process alive. */
  after(delayMs: number, run: () => void): Timer;
  /** Runs `run` once, after the input and output that is ready now. For long work in slices. */
  soon(run: () => void): Timer;
  /**
   * Like `soon`, for work that makes many objects and can wait. It waits up to a second while the garbage
   * collector marks objects, since it would delay all other work then.
   */
  unhurried(run: () => void): Timer;
}

/** Random numbers for jitter, shuffles and samples, never for secrets. Seeded in the simulator. */
export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** An integer in [0, bound). `bound` is from 1 to 2^32. */
  below(bound: number): number;
}

/** Names of records. Unique, not secret. */
export interface Ids {
  /**
   * A UUID, version 4 in form. `near`: the one of a record that is stored together with this one. The new UUID may then
   * come closely after it: thousands of new rows beside each other cost an index a fraction of those that lie anywhere.
   */
  uuid(near?: string): string;
}

/** Unguessable values, from the system's CSPRNG outside the simulator. */
export interface Secrets {
  /** A UUID, version 4, fit to be a token's secret. */
  uuid(): string;
  bytes(count: number): Uint8Array;
  /** SHA-256 of the text in lower-case hex, to be stored instead of a secret. */
  hash(secret: string): string;
  /** Compares texts in a time that does not depend on the place of their first difference. */
  equal(left: string, right: string): boolean;
}

/** All ports, for the composition roots and the simulator. */
export interface World {
  readonly clock: Clock;
  readonly processor: Processor;
  readonly timers: Timers;
  readonly random: Random;
  readonly ids: Ids;
  readonly secrets: Secrets;
}

/** Resolves after `delayMs`, or at once when `signal` aborts. */
export function delay(timers: Timers, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      timer.clear();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = timers.after(delayMs, done);
    signal?.addEventListener('abort', done);
  });
}
