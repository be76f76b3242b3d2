import type { World } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type { StreamOpener } from '../../model/node-stream/stream-connection.ts';
import type { TableVersions } from '../../state/form.ts';
import { Listeners } from '../../state/listeners.ts';
import type { Log } from '../context.ts';
import { Freshness } from '../freshness.ts';
import {
  type Answered,
  type Asked,
  type Member,
  type OwnHealth,
  type Patience,
  type PeerLag,
  ServerGone,
  type ServerReport,
  type Servers,
} from '../servers.ts';
import { Dialer } from './dialer.ts';
import { type HandshakeFailure, type HandshakeOptions, introduce } from './handshake.ts';
import { networkLimits } from './limits.ts';
import type { ServerLink, ServersTransport } from './link.ts';
import type { Membership } from './membership.ts';
import { type HereServer, Peer } from './peer.ts';
import { type Introduction, proofKey, type Side } from './proof.ts';

export interface NetworkOptions {
  readonly id: string;
  readonly version: string;
  readonly rootKey: Uint8Array;
  readonly membership: Membership;
  readonly transport: ServersTransport;
  readonly world: World;
  readonly log: Log;
  /** Milliseconds since the state was last known to be the newest, at the start; the default is 0. */
  readonly ageMs?: number | undefined;
  /** Replaces the proof, for tests. */
  readonly prove?: HandshakeOptions['prove'];
}

/**
 * The port to the other servers over kept connections, one for each pair of servers.
 *
 * Invariants
 *  N1. Of two servers, the server with the lesser id dials. A newer connection replaces an older one.
 *  N2. A server is asked, believed and told of nodes only on a connection on which it proved the root key.
 *  N3. The leader is known by its own report alone, and forgotten with its connection. If two servers
 *      report to lead, the later term counts.
 *  N4. The last contact is the time at which this server last showed all that the leader reported. So a server that is
 *      cut off from the log alone has no contact either. A report is as old as the question that it echoes, so reports that
 *      waited while this server was asleep are no contact.
 */
export class NetworkServers implements Servers {
  readonly id: string;
  readonly #options: NetworkOptions;
  readonly #key: Uint8Array;
  readonly #peers = new Map<string, Peer>();
  readonly #dialers = new Map<string, Dialer>();
  /** Why connections fail, by server, so that the log tells of each reason once. */
  readonly #failing = new Map<string, string>();
  /** Servers whose clocks differ too much. */
  readonly #skewed = new Set<string>();
  readonly #listeners = new Listeners<[]>();
  /** The leader that listeners were last told of. */
  #told: NetworkServers | Peer | undefined;
  #unproven = 0;
  #here: HereServer | undefined;
  #self: Introduction;
  #leave: readonly (() => void)[] = [];
  #heardMs: number;
  readonly #freshness: Freshness;
  #isStopped = false;

  constructor(options: NetworkOptions) {
    this.#options = options;
    this.id = options.id;
    this.#key = proofKey(options.rootKey);
    this.#heardMs = options.world.clock.monotonicMs() - (options.ageMs ?? 0);
    this.#freshness = new Freshness(this.#heardMs);
    this.#self = { id: options.id, address: '', version: options.version };
  }

