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
  readonly #isStale: Uint8Array;
  /** The stale classes, each once. */
  readonly #stale: Int32Array;
  #staleCount = 0;
  /** Two entries for each class, one for each tournament. */
  readonly #scores: Float64Array;
  /** By class, the greater of the two. */
  readonly #greater: Float64Array;
  readonly #first: Int32Array;

  constructor(classes: number, parts: ClassParts) {
    this.#parts = parts;
    this.#isStale = new Uint8Array(classes);
    this.#stale = new Int32Array(classes);
    this.#scores = new Float64Array(2 * classes);
    this.#greater = new Float64Array(classes);
    this.#first = new Int32Array(2 * classes);
    this.allChanged();
  }

  /** Notes that a slot, or another part of the score of the class, changed. */
  changed(one: number): void {
    if (this.#isStale[one] !== 0) return;
    this.#isStale[one] = 1;
    this.#stale[this.#staleCount++] = one;
  }

  allChanged(): void {
    const classes = this.#stale.length;
    if (this.#staleCount === classes) return;
    this.#isStale.fill(1);
    for (let one = 0; one < classes; one++) this.#stale[one] = one;
    this.#staleCount = classes;
  }

  /** The slot with the greatest score, the lowest of equals; -1: no slot is open. */
  best(): number {
    for (let at = 0; at < this.#staleCount; at++) this.#refresh(this.#stale[at]!);
    this.#staleCount = 0;
    const [greater, scores] = [this.#greater, this.#scores];
    let bestScore = closed;
    for (let one = 0; one < greater.length; one++) {
      if (greater[one]! > bestScore) bestScore = greater[one]!;
    }
    if (bestScore === closed) return -1;
    let best = Number.POSITIVE_INFINITY;
    for (let one = 0; one < greater.length; one++) {
      if (greater[one] !== bestScore) continue;
      if (scores[2 * one] === bestScore) best = Math.min(best, this.#firstAt(2 * one));
      if (scores[2 * one + 1] === bestScore) best = Math.min(best, this.#firstAt(2 * one + 1));
    }
    return best;
  }

  #refresh(one: number): void {
    this.#isStale[one] = 0;
    this.#first[2 * one] = unknown;
    this.#first[2 * one + 1] = unknown;
    const { tournaments, terms } = this.#parts;
    const open = tournaments[0].top(one);
    const beside = tournaments[1].top(one);
    const isOut = (open === closed && beside === closed) || !this.#parts.isAllowed(one);
    const boost = isOut ? 0 : this.#parts.spreadBoost(one);
    const openScore = isOut ? closed : (open + boost) / divisor(terms, boost, 0);
    const besideScore = isOut ? closed : (beside + boost) / divisor(terms, boost, 1);
    this.#scores[2 * one] = openScore;
    this.#scores[2 * one + 1] = besideScore;
    this.#greater[one] = Math.max(openScore, besideScore);
  }

  #firstAt(at: number): number {
    if (this.#first[at] === unknown) {
      const [one, beside] = [at >> 1, (at & 1) as 0 | 1];
      const { terms, tournaments } = this.#parts;
      const boost = this.#parts.spreadBoost(one);
      const score = this.#scores[at]!;
      const parts = divisor(terms, boost, beside);
      this.#first[at] = tournaments[beside].first(one, boost, parts, score);
    }
    return this.#first[at]!;
  }
}

/** The number of parts in a score. */
const divisor = (terms: number, boost: number, beside: 0 | 1): number =>
  terms + beside + (boost === 0 ? 0 : 1);
