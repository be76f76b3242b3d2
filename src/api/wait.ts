import type { Random, Timers } from '../base/ports.ts';
import type { Footprint, State } from '../state/types.ts';

/**
 * Waits until something in the footprint changes, the time is up, or the caller is gone. Holds
 * nothing but one watch and one timer, since ten thousand of these may be parked at once.
 */
export function changed(
  state: Pick<State, 'watch'>,
  timers: Timers,
  footprint: Footprint,
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<'changed' | 'elapsed' | 'gone'> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve('gone');
    const end = (how: 'changed' | 'elapsed' | 'gone') => {
      watch.cancel();
      timer.clear();
      signal?.removeEventListener('abort', gone);
      resolve(how);
    };
    const gone = () => end('gone');
    const timer = timers.after(waitMs, () => end('elapsed'));
    signal?.addEventListener('abort', gone);
    // Last, since it may call back at once.
    let early = false;
    let watch = { cancel: () => {} };
    const set = state.watch(footprint, () => {
      early = true;
      end('changed');
    });
    if (early) set.cancel();
    else watch = set;
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
