import { refusal } from '../model/errors.ts';
import {
  type Event,
  EventSchema,
  eventTopics,
  parseTopic,
  type TopicWish,
} from '../model/event/event.ts';
import { limits } from '../model/limits.ts';
import { allOf, type Permission } from '../model/permission/permission.ts';
import { endpoints, typed } from './endpoint.ts';
import { type Asked, decided } from './needs.ts';
import { flag, type QueryTable, type QueryValues, text } from './query.ts';

const query = {
  topic: {
    kind: 'strings',
    description: '`Job`, `Job:web`, `*`; may be repeated. By default all topics.',
  },
  index: {
    kind: 'integer',
    default: 0,
    description: 'The first index to send, if the server still has it; by default only new events.',
  },
  without_records: flag(
    'Leave out the records, for readers that count and name events: the payload is empty.',
  ),
  filter: text('A filter expression over each event: events that do not match are left out.', {
    lengthMax: limits.list.filterLengthMax,
  }),
  newest: {
    kind: 'integer',
    minimum: 1,
    maximum: limits.events.newestMax,
    description:
      'Tell at most so many events at a time, the newest, and count the others. With `filter`: so many that match.',
  },
} as const satisfies QueryTable;

type Given = Asked<QueryValues<typeof query>>;

/** @throws RosterError `invalid-query` */
export function wishesOf({ query: { topic } }: Pick<Given, 'query'>): readonly TopicWish[] {
  if (topic.length > limits.events.topicsMax) {
    const reason = `is given ${topic.length} times, and ${limits.events.topicsMax} is the limit`;
    throw refusal('invalid-query', { parameter: 'topic', reason });
  }
  const wishes = (topic.length === 0 ? ['*'] : topic).map((text) => parseTopic(text));
  if (wishes.includes(undefined)) {
    const reason = `must be one of ${eventTopics.join(', ')} or *, with a key after a colon or without`;
    throw refusal('invalid-query', { parameter: 'topic', reason });
  }
  return wishes as TopicWish[];
}

type Needed = (topic: TopicWish['topic'], namespace: string) => Permission;

const ofTopics = decided(
  'what each topic needs that is asked for; a management token for all of them',
  (asked: Given, needed: Needed) =>
    allOf(...wishesOf(asked).map(({ topic }) => needed(topic, asked.namespace))),
);

export const eventEndpoints = endpoints(
  { group: 'events', noun: 'event', family: 'scheduler' },
  {
    follow: {
      kind: 'stream',
      path: '/v1/event/stream',
      summary: 'Follow events',
      query,
      answer: typed<Event>(EventSchema),
      permission: ofTopics,
    },
  },
);
