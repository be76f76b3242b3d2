import type { eventEndpoints } from '../../contract/event.ts';
import { limits } from '../../model/limits.ts';
import type { EventLog } from '../../server/events/event-log.ts';
import type { InputOf } from '../serve.ts';
import { missedLine, type Selection, seenIn } from './lines.ts';
import type { Happened } from './topics.ts';

type Given = InputOf<typeof eventEndpoints.follow>;

interface Kept {
  /** Of all events of the line, so that both lists are told in one order. */
  readonly number: number;
  readonly found: Happened;
  readonly isMatch: boolean;
}

/**
 * The events since the last line of a reader who wants the newest of them and the number of the others.
 *
 * Invariants
 *  N1. Every event that the reader may see is told or counted in exactly one line, however slow the reader is.
 *  N2. Of the events of a line, the newest are told, and the newest that match the filter: as many of each as were asked
 *      for.
 *  N3. The kept events are bounded by that number, not by the number of all.
 */
export class NewestEvents {
  readonly #selection: Selection;
  readonly #most: number;
  /** All commits up to it are counted. */
  #position: number;
  /** Events of the next line, by topic. */
  #counts = new Map<string, number>();
  #count = 0;
  #matchCount = 0;
  #newest: Kept[] = [];
  #matching: Kept[] = [];
  /** Events before it were forgotten before they were counted. */
  #missedFrom: number | undefined;

  constructor(selection: Selection, most: number, position: number) {
    this.#selection = selection;
    this.#most = most;
    this.#position = position;
  }

  get position(): number {
    return this.#position;
  }

  /** Whether there is anything to tell. */
  get isDue(): boolean {
    return this.#count > 0 || this.#missedFrom !== undefined;
  }

  /** Counts the events of all commits that it has not seen. */
  take(log: EventLog, input: Given): void {
    for (;;) {
      const looked = log.after(this.#position);
      if (looked.kind === 'nothing') return;
      if (looked.kind === 'missed') {
        this.#missedFrom = looked.from;
        this.#position = looked.from - 1;
        continue;
      }
      const { commit } = looked;
      this.#position = commit.index;
      for (const change of commit.changes) {
        const found = seenIn(change, commit, { selection: this.#selection, input });
        if (found !== undefined) this.#keepEvent(found, input);
      }
    }
  }

  #keepEvent(found: Happened, input: Given): void {
    const { matches } = this.#selection;
    const isMatch = matches?.(found, input) ?? true;
    const kept = { number: ++this.#count, found, isMatch };
    this.#counts.set(found.topic, (this.#counts.get(found.topic) ?? 0) + 1);
    this.#newest.push(kept);
    this.#bound(this.#newest);
    if (isMatch) this.#matchCount++;
    if (!isMatch || matches === undefined) return;
    this.#matching.push(kept);
    this.#bound(this.#matching);
  }

  /** Lets the list grow to twice its size, so that it is seldom cut. */
  #bound(list: Kept[]): void {
    if (list.length >= 2 * this.#most) list.splice(0, list.length - this.#most);
  }

  /** The text of what happened since the last line, or since the beginning. */
  line(input: Given): string {
    const told = this.#toldEvents(input);
    const skipped = new Map(this.#counts);
    let matchesLeft = this.#matchCount;
    for (const { found, isMatch } of told) {
      const left = skipped.get(found.topic)! - 1;
      if (left > 0) skipped.set(found.topic, left);
      else skipped.delete(found.topic);
      if (isMatch) matchesLeft--;
    }
    const rest = {
      Skipped: Object.fromEntries(skipped),
      ...(this.#selection.matches !== undefined && { SkippedMatches: matchesLeft }),
    };
    const events = this.#textsOf(told, { isWhole: skipped.size === 0, input }).join(',');
    const missed = this.#missedFrom === undefined ? '' : missedLine(this.#missedFrom);
    const text = `${missed}{"Index":${this.#position},"Events":[${events}],${JSON.stringify(rest).slice(1)}\n`;
    this.#forgetEvents();
    return text;
  }

  #forgetEvents(): void {
    this.#counts = new Map();
    [this.#count, this.#matchCount] = [0, 0];
    [this.#newest, this.#matching] = [[], []];
    this.#missedFrom = undefined;
  }

  /** N2, in order. The rights may have changed while the reader was slow. */
  #toldEvents(input: Given): readonly Kept[] {
    const newest = this.#newest.slice(-this.#most);
    const first = newest[0]?.number ?? 0;
    const older = this.#matching.slice(-this.#most).filter(({ number }) => number < first);
    return [...older, ...newest].filter(({ found }) => input.allows(found.permission(input)));
  }

  /** With their records, unless these are many. */
  #textsOf(
    told: readonly Kept[],
    { isWhole, input }: { readonly isWhole: boolean; readonly input: Given },
  ): readonly string[] {
    const marked = (kept: Kept, event: object) =>
      JSON.stringify(kept.isMatch ? event : { ...event, Matches: false });
    if (isWhole && this.#selection.hasRecords) {
      const texts: string[] = [];
      let length = 0;
      for (const kept of told) {
        const text = marked(kept, kept.found.event(input.unwatched));
        length += text.length;
        if (length > limits.events.partBytes && told.length > 1) break;
        texts.push(text);
      }
      if (texts.length === told.length) return texts;
    }
    return told.map((kept) => marked(kept, kept.found.withoutRecord()));
  }
}
