import type { eventEndpoints } from '../contract/event.ts';
import type { EventFrame } from '../model/event/event.ts';
import { callsOf } from './calls.ts';
import type { CallOptions, Requester } from './requester.ts';

export interface EventOptions extends CallOptions {
  /** `Job`, `Job:web`, `*`; by default all topics. */
  readonly topics?: readonly string[] | undefined;
  /** The index to begin at, if the server still has its events. */
  readonly index?: number | undefined;
}

export function eventsOf(requester: Requester) {
  const { stream } = callsOf<typeof eventEndpoints>(requester);
  return {
    /**
     * The events in order. The request begins with the first read and ends when the loop is left. A
     * line without events and error is a heartbeat.
     */
    async *follow(options: EventOptions = {}): AsyncGenerator<EventFrame> {
      const query = { topic: options.topics, index: options.index || undefined };
      const decoder = new TextDecoder();
      let rest = '';
      for await (const bytes of stream('GET /v1/event/stream', {}, options, query)) {
        const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) yield JSON.parse(line) as EventFrame;
      }
    },
  };
}