  /** From now on the server is known to the others, at this address, and connects to them. */
  join(here: HereServer, address: string): void {
    const { membership } = this.#options;
    this.#here = here;
    this.#self = { ...this.#self, address };
    this.#leave = [
      membership.announce(this.#self),
      membership.onChange(() => this.#dialAll()),
      here.state.onLeadership(() => this.#noteLeader()),
    ];
    this.#dialAll();
  }

  stop(): void {
    this.#isStopped = true;
    for (const leave of this.#leave) leave();
    for (const dialer of this.#dialers.values()) dialer.stop();
    for (const peer of this.#peers.values()) peer.close('this server stops');
  }

  /** Takes a connection that another server has opened. */
  accept(link: ServerLink): void {
    if (
      this.#here === undefined ||
      this.#isStopped ||
      this.#unproven >= networkLimits.unprovenMax
    ) {
      link.socket.terminate();
      return;
    }
    this.#unproven++;
    const over = () => this.#unproven--;
    this.#introduce(link, 'acceptor', undefined, over).catch((failure) =>
      this.#logFailure(failure),
    );
  }

  members(): readonly Member[] {
    const known = new Map<string, Member>([[this.id, this.#self]]);
    for (const { id, address } of this.#options.membership.members())
      known.set(id, { id, address });
    for (const { introduction } of this.#peers.values()) {
      const { id, address } = introduction;
      if (!known.has(id)) known.set(id, { id, address });
    }
    return [...known.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
  }

  leader(): Member | undefined {
    const found = this.#leader();
    if (found === undefined) return undefined;
    const { id, address } = found === this ? this.#self : (found as Peer).introduction;
    return { id, address };
  }

  onLeader(listen: () => void): () => void {
    return this.#listeners.add(listen);
  }

  noneLeads(): boolean {
    const { state } = this.#here ?? {};
    if (state === undefined || state.leading !== undefined) return false;
    const { index } = state.read();
    const others = this.members().filter(({ id }) => id !== this.id);
    return (
      others.length > 0 &&
      others.every(({ id }) => {
        const standing = this.#peers.get(id)?.standing;
        return standing !== undefined && standing.epoch === undefined && standing.index <= index;
      })
    );
  }

  reportOf(id: string): ServerReport | undefined {
    const peer = this.#peers.get(id);
    if (peer?.standing === undefined) return undefined;
    const { introduction, standing, skewMs } = peer;
    const heardMs = Math.round(this.#options.world.clock.monotonicMs() - peer.heardMs);
    const { index, candidate } = standing;
    return { version: introduction.version, index, heardMs, skewMs, candidate };
  }

  lagsOfLeader(): readonly PeerLag[] {
    const leader = this.#leader();
    if (leader === undefined || leader === this) return [];
    return (leader as Peer).standing?.lags ?? [];
  }

  tablesOf(id: string): TableVersions | undefined {
    return this.#peers.get(id)?.tables;
  }

  lastContactMs(): number {
    if (this.#leader() === this) return 0;
    const shown = this.#here?.state.read().index ?? 0;
    const currentMs = this.#freshness.currentMs(shown);
    return Math.round(this.#options.world.clock.monotonicMs() - currentMs);
  }

  leaderHeardMs(): number {
    const leader = this.#leader();
    if (leader === this) return 0;
    const heardMs = leader === undefined ? this.#heardMs : (leader as Peer).heardMs;
    return Math.round(this.#options.world.clock.monotonicMs() - heardMs);
  }

  ask(id: string, question: Asked, patience: Patience): Promise<Answered> {
    const peer = this.#peers.get(id);
    return peer === undefined
      ? Promise.reject(new ServerGone(id, false))
      : peer.ask(question, patience);
  }

  async streamTo(nodeId: string): Promise<StreamOpener | undefined> {
    for (const peer of this.#peers.values()) {
      if (peer.held.has(nodeId)) return peer.nodeAt(nodeId);
    }
    return undefined;
  }

  async healthOf(id: string, patience: Patience): Promise<OwnHealth> {
    const peer = this.#peers.get(id);
    if (peer === undefined) throw new ServerGone(id, false);
    return peer.health(patience);
  }

  async introduceNode(patience: Patience): Promise<string> {
    const leader = this.#leader();
    if (leader === undefined || leader === this) throw new ServerGone(this.id, false);
    return (leader as Peer).introduceNode(patience);
  }

  /** This server, or the peer, with the latest term. */
  #leader(): NetworkServers | Peer | undefined {
    let leader: NetworkServers | Peer | undefined;
    let epoch = this.#here?.state.leading?.epoch ?? 0;
    if (epoch > 0) leader = this;
    for (const peer of this.#peers.values()) {
      const told = peer.standing?.epoch ?? 0;
      if (told <= epoch) continue;
      epoch = told;
      leader = peer;
    }
    if (leader !== this) return leader;
    this.#heardMs = this.#options.world.clock.monotonicMs();
    this.#freshness.lead(this.#heardMs - (this.#here?.silentMs() ?? 0));
    return leader;
  }

  #noteHeard({ standing, heardMs, asOfMs }: Peer): void {
    if (standing?.epoch === undefined) return;
    this.#heardMs = heardMs;
    const leader = this.#leader();
    if (leader === this || (leader as Peer).standing !== standing) return;
    // The report tells how far the leader was, and this server may be as far by now.
    if (asOfMs !== undefined) {
      this.#freshness.told(standing.index, asOfMs - (standing.silentMs ?? 0));
    }
    this.#freshness.currentMs(this.#here?.state.read().index ?? 0);
  }

  #noteLeader(): void {
    const leader = this.#leader();
    if (leader === this.#told) return;
    this.#told = leader;
    this.#listeners.tell();
  }

  #dialAll(): void {
    if (this.#isStopped) return;
    const known = new Map(this.#options.membership.members().map((one) => [one.id, one]));
    for (const [id, dialer] of this.#dialers) {
      if (known.get(id)?.address === dialer.address) continue;
      dialer.stop();
      this.#dialers.delete(id);
    }
    for (const { id, address } of known.values()) {
      if (id <= this.id || address === '' || this.#dialers.has(id)) continue;
      const { world, transport } = this.#options;
      const dialer = new Dialer({
        address,
        world,
        dial: (signal) => transport.dial(address, signal),
        use: (link) => this.#introduce(link, 'dialer', id),
        failed: (reason) => this.#logFailure(reason, { id, address }),
      });
      this.#dialers.set(id, dialer);
      dialer.start();
    }
  }

  /** Resolves when the connection is over. @throws HandshakeFailure */
  #introduce(
    { socket, binding }: ServerLink,
    side: Side,
    expects: string | undefined,
    over = () => {},
  ): Promise<void> {
    const { world, prove } = this.#options;
    const { secrets, timers } = world;
    const proving = { socket, side, binding, key: this.#key, self: this.#self, secrets, timers };
    return new Promise((resolve, reject) => {
      introduce(
        { ...proving, ...(expects !== undefined && { expects }), ...(prove && { prove }) },
        {
          proven: (introduction) => {
            over();
            const peer = this.#addPeer({ socket, side, introduction });
            void peer.closed.then(() => resolve());
          },
          failed: (failure) => {
            over();
            reject(failure);
          },
        },
      );
    });
  }

  #addPeer(connected: {
    readonly socket: ServerLink['socket'];
    readonly side: Side;
    readonly introduction: Introduction;
  }): Peer {
    const { log, world } = this.#options;
    const { id, address } = connected.introduction;
    const peer = new Peer({
      ...connected,
      world,
      here: this.#here!,
      onHeard: (one) => {
        this.#noteHeard(one);
        this.#noteLeader();
        this.#noteSkew(id, one.skewMs);
      },
      onError: (error) => log.error({ error, server: id }, 'a stream of another server failed'),
    });
    this.#peers.get(id)?.close('the server connected again');
    this.#peers.set(id, peer);
    this.#failing.delete(id);
    log.info({ server: id, address }, 'another server is connected');
    void peer.closed.then((reason) => {
      if (this.#peers.get(id) === peer) {
        this.#peers.delete(id);
        this.#skewed.delete(id);
        this.#noteLeader();
      }
      if (!this.#isStopped) log.warn({ server: id, reason }, 'another server is disconnected');
    });
    if (this.#isStopped) peer.close('this server stops');
    return peer;
  }

  /** Logs that the clocks differ, once until they agree again. */
  #noteSkew(id: string, skewMs: number): void {
    const isSkewed = Math.abs(skewMs) > limits.servers.skewMaxMs;
    if (isSkewed === this.#skewed.has(id)) return;
    const { log } = this.#options;
    if (isSkewed) {
      this.#skewed.add(id);
      log.warn({ server: id, skewMs }, 'the clock of another server differs from that of this one');
    } else {
      this.#skewed.delete(id);
      log.info({ server: id }, 'the clock of another server agrees again');
    }
  }

  #logFailure(failure: Error, dialed?: Member): void {
    const { log } = this.#options;
    const { code, peer } = failure as Partial<HandshakeFailure>;
    const { id = '', address } = peer ?? dialed ?? {};
    const reason = failure.message;
    // A caller that does not introduce itself could fill the log.
    if (id === '' || this.#failing.get(id) === reason) return;
    this.#failing.set(id, reason);
    const { length } = this.#options.membership.members();
    if (this.#failing.size > length + networkLimits.unprovenMax) this.#failing.clear();
    if (code === 'root-key') {
      log.error(
        { server: id, address },
        'a connection is refused because the other server has another root key',
      );
    } else log.warn({ server: id, address, reason }, 'another server cannot be reached');
  }
}
