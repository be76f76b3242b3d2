import { createHmac } from 'node:crypto';

/** The side of a stream that sends. */
export type Side = 'dialer' | 'acceptor';

/** The facts that both sides of a stream know once both have introduced themselves. */
export interface Handshake {
  /** The id of the peering at the dialled side. */
  readonly peerId: string;
  readonly dialerNonce: string;
  readonly acceptorNonce: string;
}

/**
 * Proves that `side` knows the secret and describes itself as `self` now. Both nonces are fresh, and the
 * proofs of the two sides always differ.
 */
export function proofOf(
  secret: string,
  side: Side,
  { peerId, dialerNonce, acceptorNonce }: Handshake,
  self: SelfDescription,
): string {
  const { id, serverName, datacenter, partition, addresses } = self;
  const told = [id, serverName, datacenter, partition, addresses];
  const parts = ['roster peering 1', side, peerId, dialerNonce, acceptorNonce, ...told];
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('hex');
}

/** The description of a cluster for its peer. */
export interface SelfDescription {
  /** The id of the peering at the sending cluster. */
  readonly id: string;
  readonly serverName: string;
  readonly datacenter: string;
  readonly partition: string;
  /** Addresses of its servers; only the dialled side sends them. */
  readonly addresses: readonly string[];
}
