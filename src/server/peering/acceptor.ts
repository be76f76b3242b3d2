import { limits } from '../../model/limits.ts';
import { FrameFault, type HandshakeFrame } from '../../model/peering/frames.ts';
import type { StoredPeering } from '../../model/peering/peering.ts';
import { type Handshake, proofOf, type SelfDescription } from '../../model/peering/proof.ts';
import { serverNameOf } from '../../model/peering/secrets.ts';
import { peeringSecrets, peerings } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import {
  departingById,
  fresh,
  identityOf,
  isOfAnother,
  type PeeringContext,
  peeringById,
  secretsOf,
  selfOf,
} from './context.ts';
import type { PeeringLink } from './link.ts';
import { Rate } from './rate.ts';
import { HungUp, PeerRefusal, Wire } from './wire.ts';

export interface AcceptorOptions {
  readonly context: PeeringContext;
  /** Resolves when the rows of the previous peer are removed, and a stream may open. */
  readonly ready: (id: string) => Promise<void>;
  /** Takes a stream on which both sides have proved who they are. */
  readonly take: (peering: StoredPeering, wire: Wire) => void;
}

/** The other side has not proved who it is. The message ends a sentence. */
class NotTaken extends Error {
  override readonly name = 'NotTaken';
}

const unknown =
  'the peering is unknown there (it may have been deleted), or the secrets of the two sides differ';

/**
 * The side of a peering that is dialled.
 *
 * Invariants
 *  A1. The secret of a token is exchanged once: the new secret is durable before the answer. The same
 *      side may repeat the exchange with the same secrets if it did not hear the answer.
 *  A2. The other side first proves that it knows the secret; only then does this side prove the same.
 *      No secret is sent.
 *  A3. A stream opens only with the secret that is valid at that moment: while the opening was
 *      written down, the peering may have been deleted or given to another cluster.
 *  A4. A side that has not proved who it is costs at most the time of one handshake and a few short
 *      frames. The number of such sides is bounded, and the oldest is cut off first. It does not learn
 *      which peerings exist.
 */
export class Acceptor {
  readonly #options: AcceptorOptions;
  /** How often each peering opens a stream. */
  readonly #opens = new Map<string, Rate>();
  /** Links whose other side has not proved who it is, the oldest first. */
  readonly #strangers = new Set<Wire>();

  constructor(options: AcceptorOptions) {
    this.#options = options;
  }

  /** Takes a link that another cluster opened. Never rejects. */
  async accept(link: PeeringLink): Promise<void> {
    const { log, world } = this.#options.context;
    const wire = new Wire(link, world.timers);
    this.#makeRoom();
    this.#strangers.add(wire);
    try {
      await this.#greet(wire);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it failed';
      const isKnown = [FrameFault, HungUp, PeerRefusal, NotTaken].some(
        (kind) => error instanceof kind,
      );
      if (!isKnown) {
        log.error({ error }, 'the stream of a peer could not be opened');
        return wire.refuse('later', 'something failed there; its log says what');
      }
      log.warn({ reason }, 'a link was refused: its other side is no known peer');
      wire.refuse(error instanceof NotTaken ? 'secret' : 'later', reason);
    } finally {
      this.#strangers.delete(wire);
    }
  }

  /**
   * Cuts off the oldest link: a peer needs a few milliseconds, and attackers who only hold places
   * cannot keep it out.
   */
  #makeRoom(): void {
    if (this.#strangers.size < limits.peering.strangersMax) return;
    for (const oldest of this.#strangers) {
      this.#strangers.delete(oldest);
      oldest.refuse('later', 'too many streams are about to open there');
      return;
    }
  }

