import { About, type Model, stamps, Text, Type } from '../schema.ts';
import { ServiceRegistrationSchema } from '../service-registration/service-registration.ts';

/**
 * A service that a peer exports to this cluster.
 * Source: docs/behaviour/peering.md#imported-services.
 */
export const ImportedServiceSchema = Type.Object({
  Partition: About('Partition of the peering.', Text()),
  Peer: About('The peer that exports the service.', Text()),
  Namespace: About('Namespace of the service, at the peer and here.', Text()),
  Name: About('The tags of the service.', Text()),
  Protocol: About('The protocol of the service: `tcp`, `http` and so on.', Text()),
  ...stamps,
});
export type ImportedService = Model<typeof ImportedServiceSchema>;

/**
 * An instance at a peer. It has the form of an instance of this cluster, so that readers can handle both.
 * Node, job and allocation are the peer's and stay empty.
 */
export const ImportedInstanceSchema = Type.Object({
  ...ServiceRegistrationSchema.properties,
  Partition: About('Partition of the peering.', Text()),
  Peer: About('The peer that exports the instance.', Text()),
});

/** An instance of this cluster, which has no peer, or of a peer. */
export const FoundInstanceSchema = Type.Object({
  ...ServiceRegistrationSchema.properties,
  Partition: Type.Optional(About('Partition of the peering.', Text())),
  Peer: Type.Optional(About('The peer that exports the instance.', Text())),
});
export type ImportedInstance = Model<typeof ImportedInstanceSchema>;
