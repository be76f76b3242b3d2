import type { Clock, Timers } from './ports.ts';
import type { Steps } from './steps.ts';

/** A short part of long work. Returns whether it was the last part. */
export type Step = () => boolean;

/** A slice of work ends after the step in which its time ends. */
export interface SliceBounds {
  readonly sliceMs: number;
  /** The most steps of a slice, for the simulator, whose clock stands still meanwhile. */
  readonly sliceSteps?: number;
}

/** Takes at least one step, until the slice ends. Returns whether the last step was taken. */
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
 * Visits items until the slice ends. Returns the number of visited items. `visit` returns `false` if an
 * item took no time.
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

/** Like `pause`, and also waits while the garbage collector marks objects (`Timers.unhurried`). */
export const unhurriedPause = (timers: Timers): Promise<void> =>
  new Promise((resolve) => timers.unhurried(resolve));

/** Like `unhurriedPause`, after a rest. */
export const unhurriedRest = (timers: Timers, restMs: number): Promise<void> =>
  restMs > 0
    ? new Promise((resolve) => timers.after(restMs, () => timers.unhurried(resolve)))
    : unhurriedPause(timers);

/**
 * Takes all steps, with a pause after each slice. `take` takes a slice. Resolves with `undefined` if
 * `signal` aborts before the end.
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

/** Measures the time of work in slices, without the pauses between them. */
export class WorkTime {
  readonly #clock: Clock;
  readonly #bounds: SliceBounds;
  /** The time of all slices that have ended. */
  #finishedMs = 0;
  #startMs = 0;

  constructor(clock: Clock, bounds: SliceBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  /** The time until now. Called within a slice. */
  elapsedNs(): number {
    const elapsedMs = this.#finishedMs + this.#clock.monotonicMs() - this.#startMs;
    return Math.round(elapsedMs * 1e6);
  }

  /** Takes the steps of a slice, which may have other bounds. Returns whether the last step was taken. */
  readonly take = (step: Step, bounds = this.#bounds): boolean => {
    this.#startMs = this.#clock.monotonicMs();
    if (takeSlice(step, this.#clock, bounds, this.#startMs)) return true;
    this.#finishedMs += this.#clock.monotonicMs() - this.#startMs;
    return false;
  };
}
