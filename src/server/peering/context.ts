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
import type { ServerContext } from '../context.ts';
import type { Exchange } from './exchange.ts';
import type { PeeringTransport } from './link.ts';
import type { PeeringStreams } from './streams.ts';

/** Where other clusters reach the servers of this one. */
export interface Advertised {
  /** Each `host:port`. */
  readonly addresses: readonly string[];
  /** Certificates (PEM) that they are to trust; none: they come without TLS. */
  readonly caPems: readonly string[];
}

/** What all parts of peering work with. */
export interface PeeringContext extends ServerContext {
  readonly datacenter: string;
  readonly transport: PeeringTransport;
  readonly exchange: Exchange;
  readonly streams: PeeringStreams;
  readonly advertised: () => Advertised;
}

/** Names the cluster, once. */
export function seedIdentity(transaction: Transaction, ids: Ids): void {
  const table = transaction.table(clusterIdentity);
  if (!table.has('cluster')) table.put({ ID: ids.uuid() });
}

export const identityOf = (snapshot: Snapshot): ClusterIdentity =>
  snapshot.table(clusterIdentity).get('cluster')!;

/** What this cluster says of itself over the stream of a peering. */
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
  snapshot
    .table(peerings)
    .by('id')
    .scan({ prefix: [id] })
    .next().value ?? undefined;

/** What names a peering and the one that it is with, there. */
export type Paired = Pick<StoredPeering, 'ID' | 'PeerID'>;

/**
 * The peering, unless it is with another one by now. A stream asks for it before it writes: that the
 * stream is to end is known when the other one is durable, and what it writes comes after that.
 */
export function stillPaired(snapshot: Snapshot, { ID, PeerID }: Paired): StoredPeering | undefined {
  const peering = peeringById(snapshot, ID);
  return peering?.PeerID === PeerID ? peering : undefined;
}

/** Also one that is deleted, whose peer has yet to hear of it. */
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
 * Whether what came over the peering until now is of somebody else than the one it is with from now
 * on, who is named by the id of the peering on that side.
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

/** 32 bytes that nobody can guess, in hexadecimal. */
export const fresh = ({ world }: Pick<ServerContext, 'world'>): string =>
  Buffer.from(world.secrets.bytes(32)).toString('hex');
