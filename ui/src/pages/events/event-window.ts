/**
 * The newest events: of all, and of those that match. It is filled as fast as events come, and read once for each time
 * that the page is drawn.
 */
import type { Event } from '../../../../src/model/event/event.ts';

export interface SeenEvent {
  /** Counts the events since the page was opened. */
  readonly number: number;
  readonly receivedMs: number;
  readonly event: Event;
}

export type Matches = (event: Event) => boolean;

export class EventWindow {
  readonly #most: number;
  #matches: Matches = () => true;
  #received = 0;
  #matched = 0;
  /** The oldest first. From them a new choice is made. */
  #recent: SeenEvent[] = [];
  #chosen: SeenEvent[] = [];

  /** @param most how many are kept of each */
  constructor(most: number) {
    this.#most = most;
  }

  add(events: readonly Event[], receivedMs: number): void {
    for (const event of events) {
      this.#received += 1;
      const seen = { number: this.#received, receivedMs, event };
      this.#recent.push(seen);
      if (!this.#matches(event)) continue;
      this.#matched += 1;
      this.#chosen.push(seen);
    }
    this.#bound(this.#recent);
    this.#bound(this.#chosen);
  }

  /** Chooses anew among all events that are kept. */
  choose(matches: Matches): void {
    this.#matches = matches;
    const kept = new Map([...this.#chosen, ...this.#recent].map((seen) => [seen.number, seen]));
    this.#chosen = [...kept.values()]
      .filter(({ event }) => matches(event))
      .sort((a, b) => a.number - b.number);
    this.#bound(this.#chosen);
  }

  clear(): void {
    this.#received = 0;
    this.#matched = 0;
    this.#recent = [];
    this.#chosen = [];
  }

  /** The newest first. */
  rows(): readonly SeenEvent[] {
    return this.#chosen.toReversed();
  }

  get received(): number {
    return this.#received;
  }

  /** How many did match when they came. */
  get matched(): number {
    return this.#matched;
  }

  #bound(list: SeenEvent[]): void {
    if (list.length > this.#most) list.splice(0, list.length - this.#most);
  }
}
