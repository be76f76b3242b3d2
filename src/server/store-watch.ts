import type { Timers } from '../base/ports.ts';
import { secondMs } from '../base/units.ts';
import { limits } from '../model/limits.ts';
import type { StateFigures } from '../state/figures.ts';
import type { Log } from './context.ts';

export interface StoreWatchOptions {
  readonly state: { readonly figures: Pick<StateFigures, 'oldestWriteMs'> };
  readonly timers: Timers;
  readonly log: Log;
}

/**
 * Tells in the log that the store does not answer, as while its disk hangs, and that it answers again. Its thread is not
 * ended: the append may still become durable, and another thread would wait for the same disk. The result ends the watch.
 */
export function watchStore({ state, timers, log }: StoreWatchOptions): () => void {
  const { writeWaitMaxMs, writeLookMs } = limits.servers;
  let isTold = false;
  const look = (): void => {
    const waitedMs = state.figures.oldestWriteMs ?? 0;
    const isLate = waitedMs > writeWaitMaxMs;
    if (isLate && !isTold) {
      const waitedSeconds = Math.round(waitedMs / secondMs);
      log.error({ waitedSeconds }, 'the store does not answer: writes wait, its disk may hang');
    } else if (isTold && !isLate) log.warn({}, 'the store answers again');
    isTold = isLate;
    timer = timers.after(writeLookMs, look);
  };
  let timer = timers.after(writeLookMs, look);
  return () => timer.clear();
}
