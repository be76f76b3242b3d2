import type { Clock, Timers, World } from './ports.ts';
import type { Steps } from './steps.ts';

/** A short part of long work. `true`: it was the last one. */
export type Step = () => boolean;

/** A slice of work ends after the step during which its time is over. */
export interface SliceBounds {
  readonly sliceMs: number;
  /** Ends a slice in the simulator, whose clock stands still meanwhile. */
  readonly sliceSteps?: number;
}

/** Takes one step at least. `true`: the last step was among them. */
export function takeSlice(
  step: Step,
  clock: Clock,
  { sliceMs, sliceSteps = Number.POSITIVE_INFINITY }: SliceBounds,
): boolean {
  const endMs = clock.monotonicMs() + sliceMs;
  for (let taken = 1; !step(); taken++) {
    if (taken >= sliceSteps || clock.monotonicMs() >= endMs) return false;
  }
  return true;
}

/** Visits items until the slice is over, and returns how many it visited. */
export function visitSlice<T>(
  items: Iterable<T>,
  visit: (item: T) => void,
  clock: Clock,
  { sliceMs }: SliceBounds,
): number {
  const endMs = clock.monotonicMs() + sliceMs;
  let visited = 0;
  for (const item of items) {
    visit(item);
    visited++;
    if (clock.monotonicMs() >= endMs) break;
  }
  return visited;
}

/** Lets everything that is ready go first: requests, commits, timers. */
export const pause = (timers: Timers): Promise<void> =>
  new Promise((resolve) => timers.soon(resolve));

/** The same, and the garbage collector of the process too. */
export const unhurriedPause = (timers: Timers): Promise<void> =>
  new Promise((resolve) => timers.unhurried(resolve));

/** Does long work in slices, and measures how long the slices took. */
export class Slices {
  readonly #world: Pick<World, 'clock' | 'timers'>;
  readonly #bounds: SliceBounds;
  #finishedMs = 0;
  #startMs: number | undefined;

  constructor(world: Pick<World, 'clock' | 'timers'>, bounds: SliceBounds) {
    this.#world = world;
    this.#bounds = bounds;
  }

  /** Work alone: the time between two slices does not count. */
  elapsedNs(): number {
    const startMs = this.#startMs;
    const currentMs = startMs === undefined ? 0 : this.#world.clock.monotonicMs() - startMs;
    return Math.round((this.#finishedMs + currentMs) * 1e6);
  }

  /** Takes the steps of one slice. `true`: the last step was among them. */
  take(step: Step): boolean {
    const { clock } = this.#world;
    const startMs = clock.monotonicMs();
    this.#startMs = startMs;
    try {
      return takeSlice(step, clock, this.#bounds);
    } finally {
      this.#finishedMs += clock.monotonicMs() - startMs;
      this.#startMs = undefined;
    }
  }

  /** Takes all steps, with a pause after each slice. `undefined`: `signal` aborted before the end. */
  async run<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T | undefined> {
    let value: T | undefined;
    const step = () => {
      const next = steps.next();
      if (next.done) value = next.value;
      return next.done === true;
    };
    while (!signal?.aborted) {
      if (this.take(step)) return value;
      await pause(this.#world.timers);
    }
    steps.return(undefined as never);
    return undefined;
  }
}
