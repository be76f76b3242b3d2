import type { eventEndpoints } from '../contract/event.ts';
import type { EventFrame } from '../model/event/event.ts';
import { callsOf } from './calls.ts';
import { connectionError } from './errors.ts';
import { untilOver } from './repeat.ts';
import type { CallOptions, Requester } from './requester.ts';

export interface EventOptions extends CallOptions {
  /** `Job`, `Job:web`, `*`; by default all topics. */
  readonly topics?: readonly string[] | undefined;
  /** The index to begin at, if the server still has its events. */
  readonly index?: number | undefined;
}

export function eventsOf(requester: Requester, address: string) {
  const { stream } = callsOf<typeof eventEndpoints>(requester);

  /** The frames of one connection, which a server never ends by itself without an error. */
  async function* framesFrom(options: EventOptions, onIndex: (index: number) => void) {
    const query = { topic: options.topics, index: options.index || undefined };
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

  return {
    /**
     * The events in order, each once, also when their connection is lost. The request begins with the
     * first read and ends when the loop is left. A line without events and error is a heartbeat.
     */
    follow(options: EventOptions = {}): AsyncGenerator<EventFrame> {
      const position = new Position(options.index);
      return untilOver(requester.repeats, options.signal, async function* () {
        position.beginAgain();
        const { index } = position;
        const frames = framesFrom({ ...options, index }, (at) => position.begin(at));
        for await (const frame of frames) yield position.pass(frame);
      });
    },
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
