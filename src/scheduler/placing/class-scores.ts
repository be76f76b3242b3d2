/**
 * The best scores of the two tournaments by class, computed again only where something changed. With a spread over
 * fifty racks a placement changes one class of fifty.
 *
 * 1. A class that is not stale has the score of its top in each tournament, or `closed`.
 * 2. `#first` of a class that is not stale is its first slot with this score, or `unknown`.
 */
import { closed, type Tournament } from '../scoring/tournament.ts';

/** In `#first`: not searched yet. */
const unknown = -1;

/** What the score of a class consists of, besides the tops of its tournaments. */
export interface ClassParts {
  readonly tournaments: readonly [open: Tournament, withNeighbours: Tournament];
  /** Number of parts in every score of the first tournament. */
  readonly terms: number;
  /** Whether distinct properties allow the class. */
  isAllowed(one: number): boolean;
  spreadBoost(one: number): number;
}

export class ClassScores {
  readonly #parts: ClassParts;
  readonly #stale: Uint8Array;
  /** Two entries for each class, one for each tournament. */
  readonly #scores: Float64Array;
  readonly #first: Int32Array;

  constructor(classes: number, parts: ClassParts) {
    this.#parts = parts;
    this.#stale = new Uint8Array(classes).fill(1);
    this.#scores = new Float64Array(2 * classes);
    this.#first = new Int32Array(2 * classes);
  }

  /** Notes that a slot, or another part of the score of the class, changed. */
  changed(one: number): void {
    this.#stale[one] = 1;
  }

  allChanged(): void {
    this.#stale.fill(1);
  }

  /** The slot with the greatest score, the lowest of equals; -1: no slot is open. */
  best(): number {
    const [stale, scores] = [this.#stale, this.#scores];
    let bestScore = closed;
    for (let one = 0; one < stale.length; one++) {
      if (stale[one] === 1) this.#refresh(one);
      const score = scores[2 * one]!;
      const besideScore = scores[2 * one + 1]!;
      if (score > bestScore) bestScore = score;
      if (besideScore > bestScore) bestScore = besideScore;
    }
    if (bestScore === closed) return -1;
    let best = Number.POSITIVE_INFINITY;
    for (let at = 0; at < scores.length; at++) {
      if (scores[at] === bestScore) best = Math.min(best, this.#firstAt(at));
    }
    return best;
  }

  #refresh(one: number): void {
    this.#stale[one] = 0;
    this.#first[2 * one] = unknown;
    this.#first[2 * one + 1] = unknown;
    const { tournaments } = this.#parts;
    const isOut =
      (tournaments[0].top(one) === closed && tournaments[1].top(one) === closed) ||
      !this.#parts.isAllowed(one);
    this.#scores[2 * one] = isOut ? closed : this.#scoreOf(one, 0);
    this.#scores[2 * one + 1] = isOut ? closed : this.#scoreOf(one, 1);
  }

  #scoreOf(one: number, beside: 0 | 1): number {
    const boost = this.#parts.spreadBoost(one);
    return (this.#parts.tournaments[beside].top(one) + boost) / this.#divisor(boost, beside);
  }

  #divisor(boost: number, beside: 0 | 1): number {
    return this.#parts.terms + beside + (boost === 0 ? 0 : 1);
  }

  #firstAt(at: number): number {
    if (this.#first[at] === unknown) {
      const [one, beside] = [at >> 1, (at & 1) as 0 | 1];
      const boost = this.#parts.spreadBoost(one);
      const divisor = this.#divisor(boost, beside);
      const tournament = this.#parts.tournaments[beside];
      this.#first[at] = tournament.first(one, boost, divisor, this.#scores[at]!);
    }
    return this.#first[at]!;
  }
}
