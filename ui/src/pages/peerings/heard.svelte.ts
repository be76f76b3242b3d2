/**
 * The streams of peerings: when they were last heard, and the names of the services on them. Both change without a change
 * of the peering, so a watch does not tell them: they are read again every few seconds, all together, while the page is
 * seen.
 */
import type { Peering, StreamStatus } from '../../../../src/model/peering/peering.ts';
import { clock } from '../../app/clock.svelte.ts';

/** Not in limits: well below the pause between two heartbeats. */
const againMs = 3000;

interface Known {
  readonly atMs: number;
  readonly streams: ReadonlyMap<string, StreamStatus>;
}

export interface Heard {
  /** The newest that is known. `receivedMs`: when the page got the peering. */
  of(peering: Peering, receivedMs: number): StreamStatus;
}

/** `read` asks for the peerings that the page shows. Its refusals are told by the watch of the page. */
export function heard(read: (signal: AbortSignal) => Promise<readonly Peering[]>): Heard {
  let known = $state.raw<Known>({ atMs: 0, streams: new Map() });
  $effect(() => {
    const ended = new AbortController();
    let isAsking = false;
    const again = async (): Promise<void> => {
      if (document.hidden || isAsking) return;
      isAsking = true;
      const askedMs = clock.instantMs();
      try {
        const peerings = await read(ended.signal);
        const streams = new Map(peerings.map(({ ID, StreamStatus }) => [ID, StreamStatus]));
        known = { atMs: askedMs, streams };
      } catch {
        // The shown values stay, with their times.
      } finally {
        isAsking = false;
      }
    };
    const timer = setInterval(() => void again(), againMs);
    return () => {
      clearInterval(timer);
      ended.abort();
    };
  });
  return {
    of: ({ ID, StreamStatus }, receivedMs) =>
      (known.atMs > receivedMs ? known.streams.get(ID) : undefined) ?? StreamStatus,
  };
}
