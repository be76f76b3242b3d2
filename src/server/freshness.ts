import { limits } from '../model/limits.ts';

/** A word of the leader: at that time its newest durable transaction had this index. */
interface Told {
  readonly index: number;
  readonly atMs: number;
}

/**
 * How old the state of a server that follows may be. To hear of the leader says nothing of that: a server that is
 * connected to the leader, and cut off from the log, shows what it had.
 *
 * Invariants
 *  F1. The state was the newest at a time if it has every transaction that the leader had told by then. The time never
 *      goes back, and is never later than such a time.
 */
export class Freshness {
  #told: readonly Told[] = [];
  #currentMs: number;

  /** @param currentMs when the state was last known to be the newest, on the monotonic clock */
  constructor(currentMs: number) {
    this.#currentMs = currentMs;
  }

  /** The leader had that index at that time, on the monotonic clock. */
  told(index: number, atMs: number): void {
    const last = this.#told.at(-1);
    // The last word stands for all that are too many, which only makes the state look older.
    const isSame = last?.index === index || this.#told.length >= limits.servers.leaderWordsMax;
    this.#told = [...(isSame ? this.#told.slice(0, -1) : this.#told), { index, atMs }];
  }

  /** When a state that shows this index was last known to be the newest. */
  currentMs(shown: number): number {
    const reached = this.#told.findLast(({ index }) => index <= shown);
    if (reached === undefined) return this.#currentMs;
    this.#told = this.#told.filter(({ atMs }) => atMs > reached.atMs);
    this.#currentMs = Math.max(this.#currentMs, reached.atMs);
    return this.#currentMs;
  }

  /** The state was the newest at that time, as this server leads. */
  lead(atMs: number): void {
    this.#told = [];
    this.#currentMs = Math.max(this.#currentMs, atMs);
  }
}
