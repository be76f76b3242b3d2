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
import { HungUp, Refused, Wire } from './wire.ts';

export interface AcceptorOptions {
  readonly context: PeeringContext;
  /** Resolves when what came from the peer before is forgotten, and a stream may open. */
  readonly ready: (id: string) => Promise<void>;
  /** Both sides know who the other one is. */
  readonly take: (peering: StoredPeering, wire: Wire) => void;
}

/** Who opened a link is nobody yet. Its message ends a sentence. */
class NotTaken extends Error {
  override readonly name = 'NotTaken';
}

const unknown =
  'the peering is unknown there (it may have been deleted), or the secrets of the two sides differ';

/**
 * The side of a peering that is dialled.
 *
 * Invariants
 *  A1. The secret of a token is taken once: what stands for it is durable before it is answered.
 *      The same side may ask again for the very same, when it did not hear the answer.
 *  A2. Whoever opens a stream shows first that it knows the secret; only then is shown that it is
 *      known here as well. No secret is sent.
 *  A3. A stream opens with the secret that holds at that moment: while it was written down who opens
 *      it, the peering may have been deleted, or have become another one's.
 *  A4. Until it is known who somebody is, it costs one handshake's time and a few short frames, and so
 *      many at once at most; the longest there goes first. It learns nothing of which peerings there are.
 */
export class Acceptor {
  readonly #options: AcceptorOptions;
  /** How often each peering is opened. */
  readonly #opens = new Map<string, Rate>();
  /** Of whom it is not known who they are, who came first before the others. */
  readonly #strangers = new Set<Wire>();

  constructor(options: AcceptorOptions) {
    this.#options = options;
  }

  /** Takes a link that another cluster has opened. Never rejects. */
  async accept(link: PeeringLink): Promise<void> {
    const { log, world } = this.#options.context;
    const wire = new Wire(link, world.timers);
    this.#makeRoom();
    this.#strangers.add(wire);
    try {
      await this.#greet(wire);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it failed';
      const isKnown = [FrameFault, HungUp, Refused, NotTaken].some((kind) => error instanceof kind);
      if (!isKnown) {
        log.error({ error }, 'the stream of a peer could not be opened');
        return wire.refuse('later', 'something failed there; its log says what');
      }
      log.warn({ reason }, 'somebody who said to be a peer was refused');
      wire.refuse(error instanceof NotTaken ? 'secret' : 'later', reason);
    } finally {
      this.#strangers.delete(wire);
    }
  }

  /**
   * Whoever has waited longest goes: a peer needs a few milliseconds, and those who only hold the
   * places do not keep it out.
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
    // The other side hangs up when it has read that.
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
    const secret = this.#shown(handshake, proof, self);
    if (secret === undefined) throw new NotTaken(unknown);
    this.#strangers.delete(wire);
    if (!this.#mayOpen(peerId)) throw new HungUp('its stream is opened too often');
    await ready(peerId);
    const { value: peering } = await context.state.write((transaction) =>
      admit(transaction, context, peerId, secret, self),
    );
    if (peering === undefined) throw new NotTaken(unknown);
    if (peering.MustForget) await ready(peerId);
    if (!this.#holds(peerId, secret)) throw new NotTaken(unknown);
    const own = selfOf(context, peering, context.advertised().addresses);
    wire.send({
      type: 'accepted',
      proof: proofOf(secret, 'acceptor', handshake, own),
      self: own,
    });
    take(peering, wire);
  }

  #holds(peerId: string, secret: string): boolean {
    const { state, box, world } = this.#options.context;
    const { Active } = secretsOf(state.read(), peerId);
    return Active !== '' && world.secrets.equal(box.open(Active), secret);
  }

  /** Also a peer that is known is held to a measure: each stream that opens is written down. */
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

  /** The secret that the other side has shown to know. */
  #shown(handshake: Handshake, proof: string, self: SelfDescription): string | undefined {
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

/** Takes the secret of a token for that of streams; `undefined`: it is none that is still good. */
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

/**
 * Writes down who the other side is, and that its secret holds; `undefined`: it is not known any
 * more. A peering about to go lets its peer in once more, to tell it.
 */
function admit(
  transaction: Transaction,
  { box, world }: PeeringContext,
  peerId: string,
  secret: string,
  self: SelfDescription,
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
