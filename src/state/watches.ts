import type { ReadSet } from './footprint.ts';
import { eachPrefix, wholeParts } from './keys.ts';
import type { Step } from './ordered-index.ts';
import type { Watch } from './types.ts';
import type { View } from './view.ts';

/** One range that one watch waits for. */
interface Place {
  readonly parked: Parked;
  readonly slot: number;
  /** The watched keys begin with it. */
  readonly range: string;
}

export class Parked implements Watch {
  readonly places: Place[] = [];
  readonly #watches: Watches;
  #wake: (() => void) | undefined;

  constructor(watches: Watches, wake: () => void) {
    this.#watches = watches;
    this.#wake = wake;
  }

  cancel(): void {
    this.#wake = undefined;
    this.#watches.forget(this);
  }

  wake(): void {
    const wake = this.#wake;
    this.cancel();
    wake?.();
  }
}

/**
 * Who waits for a change of what.
 *
 * Invariants
 *  W1. A watch wakes at most once, and never after it was cancelled.
 *  W2. A change wakes every watch one of whose ranges holds the changed key.
 *  W3. A watch stands, for each range, in the bucket of the whole parts of the range; a changed
 *      key looks into one bucket for each number of its leading parts, and nowhere else.
 */
export class Watches {
  /** By slot of the index, then by text of the whole parts. */
  readonly #buckets = new Map<number, Map<string, Set<Place>>>();
  readonly #parked = new Set<Parked>();

  /** Watches that wait. */
  get size(): number {
    return this.#parked.size;
  }

  /** Parks a watch for what follows `view`, which is the current one. A late one wakes soon. */
  park(reads: ReadSet, view: View, wake: () => void): Watch {
    const parked = new Parked(this, wake);
    this.#parked.add(parked);
    if (movedSince(reads, view)) {
      // Not at once: the caller has not got the watch yet, and may want to cancel it in `wake`.
      queueMicrotask(() => wakeAll([parked]));
      return parked;
    }
    for (const [slot, ranges] of reads.ranges) {
      for (const range of ranges) this.#place({ parked, slot, range });
    }
    return parked;
  }

  /** Takes out every watch that one of the steps concerns and adds it to `found`. */
  concerned(steps: readonly Step[], found: Parked[]): void {
    for (const { moved, index, key } of steps) {
      const buckets = moved ? this.#buckets.get(index.slot) : undefined;
      if (buckets === undefined) continue;
      eachPrefix(key, (prefix) => {
        for (const { parked, range } of buckets.get(prefix) ?? []) {
          if (range.length > prefix.length && !key.startsWith(range)) continue;
          found.push(parked);
          this.forget(parked);
        }
      });
    }
  }

  /** Every watch. */
  all(): Parked[] {
    return [...this.#parked];
  }

  forget(parked: Parked): void {
    this.#parked.delete(parked);
    for (const place of parked.places) this.#remove(place);
    parked.places.length = 0;
  }

  #place(place: Place): void {
    place.parked.places.push(place);
    let buckets = this.#buckets.get(place.slot);
    if (buckets === undefined) {
      buckets = new Map();
      this.#buckets.set(place.slot, buckets);
    }
    const parts = wholeParts(place.range);
    const places = buckets.get(parts);
    if (places === undefined) buckets.set(parts, new Set([place]));
    else places.add(place);
  }

  #remove(place: Place): void {
    const buckets = this.#buckets.get(place.slot)!;
    const parts = wholeParts(place.range);
    const places = buckets.get(parts)!;
    places.delete(place);
    if (places.size > 0) return;
    buckets.delete(parts);
    if (buckets.size === 0) this.#buckets.delete(place.slot);
  }
}

/** Wakes each that was not cancelled. One that throws does not keep the others from waking. */
export function wakeAll(watches: readonly Parked[]): void {
  for (const parked of watches) guarded(() => parked.wake());
}

/** Calls `run`; what it throws is a bug, and surfaces as an uncaught error of its own. */
export function guarded(run: () => void): void {
  try {
    run();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function movedSince(reads: ReadSet, view: View): boolean {
  if (view.index === reads.viewIndex) return false;
  for (const [slot, ranges] of reads.ranges) {
    const order = view.order(slot);
    if (order.last <= reads.viewIndex) continue;
    for (const range of ranges) if (order.lastIndexUnder(range) > reads.viewIndex) return true;
  }
  return false;
}