  async #greet(wire: Wire): Promise<void> {
    const first = await wire.next(['establish', 'open'], limits.peering.handshakeTimeoutMs);
    if (first.type === 'establish') await this.#establish(wire, first);
    else await this.#open(wire, first);
  }

  async #establish(
    wire: Wire,
    frame: HandshakeFrame & { readonly type: 'establish' },
  ): Promise<void> {
    const { context } = this.#options;
    refuseOneself(context, frame.self);
    const { value } = await context.state.write((transaction) =>
      exchangeSecret(transaction, context, frame),
    );
    if (value === undefined) throw new NotTaken('invalid peering establishment secret');
    const { Name: peering, Partition: partition } = value;
    context.log.info({ peering, partition }, 'a peer has used its token');
    wire.send({
      type: 'established',
      self: selfOf(context, value, context.advertised().addresses),
    });
    // The other side hangs up when it has read the answer.
    const timer = context.world.timers.after(limits.peering.handshakeTimeoutMs, () =>
      wire.close('established'),
    );
    void wire.closed.then(() => timer.clear());
  }

  async #open(wire: Wire, { peerId, nonce }: { peerId: string; nonce: string }): Promise<void> {
    const { context, ready, take } = this.#options;
    const { handshakeTimeoutMs } = limits.peering;
    const handshake = { peerId, dialerNonce: nonce, acceptorNonce: fresh(context) };
    wire.send({ type: 'challenge', nonce: handshake.acceptorNonce });
    const { proof, self } = await wire.next(['proof'], handshakeTimeoutMs);
    refuseOneself(context, self);
    const secret = this.#provedSecret(handshake, proof, self);
    if (secret === undefined) throw new NotTaken(unknown);
    this.#strangers.delete(wire);
    if (!this.#mayOpen(peerId)) throw new HungUp('its stream is opened too often');
    await ready(peerId);
    const { value: peering } = await context.state.write((transaction) =>
      admit(transaction, context, { peerId, secret, self }),
    );
    if (peering === undefined) throw new NotTaken(unknown);
    if (peering.MustForget) await ready(peerId);
    if (!this.#isActiveSecret(peerId, secret)) throw new NotTaken(unknown);
    const own = selfOf(context, peering, context.advertised().addresses);
    wire.send({
      type: 'accepted',
      proof: proofOf(secret, 'acceptor', handshake, own),
      self: own,
    });
    take(peering, wire);
  }

  #isActiveSecret(peerId: string, secret: string): boolean {
    const { state, box, world } = this.#options.context;
    const { Active } = secretsOf(state.read(), peerId);
    return Active !== '' && world.secrets.equal(box.open(Active), secret);
  }

  /** A known peer is limited as well: each stream that opens costs a write. */
  #mayOpen(peerId: string): boolean {
    const { opensBurst, opensRefillMs, countMax } = limits.peering;
    let rate = this.#opens.get(peerId);
    if (rate === undefined) {
      if (this.#opens.size > 2 * countMax) this.#opens.clear();
      const { clock } = this.#options.context.world;
      rate = new Rate(clock, opensBurst, 1000 / opensRefillMs);
      this.#opens.set(peerId, rate);
    }
    return rate.take(1);
  }

  /** The secret that the other side has proved to know. */
  #provedSecret(handshake: Handshake, proof: string, self: SelfDescription): string | undefined {
    const { state, box, world } = this.#options.context;
    const { Active, Pending } = secretsOf(state.read(), handshake.peerId);
    const secrets = [Pending, Active].filter((sealed) => sealed !== '').map((one) => box.open(one));
    return secrets.find((secret) =>
      world.secrets.equal(proofOf(secret, 'dialer', handshake, self), proof),
    );
  }
}

function refuseOneself({ state }: PeeringContext, { serverName }: SelfDescription): void {
  if (serverName !== serverNameOf(identityOf(state.read()))) return;
  throw new NotTaken('cannot create a peering within the same cluster');
}

/**
 * Exchanges the secret of a token for that of streams; `undefined`: the token is not valid any
 * more.
 */
function exchangeSecret(
  transaction: Transaction,
  { box, world }: PeeringContext,
  { peerId, secret, streamSecret }: HandshakeFrame & { readonly type: 'establish' },
): StoredPeering | undefined {
  const peering = peeringById(transaction, peerId);
  if (peering === undefined || !isAwaited(peering)) return undefined;
  const secrets = secretsOf(transaction, peerId);
  const shown = box.fingerprint(secret);
  const isSame = (kept: string) => kept !== '' && world.secrets.equal(kept, shown);
  if (isSame(secrets.Establishment)) {
    const Pending = box.seal(streamSecret);
    const taken = { Establishment: '', Exchanged: shown, Pending };
    transaction.table(peeringSecrets).put({ ...secrets, ...taken });
    return peering;
  }
  const isRepeated =
    isSame(secrets.Exchanged) &&
    secrets.Pending !== '' &&
    world.secrets.equal(box.open(secrets.Pending), streamSecret);
  return isRepeated ? peering : undefined;
}

const isAwaited = ({ IsDialer, State, DeletedAt }: StoredPeering): boolean =>
  !IsDialer && State !== 'TERMINATED' && DeletedAt === 0;

/** The other side of a stream, and the secret that it has proved to know. */
interface Proved {
  readonly peerId: string;
  readonly secret: string;
  readonly self: SelfDescription;
}

/**
 * Writes down who the other side is, and that its secret is in use; `undefined`: the peering is
 * gone. A peering that is being deleted admits its peer once more, to say goodbye.
 */
function admit(
  transaction: Transaction,
  { box, world }: PeeringContext,
  { peerId, secret, self }: Proved,
): StoredPeering | undefined {
  const peering = departingById(transaction, peerId);
  if (peering === undefined || peering.IsDialer) return undefined;
  const secrets = secretsOf(transaction, peerId);
  const is = (sealed: string) => sealed !== '' && world.secrets.equal(box.open(sealed), secret);
  if (is(secrets.Pending)) {
    const Active = secrets.Pending;
    transaction.table(peeringSecrets).put({ ...secrets, Active, Pending: '', Exchanged: '' });
  } else if (!is(secrets.Active)) return undefined;
  if (peering.DeletedAt !== 0) return peering;
  const told: Partial<StoredPeering> = {
    State: 'ESTABLISHING',
    PeerID: self.id,
    PeerServerName: self.serverName,
    Remote: { Partition: self.partition, Datacenter: self.datacenter },
    MustForget: isOfAnother(peering, self.id),
  };
  const isTold =
    peering.PeerID === told.PeerID &&
    peering.PeerServerName === told.PeerServerName &&
    peering.State === told.State &&
    peering.Remote.Partition === self.partition &&
    peering.Remote.Datacenter === self.datacenter;
  return isTold ? peering : transaction.table(peerings).put({ ...peering, ...told });
}
