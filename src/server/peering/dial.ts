import { limits } from '../../model/limits.ts';
import type { RefusalCode } from '../../model/peering/frames.ts';
import type { StoredPeering } from '../../model/peering/peering.ts';
import { proofOf, type SelfDescription } from '../../model/peering/proof.ts';
import type { PeeringToken } from '../../model/peering/token.ts';
import { fresh, type PeeringContext, secretsOf, selfOf } from './context.ts';
import { PeerRefusal, Wire } from './wire.ts';

/** The cluster at the address is another one than expected. The message ends a sentence. */
export class WrongPeer extends Error {
  override readonly name = 'WrongPeer';
}

/** Whom to dial, and where. */
export interface Target {
  readonly address: string;
  readonly caPems: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Exchanges the secret of a token for one that opens streams, and returns the other cluster's
 * description of itself. Can be repeated with the same secrets. Rejects with a reason.
 */
export async function tellSecret(
  context: PeeringContext,
  { address, ...options }: Target,
  token: Pick<PeeringToken, 'peerId' | 'secret' | 'serverName'>,
  { streamSecret, self }: { readonly streamSecret: string; readonly self: SelfDescription },
): Promise<SelfDescription> {
  const wire = await dialled(context, address, options);
  try {
    const { peerId, secret, serverName } = token;
    wire.send({ type: 'establish', peerId, secret, streamSecret, self });
    const answer = await wire.next(['established'], options.timeoutMs);
    if (answer.self.serverName !== serverName) throw new WrongPeer(tokenTakenByAnother);
    return answer.self;
  } finally {
    wire.close('established');
  }
}

export interface Opened {
  readonly wire: Wire;
  readonly peer: SelfDescription;
}

/** Opens the stream of a peering at one address. Rejects with a reason. */
export async function openStream(
  context: PeeringContext,
  { address, ...options }: Target,
  peering: StoredPeering,
): Promise<Opened> {
  const { world, box, state } = context;
  const { Active } = secretsOf(state.read(), peering.ID);
  if (Active === '') throw new WrongPeer('the secret of the peering is gone');
  const wire = await dialled(context, address, options);
  try {
    const { handshakeTimeoutMs } = limits.peering;
    const { PeerID: peerId } = peering;
    const dialerNonce = fresh(context);
    wire.send({ type: 'open', peerId, nonce: dialerNonce });
    const { nonce: acceptorNonce } = await wire.next(['challenge'], handshakeTimeoutMs);
    const handshake = { peerId, dialerNonce, acceptorNonce };
    const secret = box.open(Active);
    const self = selfOf(context, peering, []);
    wire.send({ type: 'proof', proof: proofOf(secret, 'dialer', handshake, self), self });
    const { proof, self: peer } = await wire.next(['accepted'], handshakeTimeoutMs);
    const isProven = world.secrets.equal(proofOf(secret, 'acceptor', handshake, peer), proof);
    if (!isProven || peer.serverName !== peering.PeerServerName) throw wrongPeer();
    return { wire, peer };
  } catch (error) {
    wire.close('the handshake failed');
    throw error;
  }
}

async function dialled(
  { transport, world }: PeeringContext,
  address: string,
  options: Omit<Target, 'address'>,
): Promise<Wire> {
  const wire = new Wire(await transport.dial(address, options), world.timers);
  const { signal } = options;
  const stop = () => wire.close('the side that dials closed it: it stops, or dials anew');
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  void wire.closed.then(() => signal.removeEventListener('abort', stop));
  return wire;
}

const wrongPeer = (): WrongPeer =>
  new WrongPeer('the server there could not show that it belongs to the peer');

const tokenTakenByAnother =
  'the server there took the token, and is of another cluster than the token names, so a new peering token must be generated';

/** The reason of a failed attempt, as the end of a sentence. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error && error.message !== '' ? error.message : 'it failed';

export const refusedAs = (error: unknown, code: RefusalCode): boolean =>
  error instanceof PeerRefusal && error.code === code;
