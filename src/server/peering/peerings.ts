import type { Fault } from '../../model/errors.ts';
import type { Peering, StoredPeering } from '../../model/peering/peering.ts';
import { presentedPeering } from '../../model/peering/present.ts';
import { peeringFarewells, peerings } from '../../state/tables.ts';
import type { Change, Snapshot, Written } from '../../state/types.ts';
import { Acceptor } from './acceptor.ts';
import { noteConnection, noteNoConnections, watchConnection } from './connection.ts';
import { type Advertised, departingById, type PeeringContext, peeringById } from './context.ts';
import {
  bidFarewell,
  forgetEventually,
  markDeleted,
  removePeering,
  renewPeering,
  terminate,
} from './delete.ts';
import { keepDialling, noteAddresses } from './dialer.ts';
import { establish } from './establish.ts';
import type { PeeringLink } from './link.ts';
import { PeeringStream } from './stream.ts';
import { PeeringStreams } from './streams.ts';
import { generateToken } from './token.ts';
import type { Wire } from './wire.ts';

/** The work in the background for one peering, one thing after the other. */
interface Work {
  /** The current kind of work, or the last one. */
  doing: string;
  stop: AbortController;
  done: Promise<void>;
}

/**
 * The clusters that this cluster peers with.
 *
 * Invariants
 *  P1. The work for a peering follows from its durable row alone, and can be resumed from there: dial
 *      the peer, remove imported rows of the peer or of the previous peer, delete the peering, or say
 *      goodbye to a peer that was away when its peering was deleted.
 *  P2. One thing is done at a time for each peering. A stream opens after the rows of the previous
 *      peer are removed.
 *  P3. Work for one peer does not affect the other peers.
 */
export class Peerings {
  readonly streams: PeeringStreams;
  readonly #context: PeeringContext;
  readonly #acceptor: Acceptor;
  readonly #works = new Map<string, Work>();
  /**
   * The end of the last request to peer with a peering, by its id at the other cluster. Goodbyes to
   * it wait until all such requests have ended.
   */
  readonly #beginning = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  #advertised: Advertised = { addresses: [], caPems: [] };
  #unfollow: () => void = () => {};

