import type { Timers } from '../../base/ports.ts';
import { eventEndpoints as contract, wishesOf } from '../../contract/event.ts';
import { RosterError, refusal } from '../../model/errors.ts';
import { type Event, type EventFrame, isWished, type TopicWish } from '../../model/event/event.ts';
import { limits } from '../../model/limits.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import type { Commit } from '../../server/events/event-log.ts';
import type { Server } from '../../server/server.ts';
import { happened, topicPermission } from '../events/topics.ts';
import type { Route, StreamInput } from '../route.ts';
import { type InputOf, serveStream } from '../serve.ts';

type Given = InputOf<typeof contract.follow>;

/** Source: docs/guides/events.md#over-http. */
export function eventStreamRoutes(server: Server): Route[] {
  let readers = 0;
  const follow = async (input: StreamInput<Given>, signal: AbortSignal) => {
    if (readers >= limits.events.readersMax) {
      throw refusal('too-many-watches', { limit: limits.events.readersMax });
    }
    readers++;
    let isCounted = true;
    const over = () => {
      if (isCounted) readers--;
      isCounted = false;
    };
    const { index } = input.query;
    const position = index > 0 ? index - 1 : server.context.state.read().index;
    // The generator below does not run its `finally` if the caller leaves before the first read.
    signal.addEventListener('abort', over, { once: true });
    return {
      status: 200,
      headers: {
        'content-type': 'application/x-ndjson',
        [input.dialect.headers.index]: String(position),
      },
      body: frames({ server, input, signal }, position, over),
    };
  };
  return serveStream(contract.follow, follow, { found: () => topicPermission });
}

interface Reader {
  readonly server: Server;
  readonly input: StreamInput<Given>;
  readonly signal: AbortSignal;
}

/** The events after the index `start`. */
async function* frames(
  { server, input, signal }: Reader,
  start: number,
  over: () => void,
): AsyncGenerator<Uint8Array> {
  const { world } = server.context;
  const wishes = wishesOf(input);
  let position = start;
  try {
    yield line({});
    while (!signal.aborted) {
      const looked = server.events.after(position);
      if (looked.kind === 'missed') {
        yield line({ Index: looked.from, Events: [], Missed: true });
        position = looked.from - 1;
      } else if (looked.kind === 'nothing') {
        const wasQuiet = !(await isNews(world.timers, signal, looked.changed));
        input.renew();
        if (wasQuiet && !signal.aborted) yield line({});
      } else {
        position = looked.commit.index;
        yield* told(looked.commit, wishes, input.renew());
      }
    }
  } catch (thrown) {
    // The answer has begun, so the error is sent as a line.
    if (!(thrown instanceof RosterError)) throw thrown;
    yield line({ Error: { Code: thrown.code, Message: thrown.message } });
  } finally {
    over();
  }
}

/** `false`: the heartbeat is due, or the caller has disconnected. */
function isNews(timers: Timers, signal: AbortSignal, changed: Promise<void>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const end = (isChanged: boolean) => {
    timer.clear();
    signal.removeEventListener('abort', leave);
    resolve(isChanged);
  };
  const leave = () => end(false);
  const timer = timers.after(limits.events.heartbeatMs, leave);
  signal.addEventListener('abort', leave, { once: true });
  void changed.then(() => end(true));
  return promise;
}

/** The requested and visible events of a commit, in small groups. */
function* told(commit: Commit, wishes: readonly TopicWish[], input: Given): Generator<Uint8Array> {
  const { index, changes } = commit;
  let events: Event[] = [];
  for (const change of changes) {
    const found = happened(change, index);
    if (found === undefined || !isWished(wishes, found.topic, () => found.named)) continue;
    const { Namespace } = found.named;
    const isElsewhere = Namespace !== '' && Namespace !== input.namespace;
    if (isElsewhere && input.namespace !== everyNamespace) continue;
    if (!input.allows(found.permission)) continue;
    events.push(found.event(input.unwatched));
    if (events.length < limits.events.perFrameMax) continue;
    yield line({ Index: index, Events: events });
    events = [];
  }
  if (events.length > 0) yield line({ Index: index, Events: events });
}

const line = (frame: EventFrame): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(frame)}\n`);
