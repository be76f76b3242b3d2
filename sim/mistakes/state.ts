/** Mistakes of what keeps the state, and of its log. */
import type { Mistake } from './mistake.ts';

export const ofTheState: readonly Mistake[] = [];
