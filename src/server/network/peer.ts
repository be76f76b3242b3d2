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
import {
  type Answered,
  type Asked,
  type OwnHealth,
  type Patience,
  ServerGone,
} from '../servers.ts';
import { answerOver, askOver, requestKind } from './asking.ts';
import { networkLimits } from './limits.ts';
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

/** The kind of the streams that lead to a node. */
const nodeKind = 'node';

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
      answerOver(stream, params, (question, gone) => here.answer(question, gone)),
    );
    connection.accept(nodeKind, (stream, params) => relay(stream, params, here.streams));
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

  /** The text of a stream. @throws ServerGone */
  async #askText(kind: string, { deadlineMs }: Patience): Promise<string> {
    const { world } = this.#options;
    const stream = this.#connection.open(kind, {});
    const late = world.timers.after(deadlineMs, () => stream.cancel());
    const parts: Uint8Array[] = [];
    try {
      for await (const part of stream) parts.push(part);
    } catch (error) {
      if (!(error instanceof StreamFault)) throw error;
      throw new ServerGone(this.introduction.id, true);
    } finally {
      late.clear();
    }
    return Buffer.concat(parts).toString();
  }

  /** The way to a node that is connected to it. */
  nodeAt(node: string): StreamOpener {
    return {
      open: (kind, params, creditBytes) =>
        this.#connection.open(nodeKind, { node, kind, params }, creditBytes),
    };
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
    for await (const { standing, tables, held = [], lost = [] } of linesOf(stream)) {
      this.heardMs = world.clock.monotonicMs();
      if (tables !== undefined) this.tables = tables;
      if (standing !== undefined) {
        this.standing = standing;
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
  { state }: Pick<HereServer, 'state'>,
  clock: Pick<Clock, 'nowMs'>,
): Standing => ({
  epoch: state.leading?.epoch,
  index: state.read().index,
  nowMs: clock.nowMs(),
  candidate: state.candidate,
});

/** Passes a stream of another server on to a node that is connected here. @throws StreamFault */
async function relay(
  stream: ByteStream,
  { node, kind, params }: Readonly<Record<string, unknown>>,
  streams: NodeStreams,
): Promise<void> {
  const held = typeof node === 'string' ? streams.held(node) : undefined;
  if (held === undefined || typeof kind !== 'string') {
    throw new StreamFault({
      status: 503,
      code: 'node-disconnected',
      message: 'the node is not connected to this server',
    });
  }
  const target = held.open(kind, (params ?? {}) as Readonly<Record<string, unknown>>);
  const cancel = (): void => target.cancel();
  stream.signal.addEventListener('abort', cancel, { once: true });
  const input = async (): Promise<void> => {
    for await (const chunk of stream) await target.write(chunk);
    target.end();
  };
  // A fault of the input ends the target, which is read below.
  input().catch(cancel);
  for await (const chunk of target) await stream.write(chunk);
}
