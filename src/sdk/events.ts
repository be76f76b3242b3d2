import type { eventEndpoints } from '../contract/event.ts';
import type { EventFrame } from '../model/event/event.ts';
import { callsOf } from './calls.ts';
import type { CallOptions, Requester } from './requester.ts';

export interface EventOptions extends CallOptions {
  /** `Job`, `Job:web`, `*`; nothing: everything. */
  readonly topics?: readonly string[] | undefined;
  /** The first index to tell of, where that is still known. */
  readonly index?: number | undefined;
}

export type Events = ReturnType<typeof eventsOf>;

export function eventsOf(requester: Requester) {
  const { stream } = callsOf<typeof eventEndpoints>(requester);
  return {
    /**
     * What happens, in order. The request is made when the first line is asked for; leaving the loop
     * ends it. A line with neither events nor an error says that the stream is alive.
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
