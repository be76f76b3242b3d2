import type { Clock, Timer, Timers } from '../../base/ports.ts';
import { type ByteStream, StreamFault } from '../../model/node-stream/byte-stream.ts';
import {
  StreamConnection,
  type StreamOpener,
  type StreamSocket,
} from '../../model/node-stream/stream-connection.ts';
import type { TableVersions } from '../../state/form.ts';
import type { State } from '../../state/types.ts';
import type { NodeStreams } from '../nodes/streams.ts';
import type { Answered, Asked, OwnHealth, Patience, PeerLag } from '../servers.ts';
import { answerOver, askOver, askText, requestKind } from './asking.ts';
import { networkLimits } from './limits.ts';
import { nodeKind, nodeOver, relayToNode } from './node-relay.ts';
import type { Introduction, Side } from './proof.ts';
import { linesOf, Reporter, reportKind, type Standing } from './report.ts';

/** The parts of this server that the others reach. */
export interface HereServer {
  readonly state: Pick<State, 'leading' | 'onLeadership' | 'read' | 'candidate'>;
  readonly streams: NodeStreams;
  /** Answers the request; `gone` aborts when nobody waits. */
  readonly answer: (question: Asked, gone: AbortSignal) => Promise<Answered>;
  /** Makes an introduction token for the node of another server's agent. */
  readonly introduceNode: () => Promise<string>;
  readonly health: () => Promise<OwnHealth>;
  /** Of its program. */
  readonly version: string;
  /** The newest version of each table that it reads. */
  readonly tables: TableVersions;
  /** While it leads: milliseconds for which its log has been silent. */
  readonly silentMs: () => number;
  /** While it leads: the peers that lag. */
  readonly lags: () => readonly PeerLag[];
}

export interface PeerOptions {
  readonly introduction: Introduction;
  readonly socket: StreamSocket;
  readonly side: Side;
  readonly here: HereServer;
  readonly world: { readonly clock: Clock; readonly timers: Timers };
  /** Called when it has told something new of itself. */
  readonly onHeard: (peer: Peer) => void;
  /** Told of bugs. */
  readonly onError: (error: unknown) => void;
}

/** The kind of the streams that ask for an introduction token. */
const introductionKind = 'introduction';

/** The kind of the streams that ask for the health of a server. */
const healthKind = 'health';

/** Close codes of RFC 6455. */
const goingAway = 1001;

/**
 * Another server that is connected and has proven the root key.
 *
 * Invariants
 *  O1. Its report is lost with its connection.
 *  O2. A peer that reports nothing for `silentMs` is disconnected, so no request waits for it forever.
 */
export class Peer {
  readonly introduction: Introduction;
  /** Nodes that hold their connection to it. */
  readonly held = new Set<string>();
  standing: Standing | undefined;
  /** The standing is of this time or later, on the monotonic clock; `undefined`: nobody knows. */
  asOfMs: number | undefined;
  /** The newest version of each table that it reads. */
  tables: TableVersions | undefined;
  heardMs: number;
  /** Its clock minus ours by each of its last reports, the way of the report included. */
  #skews: readonly number[] = [];
  readonly #options: PeerOptions;
  readonly #connection: StreamConnection;
  readonly #reporter: Reporter;
  readonly #unfollow: readonly (() => void)[];
  #beating: Timer | undefined;

