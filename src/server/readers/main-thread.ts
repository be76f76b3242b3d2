import type { Clock, Timers } from '../../base/ports.ts';
import { RosterError } from '../../model/errors.ts';
import { type ProfileRequest, profile } from '../../model/monitor/profile.ts';
import { StreamFault } from '../../model/node-stream/byte-stream.ts';
import { StreamConnection, type StreamSocket } from '../../model/node-stream/stream-connection.ts';
import { askOver, askText } from '../network/asking.ts';
import { networkLimits } from '../network/limits.ts';
import { nodeKind, nodeOver, relayToNode } from '../network/node-relay.ts';
import type { NodeStreams } from '../nodes/streams.ts';
import { type Member, type PeerLag, ServerGone, type Servers } from '../servers.ts';
import { readerLimits } from './limits.ts';
import { joinLink, peeringKind } from './peering-relay.ts';
import { holdsKind, lagsKind, metricsKind, profileKind } from './reader-link.ts';

export interface MainThreadOptions {
  readonly socket: StreamSocket;
  readonly timers: Timers;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** `host:port` of the API of all threads. */
  readonly address: () => string;
  /** Whether the replica of this thread shows all that is durable. */
  readonly isCurrent: () => boolean;
}

/** The parts of a reader that the main thread reaches. */
export interface HereReader {
  readonly streams: Pick<NodeStreams, 'held'>;
  /** Counts of requests and connections of this thread, as JSON. */
  readonly metrics: () => Promise<string>;
  /** Told of bugs. */
  readonly onError: (error: unknown) => void;
}

const id = 'main';

/**
 * The port `Servers` of a reader: the main thread leads, and is the only server that it knows. Threads end
 * together, so it is always there.
 */
export function mainThread(options: MainThreadOptions): Servers & {
  /** From now on the main thread reaches this reader. */
  join(here: HereReader): void;
} {
  const { socket, timers, address } = options;
  const { streamsMax } = networkLimits;
  let onError: HereReader['onError'] = () => {};
  const connection = new StreamConnection({
    socket,
    side: 'node',
    streamsMax,
    onHandlerError: (kind, error) => onError(new Error(`a stream "${kind}"`, { cause: error })),
  });
  const leader = (): Member => ({ id, address: address() });
  const asking = { connection, id, timers };
  const lags = lagsOver(asking);
  return {
    id: 'reader',
    members: () => [leader()],
    leader,
    onLeader: () => () => {},
    noneLeads: () => false,
    reportOf: () => undefined,
    lagsOfLeader: () => lags.told,
    tablesOf: () => undefined,
    lastContactMs: contactOf(options),
    leaderHeardMs: () => 0,
    ask: (_id, question, patience) => askOver(asking, question, patience),
    streamTo: async (nodeId, patience) => {
      const question = { kind: holdsKind, params: { node: nodeId } };
      const isHeld = (await askText(asking, question, patience)) === 'true';
      return isHeld ? nodeOver(connection, nodeId) : undefined;
    },
    // The main thread answers for the agent.
    healthOf: () => Promise.reject(new ServerGone(id, false)),
    introduceNode: () => Promise.reject(new ServerGone(id, false)),
    takePeer: (link) => {
      try {
        joinLink(link, connection.open(peeringKind, {}), timers);
      } catch (error) {
        if (!(error instanceof StreamFault)) throw error;
        link.close(error.message);
      }
    },
    join: (here) => {
      onError = here.onError;
      lags.follow(onError);
      const find = (nodeId: string) => here.streams.held(nodeId);
      connection.accept(nodeKind, (stream, params) => relayToNode(stream, params, find));
      connection.accept(holdsKind, async (stream, { node }) =>
        stream.write(Buffer.from(String(find(String(node)) !== undefined))),
      );
      connection.accept(metricsKind, async (stream) =>
        stream.write(Buffer.from(await here.metrics())),
      );
      connection.accept(profileKind, async (stream, { kind, seconds }) => {
        const request = { kind: kind as ProfileRequest['kind'], seconds: Number(seconds) };
        const taken = profile(request, { timers, signal: stream.signal }).catch((error) => {
          if (!(error instanceof RosterError)) throw error;
          // Another profile is taken: nothing is told.
          return [];
        });
        for await (const part of await taken) await stream.write(part);
      });
    },
  };
}

/** The peers that lag, for which the main thread is asked every few beats as long as the thread lives. */
function lagsOver(asking: Parameters<typeof askText>[0]) {
  let told: readonly PeerLag[] = [];
  const ask = async (): Promise<void> => {
    const patience = { deadlineMs: readerLimits.answerMs };
    const text = await askText(asking, { kind: lagsKind, params: {} }, patience);
    told = JSON.parse(text) as readonly PeerLag[];
  };
  return {
    get told() {
      return told;
    },
    follow(onError: (failure: unknown) => void): void {
      let beats = 0;
      const beat = (): void => {
        if (beats++ % readerLimits.beatsBetweenLags === 0)
          ask().catch((failure) => {
            if (!(failure instanceof ServerGone)) onError(failure);
          });
        asking.timers.after(networkLimits.beatMs, beat);
      };
      beat();
    },
  };
}

/** Milliseconds since this thread was last known to show all that is durable. Looks at each call and each beat. */
function contactOf({ timers, clock, isCurrent }: MainThreadOptions): () => number {
  let currentMs = clock.monotonicMs();
  const look = (): number => {
    const nowMs = clock.monotonicMs();
    if (isCurrent()) currentMs = nowMs;
    return Math.round(nowMs - currentMs);
  };
  const beat = (): void => {
    look();
    timers.after(networkLimits.beatMs, beat);
  };
  beat();
  return look;
}
