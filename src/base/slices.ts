import type { Clock, Timers } from './ports.ts';
import type { Steps } from './steps.ts';

/** A short part of long work. `true`: it was the last one. */
export type Step = () => boolean;

/** A slice of work ends after the step during which its time is over. */
export interface SliceBounds {
  readonly sliceMs: number;
  /** Ends a slice in the simulator, whose clock stands still meanwhile. */
  readonly sliceSteps?: number;
}

/** Takes one step at least, and looks at the clock after each. `true`: the last step was taken. */
export function takeSlice(
  step: Step,
  clock: Clock,
  { sliceMs, sliceSteps = Number.POSITIVE_INFINITY }: SliceBounds,
  startMs = clock.monotonicMs(),
): boolean {
  const endMs = startMs + sliceMs;
  for (let taken = 1; !step(); taken++) {
    if (clock.monotonicMs() >= endMs || taken >= sliceSteps) return false;
  }
  return true;
}

/**
 * Visits items until the slice is over, and returns how many it visited. `visit` returns `false` if
 * an item took no time.
 */
export function visitSlice<T>(
  items: Iterable<T>,
  visit: (item: T) => unknown,
  clock: Clock,
  { sliceMs }: SliceBounds,
): number {
  const endMs = clock.monotonicMs() + sliceMs;
  let visited = 0;
  for (const item of items) {
    visited++;
    if (visit(item) !== false && clock.monotonicMs() >= endMs) break;
  }
  return visited;
}

/** Lets everything that is ready go first: requests, commits, timers. */
export const pause = (timers: Timers): Promise<void> =>
  new Promise((resolve) => timers.soon(resolve));

/** The same, and the garbage collector of the process too. */
export const unhurriedPause = (timers: Timers): Promise<void> =>
  new Promise((resolve) => timers.unhurried(resolve));

/**
 * Takes all steps, with a pause after each slice; `take` takes a slice. `undefined`: `signal` aborted
 * before the end.
 */
export async function inSlices<T>(
  steps: Steps<T>,
  take: (step: Step) => boolean,
  timers: Timers,
  signal?: AbortSignal,
): Promise<T | undefined> {
  let value: T | undefined;
  const step = () => {
    const next = steps.next();
    if (next.done) value = next.value;
    return next.done === true;
  };
  while (!signal?.aborted) {
    if (take(step)) return value;
    await pause(timers);
  }
  steps.return(undefined as never);
  return undefined;
}

/** Measures how long work in slices takes; the time between two slices does not count. */
export class WorkTime {
  readonly #clock: Clock;
  readonly #bounds: SliceBounds;
  /** Of all slices that are over. */
  #finishedMs = 0;
  #startMs = 0;

  constructor(clock: Clock, bounds: SliceBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  /** The time until now, within a slice. */
  elapsedNs(): number {
    const currentMs = this.#clock.monotonicMs() - this.#startMs;
    return Math.round((this.#finishedMs + currentMs) * 1e6);
  }

  /** Takes the steps of one slice. `true`: the last step was taken. */
  readonly take = (step: Step): boolean => {
    this.#startMs = this.#clock.monotonicMs();
    if (takeSlice(step, this.#clock, this.#bounds, this.#startMs)) return true;
    this.#finishedMs += this.#clock.monotonicMs() - this.#startMs;
    return false;
  };
}