  constructor(options: PeerOptions) {
    const { introduction, socket, side, here, world, onError } = options;
    this.#options = options;
    this.introduction = introduction;
    this.heardMs = world.clock.monotonicMs();
    const connection = new StreamConnection({
      socket,
      // The dialer takes the part of a node: ids of streams are told apart by it.
      side: side === 'dialer' ? 'node' : 'server',
      streamsMax: networkLimits.streamsMax,
      onHandlerError: (kind, error) => onError(new Error(`a stream "${kind}"`, { cause: error })),
    });
    this.#connection = connection;
    connection.accept(requestKind, (stream, params) =>
      answerOver(stream, params, { answer: here.answer, onError }),
    );
    connection.accept(nodeKind, (stream, params) =>
      relayToNode(stream, params, (nodeId) => here.streams.held(nodeId)),
    );
    connection.accept(introductionKind, async (stream) =>
      stream.write(Buffer.from(await here.introduceNode())),
    );
    connection.accept(healthKind, async (stream) =>
      stream.write(Buffer.from(JSON.stringify(await here.health()))),
    );
    connection.accept(reportKind, (stream) => this.#followReport(stream));
    this.#reporter = new Reporter(connection.open(reportKind, {}), {
      standing: () => standingOf(here, world.clock),
      tables: here.tables,
      nodeIds: here.streams.nodeIds(),
      isHeld: (nodeId) => here.streams.held(nodeId) !== undefined,
      nowMs: () => world.clock.monotonicMs(),
    });
    // The end of the stream is the end of the connection.
    this.#reporter.run().catch((error) => {
      if (!(error instanceof StreamFault)) onError(error);
    });
    this.#unfollow = [
      here.streams.onChange((nodeId) => this.#reporter.noteNode(nodeId)),
      here.state.onLeadership(() => this.#reporter.beat()),
    ];
    this.#beat();
    void connection.closed.then(() => this.#end());
  }

  /** Its clock minus ours. The way of a report only makes it less. */
  get skewMs(): number {
    return this.#skews.length === 0 ? 0 : Math.max(...this.#skews);
  }

  /** Resolves with the reason when the connection is over. */
  get closed(): Promise<string> {
    return this.#connection.closed;
  }

  get isClosed(): boolean {
    return this.#connection.isClosed;
  }

  close(reason: string): void {
    this.#connection.close(goingAway, reason);
  }

  /** @throws ServerGone */
  ask(question: Asked, patience: Patience): Promise<Answered> {
    const { world } = this.#options;
    const { id } = this.introduction;
    const options = { connection: this.#connection, id, timers: world.timers };
    return askOver(options, question, patience);
  }

  /** Has it make an introduction token. @throws ServerGone */
  introduceNode(patience: Patience): Promise<string> {
    return this.#askText(introductionKind, patience);
  }

  /** @throws ServerGone */
  async health(patience: Patience): Promise<OwnHealth> {
    return JSON.parse(await this.#askText(healthKind, patience)) as OwnHealth;
  }

  /** The way to a node that is connected to it. */
  nodeAt(nodeId: string): StreamOpener {
    return nodeOver(this.#connection, nodeId);
  }

  #askText(kind: string, patience: Patience): Promise<string> {
    const { world, introduction } = this.#options;
    const options = { connection: this.#connection, id: introduction.id, timers: world.timers };
    return askText(options, { kind }, patience);
  }

  #beat(): void {
    const { timers, clock } = this.#options.world;
    this.#beating = timers.after(networkLimits.beatMs, () => {
      if (clock.monotonicMs() - this.heardMs > networkLimits.silentMs) {
        this.#options.socket.terminate();
        this.#connection.close(goingAway, 'the server does not report any more');
        return;
      }
      this.#reporter.beat();
      this.#beat();
    });
  }

  async #followReport(stream: ByteStream): Promise<void> {
    const { world, onHeard } = this.#options;
    for await (const line of linesOf(stream)) {
      const heardMs = world.clock.monotonicMs();
      const { standing, askedMs, echoMs = heardMs, tables, held = [], lost = [] } = line;
      this.heardMs = heardMs;
      if (askedMs !== undefined) this.#reporter.echo(askedMs);
      if (tables !== undefined) this.tables = tables;
      if (standing !== undefined) {
        this.standing = standing;
        this.asOfMs = echoMs === null ? undefined : Math.min(echoMs, heardMs);
        const skewMs = standing.nowMs - world.clock.nowMs();
        this.#skews = [...this.#skews, skewMs].slice(-networkLimits.skewReports);
      }
      for (const nodeId of lost) this.held.delete(nodeId);
      for (const nodeId of held) this.held.add(nodeId);
      onHeard(this);
    }
  }

  #end(): void {
    this.#beating?.clear();
    for (const unfollow of this.#unfollow) unfollow();
    this.held.clear();
    this.standing = undefined;
  }
}

export const standingOf = (
  { state, lags, silentMs }: Pick<HereServer, 'state' | 'lags' | 'silentMs'>,
  clock: Pick<Clock, 'nowMs'>,
): Standing => ({
  epoch: state.leading?.epoch,
  index: state.read().index,
  nowMs: clock.nowMs(),
  candidate: state.candidate,
  silentMs: Math.round(silentMs()),
  lags: lags().slice(0, networkLimits.lagsPerLineMax),
});
