/** Mistakes around nodes: what they report, register and lose, and how they are drained. */
import type { Mistake } from './mistake.ts';

export const ofNodes: readonly Mistake[] = [];
