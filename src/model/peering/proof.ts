import { createHmac } from 'node:crypto';

/** Which side of a stream speaks. */
export type Side = 'dialer' | 'acceptor';

/** What both sides of a stream know once both have said who they are. */
export interface Handshake {
  /** Of the peering, at the side that is dialled. */
  readonly peerId: string;
  readonly dialerNonce: string;
  readonly acceptorNonce: string;
}

/**
 * Shows that `side` knows the secret and says `self` of itself, now: both nonces are fresh, and what
 * one side shows is never what the other one has to.
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
  /** Of the peering, at the cluster that speaks. */
  readonly id: string;
  readonly serverName: string;
  readonly datacenter: string;
  readonly partition: string;
  /** Where its servers are; told by the side that is dialled alone. */
  readonly addresses: readonly string[];
}
