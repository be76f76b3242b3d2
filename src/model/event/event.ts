import { List, type Model, Text, Type, Whole } from '../schema.ts';

/** Source: docs/guides/events.md#topics-and-types. */
export const eventTopics = [
  'Job',
  'Evaluation',
  'Allocation',
  'Deployment',
  'Service',
  'Node',
  'NodePool',
  'Plan',
  'Variable',
  'ConfigEntry',
  'Peering',
  'ACLToken',
  'ACLPolicy',
  'ACLRole',
  'ACLAuthMethod',
  'ACLBindingRule',
] as const;
export type EventTopic = (typeof eventTopics)[number];

/** A durable change. `Payload` has the record under the name of its kind. */
export const EventSchema = Type.Object({
  Topic: Text(),
  Type: Text(),
  Key: Text(),
  Namespace: Text(),
  FilterKeys: List(Type.String()),
  Index: Whole(),
  Payload: Type.Record(Type.String(), Type.Unknown()),
});
export type Event = Model<typeof EventSchema>;

/** `Matches` is `false` for an event that does not match the filter and is among the newest. */
export type ToldEvent = Event & { readonly Matches?: false };

/**
 * A line of the stream: the events of a transaction, or a part of them. A line with neither field tells that
 * the stream is alive.
 */
export interface EventFrame {
  readonly Index?: number;
  readonly Events?: readonly ToldEvent[];
  /**
   * The number of events since the line before that are not in this one, by topic. Present for readers of the newest events
   * alone. Their line has all transactions up to `Index`.
   */
  readonly Skipped?: Readonly<Record<string, number>>;
  /** The number of them that match the filter. Absent without a filter. */
  readonly SkippedMatches?: number;
  /** Some events before `Index` that the reader asked for are no longer known. */
  readonly Missed?: true;
  /** The reason that the stream ends here. */
  readonly Error?: { readonly Code: string; readonly Message: string };
}

export interface TopicWish {
  readonly topic: EventTopic | '*';
  /** A key or filter key; `undefined`: every key. */
  readonly key: string | undefined;
}

/** Reads `Job`, `Job:web` or `*`; `undefined` for any other text. */
export function parseTopic(text: string): TopicWish | undefined {
  const mark = text.indexOf(':');
  const name = mark < 0 ? text : text.slice(0, mark);
  const rest = mark < 0 ? '' : text.slice(mark + 1);
  const key = rest === '' || rest === '*' ? undefined : rest;
  const topic = name === '*' ? name : eventTopics.find((one) => one === name);
  return topic === undefined ? undefined : { topic, key };
}

type Named = Pick<Event, 'Key' | 'FilterKeys'>;

/** Whether a wish includes the topic and, if it names a key, the record. */
export const isWished = (wishes: readonly TopicWish[], topic: EventTopic, event: () => Named) =>
  wishes.some((wish) => {
    if (wish.topic !== '*' && wish.topic !== topic) return false;
    if (wish.key === undefined) return true;
    const { Key, FilterKeys } = event();
    return Key === wish.key || (FilterKeys ?? []).includes(wish.key);
  });
