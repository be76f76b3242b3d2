import { eventEndpoints as contract } from '../../contract/event.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Server } from '../../server/server.ts';
import { EventReaders } from '../events/readers.ts';
import { topicPermission } from '../events/topics.ts';
import type { Route, StreamInput } from '../route.ts';
import { type InputOf, serveStream } from '../serve.ts';

type Given = InputOf<typeof contract.follow>;

/** Source: docs/guides/events.md#over-http. */
export function eventStreamRoutes(server: Server): Route[] {
  const { state, world, log } = server.context;
  const readers = new EventReaders({ events: server.events, world, log });
  const follow = async (input: StreamInput<Given>, signal: AbortSignal) => {
    if (readers.size >= limits.events.readersMax) {
      throw refusal('too-many-watches', { limit: limits.events.readersMax });
    }
    const { index } = input.query;
    const position = index > 0 ? index - 1 : state.read().index;
    return {
      status: 200,
      headers: {
        'content-type': 'application/x-ndjson',
        [input.dialect.headers.index]: String(position),
      },
      body: readers.body(input, position, signal),
    };
  };
  return serveStream(contract.follow, follow, { found: () => topicPermission });
}
