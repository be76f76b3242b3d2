import type { Clock } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type { Change, State } from '../../state/types.ts';

export interface Commit {
  readonly index: number;
  /** When this server heard of it, in Unix milliseconds. */
  readonly heardMs: number;
  readonly changes: readonly Change[];
}

export type Looked =
  | { readonly kind: 'commit'; readonly commit: Commit }
  | { readonly kind: 'nothing' }
  /** The next commit is no longer kept; the kept ones begin at `from`. */
  | { readonly kind: 'missed'; readonly from: number };

/**
 * The newest commits, for readers of the event stream.
 *
 * Invariants
 *  L1. It keeps references to rows and nothing else: readers make the events.
 *  L2. The number of kept changes is bounded, however many readers there are and however slow: a
 *      reader has a position and no queue.
 */
export class EventLog {
  readonly #commits: Commit[] = [];
  /**
   * The number of dropped commits at the front of `#commits`. They hold no changes, and are cut off
   * from time to time.
   */
  #given = 0;
  #changes = 0;
  #missedUntil: number;
  #changed = Promise.withResolvers<void>();
  readonly #unsubscribe: readonly (() => void)[];

  constructor(state: State, clock: Clock) {
    this.#missedUntil = state.read().index;
    this.#unsubscribe = [
      state.onCommit((changes, index) =>
        this.#addCommit({ index, heardMs: clock.nowMs(), changes }),
      ),
      state.onReplaced((index) => this.#beginAnew(index)),
    ];
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  /** The first commit after the index. */
  after(index: number): Looked {
    if (index < this.#missedUntil) return { kind: 'missed', from: this.#missedUntil + 1 };
    const commit = this.#commits[this.#positionAfter(index)];
    if (commit !== undefined) return { kind: 'commit', commit };
    return { kind: 'nothing' };
  }

  /** Whether there is anything after the index. */
  isAfter(index: number): boolean {
    return index < this.#missedUntil || index < (this.#commits.at(-1)?.index ?? 0);
  }

  /** Resolves at the next commit. */
  get changed(): Promise<void> {
    return this.#changed.promise;
  }

  /** When the state was replaced, events are missing, and readers have to list again. */
  #beginAnew(index: number): void {
    this.#commits.length = 0;
    this.#given = 0;
    this.#changes = 0;
    this.#missedUntil = index;
    this.#tellChanged();
  }

  #tellChanged(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  #addCommit(commit: Commit): void {
    this.#commits.push(commit);
    this.#changes += commit.changes.length;
    // The newest commit stays, whatever its size.
    while (this.#changes > limits.events.changesKept && this.#given < this.#commits.length - 1) {
      const { index, heardMs, changes } = this.#commits[this.#given]!;
      // Its rows go now, its place when half of the places are empty.
      this.#commits[this.#given++] = { index, heardMs, changes: [] };
      this.#changes -= changes.length;
      this.#missedUntil = index;
    }
    if (this.#given > this.#commits.length / 2) {
      this.#commits.splice(0, this.#given);
      this.#given = 0;
    }
    this.#tellChanged();
  }

  #positionAfter(index: number): number {
    let low = this.#given;
    let high = this.#commits.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#commits[middle]!.index <= index) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
