import { limits } from '../../model/limits.ts';

/**
 * When watches are evaluated, by the cost of their last evaluation. Shared by all watches of a thread, so
 * that they use a small part of a core together. DESIGN.md, U7.
 */
export class Pace {
  /** When the costs so far are paid off. */
  #freeAtMs = 0;

  /**
   * The time of the next evaluation of a watch whose last one ended at `endMs` and took `costMs`. `leastMs`: the least
   * time between the two. The place is taken.
   */
  next(nowMs: number, { endMs, costMs, leastMs }: Evaluated): number {
    const { costFactor, costFactorMax, watchIntervalMaxMs } = limits.uiStream;
    const own = endMs + Math.max(leastMs, Math.min(costMs * costFactor, watchIntervalMaxMs));
    const latest = endMs + Math.max(leastMs, Math.min(costMs * costFactorMax, watchIntervalMaxMs));
    const atMs = Math.max(nowMs, own, Math.min(this.#freeAtMs, latest));
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs) + costMs * costFactor;
    return atMs;
  }

  /** Notes other work for watches: answers that a slow browser takes later, when nothing is evaluated. */
  charge(nowMs: number, costMs: number): void {
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs) + costMs * limits.uiStream.costFactor;
  }
}

interface Evaluated {
  readonly endMs: number;
  readonly costMs: number;
  readonly leastMs: number;
}
