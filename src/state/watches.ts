import type { ReadSet } from './footprint.ts';
import { eachPrefix, encodeKey, wholeParts } from './keys.ts';
import type { RowChange } from './row-change.ts';
import type { Watch } from './types.ts';
import type { View } from './view.ts';

/** With so few buckets, each is compared with a changed key. Not in limits: it only decides about speed. */
const fewBuckets = 4;

/** Ranges by the text of their whole parts. */
type Buckets = Map<string, Set<WatchedRange>>;

/** A range of a watch. */
interface WatchedRange {
  readonly parked: Parked;
  readonly slot: number;
  /** The text with which the watched keys begin. */
  readonly range: string;
}

export class Parked implements Watch {
  readonly ranges: WatchedRange[] = [];
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
 * The watches that wait, by the ranges that they watch.
 *
 * Invariants
 *  W1. A watch wakes at most once, and never after it was cancelled.
 *  W2. A change wakes every watch that has a range with the changed key.
 *  W3. Each range of a watch is in the bucket of its whole parts. For a changed key, only the buckets of
 *      the key's own leading parts are searched.
 */
export class Watches {
  /** By slot of the index, then by text of the whole parts. */
  readonly #buckets = new Map<number, Buckets>();
  readonly #parked = new Set<Parked>();
  /** By slot of the index, whether a watch waits for changes of it. */
  readonly #watched: boolean[] = [];

  /** Number of watches that wait. */
  get size(): number {
    return this.#parked.size;
  }

  /** Parks a watch. `view` is current: if it shows a change since the read, the watch wakes soon. */
  park(reads: ReadSet, view: View, wake: () => void): Watch {
    const parked = new Parked(this, wake);
    this.#parked.add(parked);
    if (movedSince(reads, view)) {
      // Not at once, as `wake` may want to cancel the watch, which the caller does not have yet.
      queueMicrotask(() => wakeAll([parked]));
      return parked;
    }
    for (const [slot, ranges] of reads.ranges) {
      for (const range of ranges) this.#addRange({ parked, slot, range });
    }
    return parked;
  }

  /** Moves every watch that one of the changes concerns to `found`. */
  concerned(changes: readonly RowChange[], found: Parked[]): void {
    for (const change of changes) {
      if (this.#buckets.size === 0) return;
      change.table.visitMoves(change, this.#watched, (slot, group) => {
        const buckets = this.#buckets.get(slot);
        if (buckets === undefined || !mayHold(buckets, group)) return;
        this.#findWatches(buckets, group + encodeKey(change.key), found);
      });
    }
  }

  #findWatches(buckets: Buckets, key: string, found: Parked[]): void {
    eachPrefix(key, (prefix) => {
      for (const { parked, range } of buckets.get(prefix) ?? []) {
        if (range.length > prefix.length && !key.startsWith(range)) continue;
        found.push(parked);
        this.forget(parked);
      }
    });
  }

  /** Every watch. */
  all(): Parked[] {
    return [...this.#parked];
  }

  forget(parked: Parked): void {
    this.#parked.delete(parked);
    for (const watched of parked.ranges) this.#removeRange(watched);
    parked.ranges.length = 0;
  }

  #addRange(watched: WatchedRange): void {
    watched.parked.ranges.push(watched);
    let buckets = this.#buckets.get(watched.slot);
    if (buckets === undefined) {
      buckets = new Map();
      this.#buckets.set(watched.slot, buckets);
      this.#watched[watched.slot] = true;
    }
    const parts = wholeParts(watched.range);
    const bucket = buckets.get(parts);
    if (bucket === undefined) buckets.set(parts, new Set([watched]));
    else bucket.add(watched);
  }

  #removeRange(watched: WatchedRange): void {
    const buckets = this.#buckets.get(watched.slot)!;
    const parts = wholeParts(watched.range);
    const bucket = buckets.get(parts)!;
    bucket.delete(watched);
    if (bucket.size > 0) return;
    buckets.delete(parts);
    if (buckets.size > 0) return;
    this.#buckets.delete(watched.slot);
    this.#watched[watched.slot] = false;
  }
}

/** Whether a key of the group may lie in a range. Most keys lie in none where few are watched, and then nothing is made. */
function mayHold(buckets: Buckets, group: string): boolean {
  if (buckets.size > fewBuckets) return true;
  for (const parts of buckets.keys()) {
    const isShort = parts.length <= group.length;
    if (isShort ? group.startsWith(parts) : parts.startsWith(group)) return true;
  }
  return false;
}

/** Wakes the watches that were not cancelled, even if some of them throw. */
export function wakeAll(watches: readonly Parked[]): void {
  for (const parked of watches) guarded(() => parked.wake());
}

/** Calls `run` with the values. If it throws, that is a bug, and the error becomes an uncaught error. */
export function guarded<A extends readonly unknown[]>(run: (...told: A) => void, ...told: A): void {
  try {
    run(...told);
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
