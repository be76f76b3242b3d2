import type { Random, Timers } from '../base/ports.ts';
import type { Footprint, State } from '../state/types.ts';
import type { Request } from './http.ts';

export interface Wait {
  readonly state: Pick<State, 'watch'>;
  readonly timers: Timers;
  readonly footprints: readonly Footprint[];
  readonly waitMs: number;
  readonly request: Pick<Request, 'onGone'>;
  /** Contains the function that ends this wait, while it lasts. */
  readonly parked: Set<() => void>;
}

/**
 * Waits until a footprint changes, the time is over, the wait is ended or the caller disconnects.
 * Holds only watches and a timer, because ten thousand queries may wait.
 */
export function changed(wait: Wait): Promise<'over' | 'gone'> {
  const { state, timers, footprints, waitMs, request, parked } = wait;
  return new Promise((resolve) => {
    const end = (how: 'over' | 'gone') => {
      for (const watch of watches) watch.cancel();
      timer.clear();
      stay?.();
      parked.delete(over);
      resolve(how);
    };
    const over = () => end('over');
    // `state.watch` never calls back before it has returned.
    const watches = footprints.map((footprint) => state.watch(footprint, over));
    const timer = timers.after(waitMs, over);
    parked.add(over);
    let stay: (() => void) | undefined;
    stay = request.onGone?.(() => end('gone'));
  });
}

/**
 * The longest wait of a blocking query in milliseconds. The given wait (nanoseconds) is bounded and
 * extended at random, so that queries do not wake together.
 */
export function waitMsOf(
  waitNanoseconds: number | undefined,
  random: Random,
  bounds: { defaultMs: number; maxMs: number; jitterDivisor: number },
): number {
  const askedMs = waitNanoseconds ? waitNanoseconds / 1e6 : bounds.defaultMs;
  const waitMs = Math.min(askedMs, bounds.maxMs);
  return waitMs + random.fraction() * (waitMs / bounds.jitterDivisor);
}
