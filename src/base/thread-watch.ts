import type { Timers } from './ports.ts';

export interface ThreadWatchOptions {
  readonly timers: Timers;
  /** Asks the thread, which answers in its event loop. */
  readonly ask: () => void;
  /** The number of questions that the thread has answered. */
  readonly answered: () => number;
  readonly beatMs: number;
  /** Beats without an answer, after which the thread counts as hung. */
  readonly silentBeats: number;
  /** The same before its first answer, since it loads its program first. */
  readonly firstBeats: number;
  /** Whether something from outside may hold the thread, which then has all its time again. */
  readonly isHeld?: () => boolean;
  /** The thread has hung. Told once. */
  readonly hung: () => void;
}

/**
 * Notices that another thread takes no messages any more. The result ends the watch.
 *
 * Invariants
 *  W1. Beats of this thread count, not time. While this thread does not run either, as in a process that is stopped or on
 *      a machine that sleeps, the other one is not late.
 *  W2. At most one question waits for an answer, so that a thread that is busy for long finds no heap of them.
 */
export function watchThread(options: ThreadWatchOptions): () => void {
  const { timers, ask, answered, isHeld, hung } = options;
  let asked = 0;
  let silent = 0;
  const beat = (): void => {
    if (answered() === asked) {
      silent = 0;
      asked++;
      ask();
    } else if (++silent >= (asked === 1 ? options.firstBeats : options.silentBeats)) {
      if (isHeld?.() !== true) {
        hung();
        return;
      }
      silent = 0;
    }
    timer = timers.after(options.beatMs, beat);
  };
  let timer = timers.after(options.beatMs, beat);
  return () => timer.clear();
}
