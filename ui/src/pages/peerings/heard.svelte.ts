/**
 * The times of the streams of peerings. They pass without a change of the state, so a watch does not tell them: they are
 * read again every few seconds, all together, while the page is seen.
 */
import type { Peering, StreamStatus } from '../../../../src/model/peering/peering.ts';

/** Not in limits: half the pause between two heartbeats. */
const againMs = 5000;

export interface Heard {
  /** The newest that is known. */
  of(peering: Peering): StreamStatus;
}

/** `read` asks for the peerings that the page shows. A refusal is told by the watch of the page. */
export function heard(read: (signal: AbortSignal) => Promise<readonly Peering[]>): Heard {
  let known = $state.raw<ReadonlyMap<string, StreamStatus>>(new Map());
  $effect(() => {
    const ended = new AbortController();
    const again = (): void => {
      if (document.hidden) return;
      read(ended.signal).then(
        (peerings) => {
          known = new Map(peerings.map(({ ID, StreamStatus }) => [ID, StreamStatus]));
        },
        () => undefined,
      );
    };
    const timer = setInterval(again, againMs);
    return () => {
      clearInterval(timer);
      ended.abort();
    };
  });
  return {
    of({ ID, StreamStatus }) {
      const read = known.get(ID);
      return read !== undefined && later(read, StreamStatus) ? read : StreamStatus;
    },
  };
}

/** Times of the API are RFC 3339 in UTC with milliseconds, so texts compare as times. */
const later = (one: StreamStatus, other: StreamStatus): boolean => newest(one) > newest(other);
const newest = ({ LastReceive, LastSend }: StreamStatus): string =>
  [LastReceive ?? '', LastSend ?? ''].sort()[1]!;
