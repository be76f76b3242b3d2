import { delay, type Timers } from '../base/ports.ts';
import { limits } from '../model/limits.ts';
import { WriteQueueFull } from '../state/errors.ts';
import type { State, Transaction } from '../state/types.ts';

/**
 * Writes what no caller would ask for again: while the write queue is full it waits and tries
 * again, so the write must be right whenever it runs. Rejects as `State.write` does otherwise, and
 * when `signal` aborts while the queue is full.
 */
export async function writeEventually<T>(
  { state, timers }: { readonly state: State; readonly timers: Timers },
  run: (transaction: Transaction) => T,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return (await state.write(run)).value;
    } catch (error) {
      if (!(error instanceof WriteQueueFull) || signal.aborted) throw error;
      await delay(timers, limits.state.fullRetryMs, signal);
    }
  }
}
