import type { Random, Timers } from '../base/ports.ts';
import type { Footprint, State, Watch } from '../state/types.ts';

/**
 * Waits until something in one of the footprints changes, the time is up, or the caller is gone. Holds
 * nothing but a watch each and one timer, since ten thousand of these may be parked at once.
 */
export function changed(
  state: Pick<State, 'watch'>,
  timers: Timers,
  footprints: readonly Footprint[],
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<'changed' | 'elapsed' | 'gone'> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve('gone');
    const watches: Watch[] = [];
    const end = (how: 'changed' | 'elapsed' | 'gone') => {
      for (const watch of watches) watch.cancel();
      timer.clear();
      signal?.removeEventListener('abort', gone);
      resolve(how);
    };
    const gone = () => end('gone');
    const timer = timers.after(waitMs, () => end('elapsed'));
    signal?.addEventListener('abort', gone);
    // Last, since it may call back at once.
    let early = false;
    const wake = () => {
      early = true;
      end('changed');
    };
    for (const footprint of footprints) watches.push(state.watch(footprint, wake));
    if (early) for (const watch of watches) watch.cancel();
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
