import type { Event, EventFrame } from '../../../../src/model/event/event.ts';

/** How far the page has come in the stream, so that it can ask for the rest in another form. */
export class StreamPlace {
  #index: number | undefined;
  /** The number of events that were passed of the transaction at the index. */
  #passed = 0;
  /** The number of them that the stream repeats. */
  #repeated = 0;

  /** The index to begin at; `undefined`: with what happens now. */
  beginAgain(): number | undefined {
    this.#repeated = this.#passed;
    return this.#index;
  }

  /** The events of the frame that were not passed before. */
  pass({ Index: index, Events: events = [] }: EventFrame): readonly Event[] {
    if (index === undefined) return events;
    if (index !== this.#index) {
      this.#index = index;
      this.#passed = 0;
      this.#repeated = 0;
    }
    const known = Math.min(this.#repeated, events.length);
    this.#repeated -= known;
    this.#passed += events.length - known;
    return known === 0 ? events : events.slice(known);
  }
}
