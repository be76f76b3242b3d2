import type { Clock } from '../base/ports.ts';

/**
 * The clock of a state that several processes write in turn. Each batch carries the time of its leader.
 *
 * Invariants
 *  C1. It never goes back. After a batch it is not earlier than the time of the batch, so the transactions of
 *      a new leader begin no earlier than those of the leader before, whatever its own clock says.
 *  C2. While the clock of the machine is behind, it runs at half speed, until the clock of the machine has caught
 *      up. A wait for a time is at most twice as long meanwhile.
 */
export class StateClock implements Clock {
  readonly #own: Clock;
  /** A time that it has shown, and when. */
  #shownMs = Number.NEGATIVE_INFINITY;
  #shownAtMs = 0;
  #batchMs = 0;

  constructor(own: Clock) {
    this.#own = own;
  }

  nowMs(): number {
    const atMs = this.#own.monotonicMs();
    const leastMs = Math.floor(this.#shownMs + (atMs - this.#shownAtMs) / 2);
    const ownMs = this.#own.nowMs();
    if (ownMs < leastMs) return leastMs;
    this.#shownMs = ownMs;
    this.#shownAtMs = atMs;
    return ownMs;
  }

  monotonicMs(): number {
    return this.#own.monotonicMs();
  }

  /** Time of the newest batch; 0: there is none. */
  get batchMs(): number {
    return this.#batchMs;
  }

  /** Notes the time of a batch that this process shows, or has appended. */
  note(timeMs: number): void {
    this.#batchMs = Math.max(this.#batchMs, timeMs);
    if (timeMs <= this.nowMs()) return;
    this.#shownMs = timeMs;
    this.#shownAtMs = this.#own.monotonicMs();
  }
}
