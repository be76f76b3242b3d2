import type { Ids } from '../../base/ports.ts';
import { refusal } from '../../model/errors.ts';
import type { StoredPeering } from '../../model/peering/peering.ts';
import type { SelfDescription } from '../../model/peering/proof.ts';
import {
  type ClusterIdentity,
  type PeeringSecrets,
  serverNameOf,
} from '../../model/peering/secrets.ts';
import {
  clusterIdentity,
  partitions,
  peeringFarewells,
  peeringSecrets,
  peerings,
} from '../../state/tables.ts';
import type { Snapshot, Transaction, Unstamped } from '../../state/types.ts';
import { rowWithId } from '../checks.ts';
import type { ServerContext } from '../context.ts';
import type { Exchange } from './exchange.ts';
import type { PeeringTransport } from './link.ts';
import type { PeeringStreams } from './streams.ts';

/** Where other clusters reach the servers of this cluster. */
export interface Advertised {
  /** Each `host:port`. */
  readonly addresses: readonly string[];
  /** Certificates (PEM) that other clusters are to trust; empty: there is no TLS. */
  readonly caPems: readonly string[];
}

/** The means of every part of peering. */
export interface PeeringContext extends ServerContext {
  readonly datacenter: string;
  readonly transport: PeeringTransport;
  readonly exchange: Exchange;
  readonly streams: PeeringStreams;
  readonly advertised: () => Advertised;
}

/** Gives the cluster an id, once. */
export function seedIdentity(transaction: Transaction, ids: Ids): void {
  const table = transaction.table(clusterIdentity);
  if (!table.has('cluster')) table.put({ ID: ids.uuid() });
}

export const identityOf = (snapshot: Snapshot): ClusterIdentity =>
  snapshot.table(clusterIdentity).get('cluster')!;

/** The description of this cluster that the other side of a peering gets. */
export const selfOf = (
  { state, datacenter }: PeeringContext,
  peering: Pick<StoredPeering, 'ID' | 'Partition'>,
  addresses: readonly string[],
): SelfDescription => ({
  id: peering.ID,
  serverName: serverNameOf(identityOf(state.read())),
  datacenter,
  partition: peering.Partition,
  addresses,
});

export const peeringById = (snapshot: Snapshot, id: string): StoredPeering | undefined =>
  rowWithId(snapshot.table(peerings), id);

/** The ids of a peering on both sides. */
export type Paired = Pick<StoredPeering, 'ID' | 'PeerID'>;

/**
 * The peering, unless it is with another cluster by now. A stream checks this before it writes: when
 * its peering is given to another cluster, the stream ends only after the change is durable, and
 * could still write until then.
 */
export function stillPaired(snapshot: Snapshot, { ID, PeerID }: Paired): StoredPeering | undefined {
  const peering = peeringById(snapshot, ID);
  return peering?.PeerID === PeerID ? peering : undefined;
}

/** Also finds a peering that is deleted but has yet to say goodbye. */
export const departingById = (snapshot: Snapshot, id: string): StoredPeering | undefined =>
  peeringById(snapshot, id) ?? snapshot.table(peeringFarewells).get(id);

export const peeringNamed = (
  snapshot: Snapshot,
  partition: string,
  name: string,
): StoredPeering | undefined => snapshot.table(peerings).get(partition, name);

/** @throws RosterError `partition-not-found` */
export function requirePartition(snapshot: Snapshot, partition: string): void {
  if (!snapshot.table(partitions).has(partition)) {
    throw refusal('partition-not-found', { partition });
  }
}

/**
 * Whether the imported rows came from another cluster than the new peer. `peerId` is the id of the
 * peering at the new peer.
 */
export const isOfAnother = (stored: StoredPeering | undefined, peerId: string): boolean =>
  stored !== undefined && (stored.MustForget || (stored.PeerID !== '' && stored.PeerID !== peerId));

export const noSecrets = (ID: string): Unstamped<PeeringSecrets> => ({
  ID,
  Establishment: '',
  Exchanged: '',
  Active: '',
  Pending: '',
});

export const secretsOf = (snapshot: Snapshot, id: string): Unstamped<PeeringSecrets> =>
  snapshot.table(peeringSecrets).get(id) ?? noSecrets(id);

/** 32 random bytes in hexadecimal. */
export const fresh = ({ world }: Pick<ServerContext, 'world'>): string =>
  Buffer.from(world.secrets.bytes(32)).toString('hex');
