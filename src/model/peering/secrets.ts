/**
 * Secrets by which the two sides of a peering know each other.
 * Source: docs/behaviour/peering.md#secrets-and-handshake.
 *
 * Invariants
 *  S1. Of the secret in a token its maker keeps a fingerprint alone, until it is used or replaced.
 *  S2. The secret that streams are opened with is made by the side that has the token, told once, with
 *      that token, and never again. Both keep it sealed.
 *  S3. Where it is new it is pending until a stream was opened with it. Until then the one before holds.
 */
export interface PeeringSecrets {
  /** Of the peering, here. */
  readonly ID: string;
  /** Fingerprint of the secret in the newest token; empty: it was used, or there is none. */
  readonly Establishment: string;
  /**
   * Fingerprint of the secret that `Pending` was told with: the same may be told again. At the side
   * that dials, of the one that it used up last.
   */
  readonly Exchanged: string;
  /** Sealed; empty: there is none. */
  readonly Active: string;
  readonly Pending: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** What names this cluster, for as long as it is there. */
export interface ClusterIdentity {
  readonly ID: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** How a cluster calls itself to others. */
export const serverNameOf = ({ ID }: Pick<ClusterIdentity, 'ID'>): string => `server.${ID}.peering`;
