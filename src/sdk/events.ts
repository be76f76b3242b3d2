import type { eventEndpoints } from '../contract/event.ts';
import type { EventFrame, EventTopic } from '../model/event/event.ts';
import type { TypedEvent } from '../model/event/typed-event.ts';
import { callsOf } from './calls.ts';
import { connectionError, EventStreamError } from './errors.ts';
import { untilOver } from './repeat.ts';
import type { CallOptions, Requester } from './requester.ts';

export interface EventOptions extends CallOptions {
  /** `Job`, `Job:web`, `*`; by default all topics. */
  readonly topics?: readonly string[] | undefined;
  /** The index to begin at, if the server still has its events. */
  readonly index?: number | undefined;
  /** Leaves out the records: the payload of each event is empty. */
  readonly withoutRecords?: boolean | undefined;
  /** Leaves out the events that do not match the expression. */
  readonly filter?: string | undefined;
}

export interface FollowOptions extends EventOptions {
  /** At most so many events at a time, the newest. The others are counted in `Skipped` of each frame. */
  readonly newest?: number | undefined;
}

export type { EventTopic, TypedEvent };

/** `Job`, or `Job:web` for a key or filter key, or `*`. */
export type TopicFilter = EventTopic | `${EventTopic}:${string}` | '*';

/** The topics of a wish. */
type TopicOf<W> = W extends `${infer T}:${string}` ? Extract<T, EventTopic> : OfWholeTopic<W>;
type OfWholeTopic<W> = W extends '*' ? EventTopic : Extract<W, EventTopic>;

export interface EventStreamOptions<W extends TopicFilter> extends Omit<EventOptions, 'topics'> {
  /** By default all topics. */
  readonly topics?: readonly W[] | undefined;
  /**
   * Called when events before the index are no longer known. Without it the stream then rejects with
   * `EventStreamError`.
   */
  readonly onMissed?: ((index: number) => void) | undefined;
}

export function eventsOf(requester: Requester, address: string) {
  const { stream } = callsOf<typeof eventEndpoints>(requester);

  /** The frames of one connection, which a server never ends by itself without an error. */
  async function* framesFrom(options: FollowOptions, onIndex: (index: number) => void) {
    const query = {
      topic: options.topics,
      index: options.index || undefined,
      without_records: options.withoutRecords || undefined,
      filter: options.filter || undefined,
      newest: options.newest,
    };
    const decoder = new TextDecoder();
    let rest = '';
    const call = { ...options, onIndex };
    for await (const bytes of stream('GET /v1/event/stream', {}, call, query)) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const frame = JSON.parse(line) as EventFrame;
        yield frame;
        if (frame.Error !== undefined) return;
      }
    }
    throw connectionError(address, { code: 'UND_ERR_SOCKET' });
  }

  const follow = (options: FollowOptions = {}): AsyncGenerator<EventFrame> => {
    const position = new Position(options.index);
    return untilOver(requester.repeats, options.signal, async function* () {
      position.beginAgain();
      const { index } = position;
      const frames = framesFrom({ ...options, index }, (at) => position.begin(at));
      for await (const frame of frames) yield position.pass(frame);
    });
  };

  return {
    /**
     * The events of the topics in order, each once, also when their connection is lost: a union that `Topic` and
     * `Type` tell apart, with the record under the name of its topic. The request begins with the first read and
     * ends when the loop is left. Rejects with `EventStreamError` when the server ends the stream.
     */
    async *stream<const W extends TopicFilter = '*'>({
      onMissed,
      ...options
    }: EventStreamOptions<W> = {}): AsyncGenerator<TypedEvent<TopicOf<W>>, void> {
      for await (const { Index = 0, Events = [], Missed, Error: ended } of follow(options)) {
        if (ended !== undefined) throw new EventStreamError(ended.Code, ended.Message);
        if (Missed && onMissed === undefined) {
          const sentence = `Events before the index ${Index} are no longer known.`;
          throw new EventStreamError('events-missed', sentence);
        }
        if (Missed) onMissed?.(Index);
        for (const event of Events) yield event as unknown as TypedEvent<TopicOf<W>>;
      }
    },
    /**
     * The lines of the stream, with its heartbeats and its end.
     * The events in order, each once, also when their connection is lost. The request begins with the
     * first read and ends when the loop is left. A line without events and error is a heartbeat.
     */
    follow,
  };
}

/** How far a reader has come. A transaction has several frames if it has many events. */
class Position {
  /** Where the next connection begins; `undefined`: now. */
  index: number | undefined;
  /** The number of events that the reader has of the transaction at `index`. */
  #seen = 0;
  /** The number of them that this connection still repeats. */
  #repeated = 0;

  constructor(index: number | undefined) {
    this.index = index;
  }

  /** A connection is there, which tells what comes after the index. */
  begin(index: number): void {
    if (index > 0) this.index ??= index + 1;
  }

  beginAgain(): void {
    this.#repeated = this.#seen;
  }

  /** The frame without the events that the reader has. */
  pass(frame: EventFrame): EventFrame {
    const { Index: index, Events: events } = frame;
    if (index === undefined) return frame;
    // It has all of the transactions up to its index.
    if (frame.Skipped !== undefined) {
      this.index = index + 1;
      this.#seen = 0;
      return frame;
    }
    if (index !== this.index) {
      this.index = index;
      this.#seen = 0;
      this.#repeated = 0;
    }
    if (events === undefined) return frame;
    const known = Math.min(this.#repeated, events.length);
    this.#repeated -= known;
    this.#seen += events.length - known;
    return known === 0 ? frame : { ...frame, Events: events.slice(known) };
  }
}
