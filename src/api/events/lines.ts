import type { eventEndpoints } from '../../contract/event.ts';
import { wishesOf } from '../../contract/event.ts';
import { EventSchema, isWished, type TopicWish } from '../../model/event/event.ts';
import { limits } from '../../model/limits.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import type { Commit, EventLog } from '../../server/events/event-log.ts';
import type { Change } from '../../state/types.ts';
import { filterOn } from '../filter.ts';
import type { InputOf } from '../serve.ts';
import { type Happened, happened } from './topics.ts';

type Given = InputOf<typeof eventEndpoints.follow>;

/** The part of the events that a reader asked for. */
export interface Selection {
  readonly wishes: readonly TopicWish[];
  readonly namespace: string;
  readonly hasRecords: boolean;
  /** `undefined`: all. */
  readonly matches: ((found: Happened, input: Given) => boolean) | undefined;
  /** The most events of a line, of which the newest are told; `undefined`: every event is told. */
  readonly newest: number | undefined;
  /** The same for all who asked for the same. */
  readonly key: string;
}

/** @throws RosterError `invalid-filter`, `invalid-query` */
export function selectionOf(input: Given): Selection {
  const { namespace, query } = input;
  const { topic, filter, newest } = query;
  const hasRecords = !query.without_records;
  const key = JSON.stringify([namespace, topic, hasRecords, filter]);
  const matches = filter === '' ? undefined : matcherOf(filter);
  return { wishes: wishesOf(input), namespace, hasRecords, matches, newest, key };
}

function matcherOf(filter: string): NonNullable<Selection['matches']> {
  const matches = filterOn(filter, EventSchema);
  // The other fields are at hand, and a record is made. A filter may name it by a pointer with escapes.
  const looksAtRecords = /payload|~|\\/i.test(filter);
  return (found, { unwatched }) =>
    matches(looksAtRecords ? found.event(unwatched) : found.withoutRecord());
}

/** The lines that follow an index. */
export interface Lines {
  /** `undefined`: nothing that the reader asked for and may see. */
  readonly bytes: Uint8Array | undefined;
  /** The index of the last commit in them. */
  readonly position: number;
  readonly isAll: boolean;
}

/** The JSON of events that were made in a round. */
export type Encoded = Map<Change, string>;

interface Making {
  readonly selection: Selection;
  readonly input: Given;
  readonly encoded: Encoded;
}

/** The next lines, up to a size. */
export function toldAfter(log: EventLog, start: number, making: Making): Lines {
  let position = start;
  let text = '';
  while (text.length < limits.events.partBytes) {
    const looked = log.after(position);
    if (looked.kind === 'nothing') return { bytes: bytesOf(text), position, isAll: true };
    if (looked.kind === 'missed') {
      position = looked.from - 1;
      text += missedLine(looked.from);
    } else {
      position = looked.commit.index;
      text += linesOf(looked.commit, making);
    }
  }
  return { bytes: bytesOf(text), position, isAll: false };
}

/** Tells that the events before the index are no longer known. */
export const missedLine = (from: number): string =>
  `${JSON.stringify({ Index: from, Events: [], Missed: true })}\n`;

const bytesOf = (text: string) => (text === '' ? undefined : Buffer.from(text));

/** The event of a change that the reader asked for and may see; `undefined`: none. */
export function seenIn(
  change: Change,
  commit: Commit,
  { selection, input }: Pick<Making, 'selection' | 'input'>,
): Happened | undefined {
  const { wishes, namespace } = selection;
  const found = happened(change, commit);
  if (found === undefined || !isWished(wishes, found.topic, () => found.named)) return undefined;
  const { Namespace } = found.named;
  const isElsewhere = Namespace !== '' && Namespace !== namespace;
  if (isElsewhere && namespace !== everyNamespace) return undefined;
  return input.allows(found.permission(input)) ? found : undefined;
}

/** The requested and visible events of a commit, in small groups. */
function linesOf(commit: Commit, making: Making): string {
  const { selection, input, encoded } = making;
  const { index, changes } = commit;
  const events: string[] = [];
  for (const change of changes) {
    const found = seenIn(change, commit, making);
    if (found === undefined || selection.matches?.(found, input) === false) continue;
    if (!selection.hasRecords) {
      events.push(JSON.stringify(found.withoutRecord()));
      continue;
    }
    let event = encoded.get(change);
    if (event === undefined) {
      event = JSON.stringify(found.event(input.unwatched));
      encoded.set(change, event);
    }
    events.push(event);
  }
  let text = '';
  for (let at = 0; at < events.length; at += limits.events.perFrameMax) {
    const group = events.slice(at, at + limits.events.perFrameMax);
    text += `{"Index":${index},"Events":[${group.join(',')}]}\n`;
  }
  return text;
}
