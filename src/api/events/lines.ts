import type { eventEndpoints } from '../../contract/event.ts';
import { wishesOf } from '../../contract/event.ts';
import { isWished, type TopicWish } from '../../model/event/event.ts';
import { limits } from '../../model/limits.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import type { Commit, EventLog } from '../../server/events/event-log.ts';
import type { Change } from '../../state/types.ts';
import type { InputOf } from '../serve.ts';
import { happened } from './topics.ts';

type Given = InputOf<typeof eventEndpoints.follow>;

/** The part of the events that a reader asked for. */
export interface Selection {
  readonly wishes: readonly TopicWish[];
  readonly namespace: string;
  readonly hasRecords: boolean;
  /** The same for all who asked for the same. */
  readonly key: string;
}

export function selectionOf(input: Given): Selection {
  const { namespace, query } = input;
  const hasRecords = !query.without_records;
  const key = JSON.stringify([namespace, query.topic, hasRecords]);
  return { wishes: wishesOf(input), namespace, hasRecords, key };
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
      text += `${JSON.stringify({ Index: looked.from, Events: [], Missed: true })}\n`;
    } else {
      position = looked.commit.index;
      text += linesOf(looked.commit, making);
    }
  }
  return { bytes: bytesOf(text), position, isAll: false };
}

const bytesOf = (text: string) => (text === '' ? undefined : Buffer.from(text));

/** The requested and visible events of a commit, in small groups. */
function linesOf(commit: Commit, { selection, input, encoded }: Making): string {
  const { index, changes } = commit;
  const { wishes, namespace, hasRecords } = selection;
  const events: string[] = [];
  for (const change of changes) {
    const found = happened(change, commit);
    if (found === undefined || !isWished(wishes, found.topic, () => found.named)) continue;
    const { Namespace } = found.named;
    const isElsewhere = Namespace !== '' && Namespace !== namespace;
    if (isElsewhere && namespace !== everyNamespace) continue;
    if (!input.allows(found.permission(input))) continue;
    if (!hasRecords) {
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
