import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Repeats } from './transport.ts';

export const realRandom = { below: (bound: number): number => randomInt(bound) };

/** Keys and pauses of the real world. */
export const repeats: Repeats = {
  newKey: () => randomUUID(),
  pause: async (delayMs, signal) => {
    // An abort ends the pause, and is told by the next attempt.
    await pause(delayMs, undefined, signal === undefined ? {} : { signal }).catch(() => {});
  },
};
