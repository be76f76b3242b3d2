/**
 * The events that the page keeps: the newest that match, and exact counts of all others. It is filled as fast as events
 * come, and read once for each time that the page is drawn.
 */
import type { Event } from '../../../../src/model/event/event.ts';

export interface SeenEvent {
  /** Counts the events since the page was opened. */
  readonly number: number;
  readonly receivedMs: number;
  readonly event: Event;
}

export interface EventCounts {
  readonly received: number;
  /** Are in the list. */
  readonly shown: number;
  /** Wait until the reader goes on. */
  readonly waiting: number;
  /** Did match, and were pushed out by newer ones. */
  readonly gone: number;
  /** Did not match. */
  readonly unmatched: number;
}

export type Matches = (event: Event) => boolean;

export class EventWindow {
  readonly #most: number;
  #matches: Matches = () => true;
  #number = 0;
  #isPaused = false;
  /** The oldest first. */
  #shown: SeenEvent[] = [];
  /** What came during a pause, the oldest first: at most as many as fit. */
  #waiting: SeenEvent[] = [];
  #waitingCount = 0;
  #gone = 0;
  #unmatched = 0;

  /** @param most how many are kept */
  constructor(most: number) {
    this.#most = most;
  }

  add(events: readonly Event[], receivedMs: number): void {
    for (const event of events) {
      this.#number += 1;
      if (!this.#matches(event)) {
        this.#unmatched += 1;
        continue;
      }
      const seen = { number: this.#number, receivedMs, event };
      if (this.#isPaused) {
        this.#waitingCount += 1;
        this.#waiting.push(seen);
      } else this.#shown.push(seen);
    }
    this.#bound();
  }

  pause(): void {
    this.#isPaused = true;
  }

  goOn(): void {
    this.#isPaused = false;
    this.#gone += this.#waitingCount - this.#waiting.length;
    this.#shown.push(...this.#waiting);
    this.#waiting = [];
    this.#waitingCount = 0;
    this.#bound();
  }

  /** The list keeps those that match; what is pushed out does not come back. */
  choose(matches: Matches): void {
    this.#matches = matches;
    const kept = this.#shown.filter(({ event }) => matches(event));
    this.#unmatched += this.#shown.length - kept.length;
    this.#shown = kept;
    const waiting = this.#waiting.filter(({ event }) => matches(event));
    const lost = this.#waiting.length - waiting.length;
    this.#unmatched += lost;
    this.#waitingCount -= lost;
    this.#waiting = waiting;
  }

  clear(): void {
    this.#number = 0;
    this.#shown = [];
    this.#waiting = [];
    this.#waitingCount = 0;
    this.#gone = 0;
    this.#unmatched = 0;
  }

  /** The newest first. */
  rows(): readonly SeenEvent[] {
    return this.#shown.toReversed();
  }

  counts(): EventCounts {
    return {
      received: this.#number,
      shown: this.#shown.length,
      waiting: this.#waitingCount,
      gone: this.#gone,
      unmatched: this.#unmatched,
    };
  }

  #bound(): void {
    const over = this.#shown.length - this.#most;
    if (over > 0) {
      this.#shown.splice(0, over);
      this.#gone += over;
    }
    const overWaiting = this.#waiting.length - this.#most;
    if (overWaiting > 0) this.#waiting.splice(0, overWaiting);
  }
}
