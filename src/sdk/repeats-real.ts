import { randomInt, randomUUID } from 'node:crypto';
import { pause } from './pause-real.ts';
import type { Repeats } from './transport.ts';

export const realRandom = { below: (bound: number): number => randomInt(bound) };

/** Keys and pauses of the real world. */
export const repeats: Repeats = { newKey: () => randomUUID(), pause };
