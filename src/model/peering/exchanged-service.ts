import { About, FullList, type Model, Text, Type } from '../schema.ts';

/** A line of `GET /v1/exported-services`: `*` is expanded. */
export const ExportedServiceSchema = Type.Object({
  Service: About('The service.', Text()),
  Partition: About('Partition of the service.', Text()),
  Namespace: About('Namespace of the service.', Text()),
  Consumers: About(
    'The peers and partitions that may use the service; empty lists are left out.',
    Type.Object({
      Peers: Type.Optional(About('Peers that get the service.', FullList(Type.String()))),
      Partitions: Type.Optional(About('Partitions of this cluster.', FullList(Type.String()))),
    }),
  ),
});
export type ListedExport = Model<typeof ExportedServiceSchema>;

/** A line of `GET /v1/imported-services`. */
export const ImportedNameSchema = Type.Object({
  Service: About('The service.', Text()),
  Partition: About('Partition of the peering.', Text()),
  Namespace: About('Namespace of the service, at the peer and here.', Text()),
  SourcePeer: About('The peer that exports the service.', Text()),
});
export type ListedImport = Model<typeof ImportedNameSchema>;
