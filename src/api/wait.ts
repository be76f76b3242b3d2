import type { Random, Timers } from '../base/ports.ts';
import type { Footprint, State } from '../state/types.ts';
import type { Request } from './http.ts';

export interface Wait {
  readonly state: Pick<State, 'watch'>;
  readonly timers: Timers;
  readonly footprints: readonly Footprint[];
  readonly waitMs: number;
  readonly request: Pick<Request, 'onGone'>;
  /** Where this wait leaves the way to end it, while it lasts. */
  readonly parked: Set<() => void>;
}

/**
 * Waits until something in the footprints changes, the time is up, the wait is ended or the caller
 * is gone. Holds nothing but its watches and one timer, since ten thousand of these may be parked.
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
    // A watch never calls back before `watch` has returned.
    const watches = footprints.map((footprint) => state.watch(footprint, over));
    const timer = timers.after(waitMs, over);
    parked.add(over);
    let stay: (() => void) | undefined;
    stay = request.onGone?.(() => end('gone'));
  });
}

/**
 * How long a blocking query waits at most, in milliseconds: the given wait (nanoseconds), bounded,
 * plus a random part so that queries parked together do not all come back together.
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