  constructor(options: Omit<PeeringContext, 'streams' | 'advertised'>) {
    this.streams = new PeeringStreams();
    const advertised = () => this.#advertised;
    this.#context = { ...options, streams: this.streams, advertised };
    this.#acceptor = new Acceptor({
      context: this.#context,
      ready: (id) => this.#awaitForgetting(id),
      take: (peering, wire) => void this.#takeStream(peering, wire, 'acceptor'),
    });
  }

  start(): void {
    const { state } = this.#context;
    this.#unfollow = state.onCommit((changes) => this.#followCommit(changes));
    noteNoConnections(this.#context);
    const snapshot = state.read();
    for (const { ID } of snapshot.table(peerings).scan()) this.#startWork(ID);
    for (const { ID } of snapshot.table(peeringFarewells).scan()) this.#startWork(ID);
  }

  stop(): void {
    this.#unfollow();
    this.#stop.abort();
    for (const stream of this.streams.all()) stream.end('the server stops');
  }

  /** Sets the addresses of this cluster; its peers are told. */
  advertise(advertised: Advertised): void {
    this.#advertised = advertised;
    const snapshot = this.#context.state.read();
    for (const { ID, IsDialer } of snapshot.table(peerings).scan()) {
      if (!IsDialer) this.streams.of(ID)?.tellAddresses(advertised.addresses);
    }
  }

  /** @throws as `token.ts` says */
  generateToken(...given: Rest<typeof generateToken>) {
    return generateToken(this.#context, ...given);
  }

  /** @throws as `establish.ts` says */
  establish(
    partition: string,
    request: Parameters<typeof establish>[2],
    known: readonly Fault[] = [],
  ): Promise<Written<StoredPeering>> {
    return establish(this.#context, partition, request, {
      known,
      signal: this.#stop.signal,
      begin: (peerId) => this.#beginWith(peerId),
    });
  }

  delete(partition: string, name: string): Promise<Written<StoredPeering | undefined>> {
    return markDeleted(this.#context, partition, name);
  }

  /** Takes a link that another cluster opened. Never rejects. */
  accept(link: PeeringLink): Promise<void> {
    return this.#acceptor.accept(link);
  }

  /** The presented peering; the snapshot tracks the rows that it depends on. */
  present(snapshot: Snapshot, peering: StoredPeering): Peering {
    const { ID: id, Name: name, Partition: partition } = peering;
    watchConnection(snapshot, id);
    const status = this.#context.exchange.status({ partition, name });
    return presentedPeering(peering, this.streams.known(id), status);
  }

  /**
   * Waits for the turn with the peering of this id at its cluster. Until it is released, other
   * requests and goodbyes wait.
   */
  async #beginWith(peerId: string): Promise<() => void> {
    const before = this.#beginning.get(peerId);
    const { promise: over, resolve } = Promise.withResolvers<void>();
    this.#beginning.set(peerId, over);
    await before;
    await Promise.all(this.#lookAtFarewells(peerId).map((id) => this.#works.get(id)?.done));
    return () => {
      resolve();
      if (this.#beginning.get(peerId) !== over) return;
      this.#beginning.delete(peerId);
      this.#lookAtFarewells(peerId);
    };
  }

  #lookAtFarewells(peerId: string): readonly string[] {
    const rows = [...this.#context.state.read().table(peeringFarewells).scan()];
    const ids = rows.filter(({ PeerID }) => PeerID === peerId).map(({ ID }) => ID);
    for (const id of ids) this.#startWork(id);
    return ids;
  }

  #followCommit(changes: readonly Change[]): void {
    for (const { table, before, after } of changes) {
      if (table !== peerings.name && table !== peeringFarewells.name) continue;
      const { ID, State } = (after ?? before) as StoredPeering;
      // A peering that begins again after its end does not keep the record of its former stream.
      const hasEnded = (before as StoredPeering | undefined)?.State === 'TERMINATED';
      if (hasEnded && State !== 'TERMINATED') this.streams.forget(ID);
      this.#startWork(ID);
    }
  }

  /** Starts the work that the row asks for, unless it is under way. */
  #startWork(id: string): void {
    if (this.#stop.signal.aborted) return;
    const snapshot = this.#context.state.read();
    const peering = departingById(snapshot, id);
    if (peering === undefined) {
      this.#works.get(id)?.stop.abort();
      this.#works.delete(id);
      this.streams.forget(id);
      return;
    }
    const isGone = peeringById(snapshot, id) === undefined;
    const doing = isGone ? this.#wantedForFarewell(peering) : wantedFor(peering);
    const before = this.#works.get(id);
    if (before?.doing === doing) return;
    const isPart = doing === 'remove' || doing === 'forget';
    const parting = isPart ? this.streams.of(id) : undefined;
    const stop = () => before?.stop.abort();
    // A removal of rows has to end first. An open stream says goodbye first, and no other stream is
    // opened after that.
    if (before?.doing !== 'forget') {
      if (parting === undefined) stop();
      else void parting.ended.then(stop);
    }
    // Errors from before do not concern a peering that begins again.
    if (!isPart && doing !== 'nothing') this.streams.record(id).lastError = '';
    this.#begin(peering, doing, before?.done);
  }

  #wantedForFarewell({ PeerID }: StoredPeering): string {
    return this.#beginning.has(PeerID) ? 'hold' : 'farewell';
  }

  #begin(peering: StoredPeering, doing: string, before: Promise<void> | undefined) {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#stop.signal]);
    const run = async () => {
      try {
        await this.#runWork(peering, doing, before, signal);
      } catch (error) {
        if (signal.aborted) return;
        const { log } = this.#context;
        log.error({ peering: peering.Name, doing, error }, 'the work for a peering failed');
      }
    };
    this.#works.set(peering.ID, { doing, stop, done: run() });
  }

  async #runWork(
    peering: StoredPeering,
    doing: string,
    before: Promise<void> | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const context = this.#context;
    const { ID: id } = peering;
    const take = (row: StoredPeering, wire: Wire) => this.#takeStream(row, wire, 'dialer');
    // The goodbye is said on the stream that is being kept open, if there is one.
    if (doing === 'remove') return removePeering({ context, take }, id, before, signal);
    await before;
    if (signal.aborted) return;
    if (doing === 'hold') return this.streams.of(id)?.end('the peer is about to be peered with');
    if (doing === 'farewell') return bidFarewell({ context, take }, peering, signal);
    if (doing === 'forget') return forgetEventually(context, peering, signal);
    if (doing === 'renew') return renewPeering(context, peering, signal);
    if (doing !== 'nothing') return keepDialling({ context, take }, id, signal);
  }

  /** Resolves when no rows imported from the peer are being removed. */
  async #awaitForgetting(id: string): Promise<void> {
    const work = this.#works.get(id);
    if (work !== undefined && ['forget', 'renew', 'nothing'].includes(work.doing)) await work.done;
  }

  #takeStream(peering: StoredPeering, wire: Wire, side: 'dialer' | 'acceptor'): PeeringStream {
    const context = this.#context;
    const { ID: id, Name: name, Partition: partition } = peering;
    const stream = this.streams.replace(
      id,
      (known) =>
        new PeeringStream({
          context,
          wire,
          side,
          known,
          exchange: context.exchange,
          peering: { id, name, partition },
          onGoodbye: async () => {
            await context.state.write((transaction) => terminate(transaction, peering));
          },
          onAddresses: (addresses) => noteAddresses(context, peering, addresses),
        }),
    );
    const now = departingById(context.state.read(), id);
    const isLive = now !== undefined && now.DeletedAt === 0 && now.State !== 'TERMINATED';
    stream.start({ exchanges: isLive });
    if (!stream.isOver) noteConnection(context, id);
    void stream.ended.then(() => noteConnection(context, id));
    if (side === 'acceptor') this.#tellOfEnd(peering, stream);
    return stream;
  }

  #tellOfEnd({ Name: peering, Partition: partition }: StoredPeering, stream: PeeringStream): void {
    const { log } = this.#context;
    log.info({ peering, partition }, 'the stream of a peer is open');
    void stream.ended.then((reason) => {
      if (this.#stop.signal.aborted) return;
      log.warn({ peering, partition, reason }, 'the stream of a peer is not open');
    });
  }
}

type Rest<F extends (...parameters: never[]) => unknown> =
  Parameters<F> extends [unknown, ...infer R] ? R : never;

/**
 * The kind of work that a row asks for, as a text that changes when the work has to begin again.
 */
function wantedFor({ DeletedAt, State, IsDialer, Epoch, MustForget }: StoredPeering): string {
  if (DeletedAt !== 0) return 'remove';
  if (State === 'TERMINATED') return 'forget';
  if (MustForget) return 'renew';
  // A peering that awaits its peer may have had another peer before.
  if (State === 'INITIAL') return 'forget';
  return IsDialer ? `dial ${Epoch}` : 'nothing';
}
