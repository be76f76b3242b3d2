import type { ImportedInstance, ImportedService } from '../../model/peering/imported.ts';
import type { PeeringConnection, StoredPeering } from '../../model/peering/peering.ts';
import type { ClusterIdentity, PeeringSecrets } from '../../model/peering/secrets.ts';
import { table } from './definition.ts';

/** Clusters that peer with this one. */
export const peerings = table<StoredPeering, 'id'>({
  name: 'peerings',
  version: 1,
  scopeParts: 1,
  key: ({ Partition, Name }) => [Partition, Name],
  indexes: { id: { key: ({ ID }) => [ID] } },
});

/** Whether the stream of a peering is open, by the id of the peering. */
export const peeringConnections = table<PeeringConnection>({
  name: 'peering-connections',
  version: 1,
  key: ({ ID }) => [ID],
  indexes: {},
});

/** Deleted peerings whose peers have not heard of the deletion yet, by id. */
export const peeringFarewells = table<StoredPeering>({
  name: 'peering-farewells',
  version: 1,
  key: ({ ID }) => [ID],
  indexes: {},
});

/** The secrets with which the clusters of a peering identify themselves, by the id of the peering. */
export const peeringSecrets = table<PeeringSecrets>({
  name: 'peering-secrets',
  version: 1,
  key: ({ ID }) => [ID],
  indexes: {},
});

/** A single row: the identity of this cluster. */
export const clusterIdentity = table<ClusterIdentity>({
  name: 'cluster-identity',
  version: 1,
  key: () => ['cluster'],
  indexes: {},
});

/** Services that peers export to this cluster. They and their instances are deleted with the peering. */
export const importedServices = table<ImportedService>({
  name: 'imported-services',
  version: 1,
  scopeParts: 2,
  key: ({ Partition, Peer, Namespace, Name }) => [Partition, Peer, Namespace, Name],
  indexes: {},
});

export const importedInstances = table<ImportedInstance>({
  name: 'imported-instances',
  version: 1,
  scopeParts: 2,
  key: ({ Partition, Peer, Namespace, ServiceName, ID }) => [
    Partition,
    Peer,
    Namespace,
    ServiceName,
    ID,
  ],
  indexes: {},
});
