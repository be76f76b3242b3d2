/**
 * The world, as the program may know it. Everything below `main.ts` takes these as arguments and
 * never reaches for the ambient clock, timers or random. So the simulator can run it.
 * The real ones are in `ports-real.ts`, the simulated ones in `ports-simulated.ts`.
 */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. May jump. */
  nowMs(): number;
  /** Milliseconds since an arbitrary start. Never goes back; use it to measure. */
  monotonicMs(): number;
}

/** A timer that was set. Clearing it twice, or after it ran, does nothing. */
export interface Timer {
  clear(): void;
}

export interface Timers {
  /** Runs `run` once, `delayMs` from now. A timer does not keep the process alive. */
  after(delayMs: number, run: () => void): Timer;
  /** Runs `run` once, after the input and output that is ready now. Used to slice long work. */
  soon(run: () => void): Timer;
  /**
   * The same for work that makes many objects and can wait: not while the collector looks for garbage,
   * which would hold everybody up then, but after a second at the latest.
   */
  unhurried(run: () => void): Timer;
}

/** Seeded in the simulator: for jitter, shuffles and samples, never for secrets. */
export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** An integer in [0, bound). `bound` is from 1 to 2^32. */
  below(bound: number): number;
}

/** Names of records. Unique, not secret. */
export interface Ids {
  /** A UUID, version 4 in form. */
  uuid(): string;
}

/** Unguessable values, from the system's CSPRNG outside the simulator. */
export interface Secrets {
  /** A UUID, version 4, fit to be a token's secret. */
  uuid(): string;
  bytes(count: number): Uint8Array;
  /** Lower-case hex SHA-256 of the text. It is kept in place of a secret. */
  hash(secret: string): string;
  /** Compares in time that does not depend on where the texts differ. */
  equal(left: string, right: string): boolean;
}

/** All ports together, for the composition root and the simulator. */
export interface World {
  readonly clock: Clock;
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
