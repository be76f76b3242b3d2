import type { RestoreRecord } from '../snapshot/restore-record.ts';

/**
 * Secrets by which the two sides of a peering authenticate each other.
 * Source: docs/behaviour/peering.md#secrets-and-handshake.
 *
 * Invariants
 *
 *  S1. The cluster that made a token keeps only a fingerprint of its secret, until the token is used or
 *      replaced.
 *  S2. The side that has the token makes the secret that opens streams, and sends it once, with the
 *      token. Both sides keep it sealed.
 *  S3. A new secret is pending until it has opened a stream. Until then the previous secret is valid.
 */
export interface PeeringSecrets {
  /** The id of the peering in this cluster. */
  readonly ID: string;
  /** Fingerprint of the secret in the newest token; empty if it was used, or if there is none. */
  readonly Establishment: string;
  /**
   * At the acceptor, the fingerprint of the secret that came with `Pending`: the same message may be sent
   * again. At the dialer, the fingerprint of the last secret that it used.
   */
  readonly Exchanged: string;
  /** Sealed; empty if there is none. */
  readonly Active: string;
  readonly Pending: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** The identity of this cluster, for its whole life. */
export interface ClusterIdentity {
  readonly ID: string;
  /** The last restore of a snapshot; absent: there was none. */
  readonly Restore?: RestoreRecord;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** The name by which a cluster introduces itself to others. */
export const serverNameOf = ({ ID }: Pick<ClusterIdentity, 'ID'>): string => `server.${ID}.peering`;
