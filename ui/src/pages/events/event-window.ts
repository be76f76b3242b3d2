/**
 * The newest events: of all, and of those that match. It is filled as fast as events come, and read once for each time
 * that the page is drawn. Of a fast stream the server sends the newest events and the number of the others.
 */
import type { Event, EventFrame } from '../../../../src/model/event/event.ts';

export interface SeenEvent {
  /** Of its row. */
  readonly key: string;
  /** Grows with each event. */
  readonly number: number;
  readonly receivedMs: number;
  readonly event: Event;
}

export type Matches = (event: Event) => boolean;

export class EventWindow {
  readonly #most: number;
  #number = 0;
  #received = 0;
  #matched = 0;
  /** Events that were counted and not sent, by topic. */
  #skipped = new Map<string, number>();
  /** The oldest first. From them a new choice is made. */
  #recent: SeenEvent[] = [];
  #chosen: SeenEvent[] = [];

  /** @param most how many are kept of each */
  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a line of the stream, which tells which of its events match. */
  add({ Events: events = [], Skipped = {}, SkippedMatches }: EventFrame, receivedMs: number): void {
    let skipped = 0;
    for (const [topic, count] of Object.entries(Skipped)) {
      skipped += count;
      this.#skipped.set(topic, (this.#skipped.get(topic) ?? 0) + count);
    }
    this.#received += skipped + events.length;
    this.#matched += SkippedMatches ?? skipped;
    for (const { Matches, ...event } of events) {
      const number = ++this.#number;
      const seen = { key: String(number), number, receivedMs, event };
      this.#recent.push(seen);
      if (Matches === false) continue;
      this.#matched += 1;
      this.#chosen.push(seen);
    }
    this.#bound(this.#recent);
    this.#bound(this.#chosen);
  }

  /** Chooses anew among all events that are kept. */
  choose(matches: Matches): void {
    const kept = new Map([...this.#chosen, ...this.#recent].map((seen) => [seen.number, seen]));
    this.#chosen = [...kept.values()]
      .filter(({ event }) => matches(event))
      .sort((a, b) => a.number - b.number);
    this.#bound(this.#chosen);
  }

  clear(): void {
    this.#received = 0;
    this.#matched = 0;
    this.#skipped.clear();
    this.#recent = [];
    this.#chosen = [];
  }

  /**
   * The newest first. By place the rows have the same keys each time, so that the next events are written into the
   * drawn rows.
   */
  rows(isByPlace: boolean): readonly SeenEvent[] {
    const rows = this.#chosen.toReversed();
    return isByPlace ? rows.map((seen, place) => ({ ...seen, key: `place ${place}` })) : rows;
  }

  get received(): number {
    return this.#received;
  }

  /** How many did match when they came. */
  get matched(): number {
    return this.#matched;
  }

  /** The most first. */
  get skipped(): readonly (readonly [topic: string, count: number])[] {
    return [...this.#skipped].sort(([, left], [, right]) => right - left);
  }

  #bound(list: SeenEvent[]): void {
    if (list.length > this.#most) list.splice(0, list.length - this.#most);
  }
}
