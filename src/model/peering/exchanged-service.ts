import { About, FullList, type Model, Text, Type } from '../schema.ts';

/** One line of `GET /v1/exported-services`: `*` is expanded. */
export const ExportedServiceSchema = Type.Object({
  Service: About('The service.', Text()),
  Partition: About('Where it lives.', Text()),
  Namespace: About('Where it lives.', Text()),
  Consumers: About(
    'Who may use it; lists that would be empty are left out.',
    Type.Object({
      Peers: Type.Optional(About('Peers that it goes to.', FullList(Type.String()))),
      Partitions: Type.Optional(About('Partitions of this cluster.', FullList(Type.String()))),
    }),
  ),
});
export type ListedExport = Model<typeof ExportedServiceSchema>;

/** One line of `GET /v1/imported-services`. */
export const ImportedNameSchema = Type.Object({
  Service: About('The service.', Text()),
  Partition: About('Where the peering is.', Text()),
  Namespace: About('Where it lives, there and here.', Text()),
  SourcePeer: About('The peer that it comes from.', Text()),
});
export type ListedImport = Model<typeof ImportedNameSchema>;
