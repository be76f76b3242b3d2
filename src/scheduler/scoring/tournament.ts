/**
 * Finds the slot with the greatest value while single values change. Slots are split into classes;
 * each class has a binary tree whose root is the greatest value of the class.
 * Source: docs/behaviour/scheduling.md#the-scheduler.
 *
 * 1. Every inner place holds the greater of its two children.
 * 2. The leaves of a class are in the order of its slots, so that the first of equals can be found.
 * 3. A slot that takes no part holds `closed`, and so do unused leaves.
 */

export const closed = Number.NEGATIVE_INFINITY;

/** Maps slots to leaves; shared by all tournaments over the same classes. */
export class TreeLayout {
  readonly classes: number;
  /** Number of places in all trees together. */
  readonly size: number;
  readonly #classOf: Int32Array;
  /** By slot, the position of its leaf in the tree of its class. */
  readonly #leafOf: Int32Array;
  /** By class: the start of its tree, its number of leaves, and its first entry in `#members`. */
  readonly #offsets: Int32Array;
  readonly #widths: Int32Array;
  readonly #firsts: Int32Array;
  /** Slots, class by class. */
  readonly #members: Int32Array;

  /** `classOf`: the class of each slot, from 0; -1: the slot takes no part. */
  constructor(classOf: Int32Array, classes: number) {
    this.classes = classes;
    this.#classOf = classOf;
    const counts = new Int32Array(classes);
    for (const one of classOf) if (one >= 0) counts[one]!++;
    this.#offsets = new Int32Array(classes);
    this.#widths = new Int32Array(classes);
    this.#firsts = new Int32Array(classes);
    let size = 0;
    let members = 0;
    for (let one = 0; one < classes; one++) {
      const width = powerOfTwo(counts[one]!);
      this.#offsets[one] = size;
      this.#widths[one] = width;
      this.#firsts[one] = members;
      size += 2 * width;
      members += counts[one]!;
    }
    this.size = size;
    this.#members = new Int32Array(members);
    this.#leafOf = new Int32Array(classOf.length);
    const next = new Int32Array(classes);
    for (let slot = 0; slot < classOf.length; slot++) {
      const one = classOf[slot]!;
      if (one < 0) continue;
      const at = next[one]!++;
      this.#members[this.#firsts[one]! + at] = slot;
      this.#leafOf[slot] = this.#widths[one]! + at;
    }
  }

  classOf(slot: number): number {
    return this.#classOf[slot]!;
  }

  /** The start of a class's tree. Its root is at the next place. */
  offset(one: number): number {
    return this.#offsets[one]!;
  }

  leafOf(slot: number): number {
    return this.#leafOf[slot]!;
  }

  width(one: number): number {
    return this.#widths[one]!;
  }

  member(one: number, at: number): number {
    return this.#members[this.#firsts[one]! + at]!;
  }
}

function powerOfTwo(atLeast: number): number {
  let power = 1;
  while (power < atLeast) power *= 2;
  return power;
}

export class Tournament {
  readonly #layout: TreeLayout;
  readonly #places: Float64Array;

  constructor(layout: TreeLayout) {
    this.#layout = layout;
    this.#places = new Float64Array(layout.size).fill(closed);
  }

  /** Sets a leaf without its ancestors, to fill a tournament before `rebuild`. */
  putLeaf(slot: number, value: number): void {
    const layout = this.#layout;
    this.#places[layout.offset(layout.classOf(slot)) + layout.leafOf(slot)] = value;
  }

  rebuild(): void {
    const places = this.#places;
    for (let one = 0; one < this.#layout.classes; one++) {
      const offset = this.#layout.offset(one);
      for (let at = this.#layout.width(one) - 1; at > 0; at--) {
        const left = places[offset + 2 * at]!;
        const right = places[offset + 2 * at + 1]!;
        places[offset + at] = Math.max(left, right);
      }
    }
  }

  set(slot: number, value: number): void {
    const places = this.#places;
    const offset = this.#layout.offset(this.#layout.classOf(slot));
    let at = this.#layout.leafOf(slot);
    if (places[offset + at] === value) return;
    places[offset + at] = value;
    while (at > 1) {
      at >>= 1;
      const left = places[offset + 2 * at]!;
      const right = places[offset + 2 * at + 1]!;
      const greater = Math.max(left, right);
      if (places[offset + at] === greater) return;
      places[offset + at] = greater;
    }
  }

  value(slot: number): number {
    const layout = this.#layout;
    return this.#places[layout.offset(layout.classOf(slot)) + layout.leafOf(slot)]!;
  }

  /** The greatest value of a class. */
  top(one: number): number {
    return this.#places[this.#layout.offset(one) + 1]!;
  }

  /**
   * The first slot of a class whose `(value + boost) / terms` is at least `score`, which the top has
   * to reach. Different values may round to the same score, so this may be a slot before the top's.
   */
  first(one: number, boost: number, terms: number, score: number): number {
    const places = this.#places;
    const offset = this.#layout.offset(one);
    const width = this.#layout.width(one);
    let at = 1;
    while (at < width) {
      at *= 2;
      if (!((places[offset + at]! + boost) / terms >= score)) at++;
    }
    return this.#layout.member(one, at - width);
  }
}
