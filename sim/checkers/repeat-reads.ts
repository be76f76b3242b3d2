import type { Timers } from '../../src/base/ports.ts';

const pauseMs = 1000;

/** Reads again and again, with a pause after each read, whether it was answered or not. */
export function repeatReads(timers: Timers, read: () => Promise<void>): void {
  const again = () => {
    const pause = () => timers.after(pauseMs, again);
    read().then(pause, pause);
  };
  again();
}
