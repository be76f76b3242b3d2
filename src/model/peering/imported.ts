import { About, type Model, stamps, Text, Type } from '../schema.ts';
import { ServiceRegistrationSchema } from '../service-registration/service-registration.ts';

/**
 * A service that a peer exports to this cluster.
 * Source: docs/behaviour/peering.md#imported-services.
 */
export const ImportedServiceSchema = Type.Object({
  Partition: About('Where the peering is.', Text()),
  Peer: About('The peer that it comes from.', Text()),
  Namespace: About('Where it lives, there and here.', Text()),
  Name: About('What it is found by.', Text()),
  Protocol: About('How it is spoken to: `tcp`, `http` and so on.', Text()),
  ...stamps,
});
export type ImportedService = Model<typeof ImportedServiceSchema>;

/**
 * An instance at a peer. It looks like one of this cluster, so that whoever reads instances can read
 * both; node, job and allocation are the peer's and stay empty.
 */
const ImportedInstanceSchema = Type.Object({
  ...ServiceRegistrationSchema.properties,
  Partition: About('Where the peering is.', Text()),
  Peer: About('The peer that it comes from.', Text()),
});

/** An instance of whichever: one of this cluster has no peer. */
export const FoundInstanceSchema = Type.Object({
  ...ServiceRegistrationSchema.properties,
  Partition: Type.Optional(About('Where the peering is that it comes over.', Text())),
  Peer: Type.Optional(About('The peer that it comes from.', Text())),
});
export type ImportedInstance = Model<typeof ImportedInstanceSchema>;
