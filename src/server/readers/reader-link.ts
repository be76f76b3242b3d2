import type { Timers } from '../../base/ports.ts';
import { secondMs } from '../../base/units.ts';
import { refusal } from '../../model/errors.ts';
import type { ProfileRequest } from '../../model/monitor/profile.ts';
import {
  StreamConnection,
  type StreamOpener,
  type StreamSocket,
} from '../../model/node-stream/stream-connection.ts';
import { answerOver, askText, requestKind } from '../network/asking.ts';
import { networkLimits } from '../network/limits.ts';
import { nodeKind, nodeOver, relayToNode } from '../network/node-relay.ts';
import type { PeeringLink } from '../peering/link.ts';
import type { Answered, Asked, Patience, PeerLag } from '../servers.ts';
import { readerLimits } from './limits.ts';
import { linkOver, peeringKind } from './peering-relay.ts';

/** The kind of the streams that ask whether a node holds its connection to a thread. */
export const holdsKind = 'holds';

/** The kind of the streams that ask a reader for its metrics. */
export const metricsKind = 'metrics';

/** The kind of the streams that have a reader take a profile of itself. */
export const profileKind = 'profile';

/** The kind of the streams that ask the main thread for the peers that lag. */
export const lagsKind = 'lags';

/** The parts of the main thread that a reader reaches. */
export interface HereMain {
  /** Answers the request; `gone` aborts when nobody waits. */
  readonly answer: (question: Asked, gone: AbortSignal) => Promise<Answered>;
  /** The connection that a node holds to any thread. */
  readonly streamTo: (nodeId: string, patience: Patience) => Promise<StreamOpener | undefined>;
  /** Takes the link of another cluster. Resolves when it knows the other side, or has refused it. */
  readonly takePeer: (link: PeeringLink) => Promise<void>;
  /** The peers that lag. */
  readonly lags: () => readonly PeerLag[];
}

export interface ReaderLinkOptions {
  readonly id: string;
  readonly socket: StreamSocket;
  readonly timers: Timers;
  readonly here: HereMain;
  /** Told of bugs. */
  readonly onError: (error: unknown) => void;
}

/** A reader, as the main thread reaches it. */
export class ReaderLink {
  readonly #options: ReaderLinkOptions;
  readonly #connection: StreamConnection;

  constructor(options: ReaderLinkOptions) {
    const { socket, here, onError } = options;
    this.#options = options;
    this.#connection = new StreamConnection({
      socket,
      side: 'server',
      streamsMax: networkLimits.streamsMax,
      onHandlerError: (kind, error) => onError(new Error(`a stream "${kind}"`, { cause: error })),
    });
    const find = (node: unknown) =>
      here.streamTo(String(node), { deadlineMs: readerLimits.answerMs });
    this.#connection.accept(requestKind, (stream, params) =>
      answerOver(stream, params, { answer: here.answer, onError }),
    );
    this.#connection.accept(nodeKind, async (stream, params) => {
      const held = await find(params.node);
      return relayToNode(stream, params, () => held);
    });
    this.#connection.accept(peeringKind, async (stream) => {
      const link = linkOver(stream, options.timers);
      await here.takePeer(link);
      await link.closed;
    });
    this.#connection.accept(holdsKind, async (stream, { node }) =>
      stream.write(Buffer.from(String((await find(node)) !== undefined))),
    );
    this.#connection.accept(lagsKind, async (stream) =>
      stream.write(Buffer.from(JSON.stringify(here.lags()))),
    );
  }

  /** The way to the node if it holds its connection to this reader. @throws ServerGone */
  async streamTo(nodeId: string, patience: Patience): Promise<StreamOpener | undefined> {
    const isHeld = await this.#askReader(holdsKind, { node: nodeId }, patience);
    return isHeld === 'true' ? nodeOver(this.#connection, nodeId) : undefined;
  }

  /** Counts of its requests and connections, as JSON. @throws ServerGone */
  metrics(patience: Patience): Promise<string> {
    return this.#askReader(metricsKind, {}, patience);
  }

  /** A profile of its thread, as JSON. @throws RosterError `too-many-profiles`, ServerGone */
  async profile(request: ProfileRequest): Promise<string> {
    const deadlineMs = request.seconds * secondMs + readerLimits.answerMs;
    const text = await this.#askReader(profileKind, { ...request }, { deadlineMs });
    if (text === '') throw refusal('too-many-profiles');
    return text;
  }

  #askReader(kind: string, params: Readonly<Record<string, unknown>>, patience: Patience) {
    const { id, timers } = this.#options;
    return askText({ connection: this.#connection, id, timers }, { kind, params }, patience);
  }
}
