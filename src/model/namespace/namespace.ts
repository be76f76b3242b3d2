import { limits } from '../limits.ts';
import { List, type Model, Nullable, stamps, Text, TextMap, Type } from '../schema.ts';

/** A realm of names for jobs and what comes of them. */
export const NamespaceSchema = Type.Object({
  Name: Text({ maxLength: limits.names.lengthMax }),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
  Meta: TextMap(),
  Capabilities: Nullable(
    Type.Object({
      EnabledTaskDrivers: List(Type.String()),
      DisabledTaskDrivers: List(Type.String()),
      EnabledNetworkModes: List(Type.String()),
      DisabledNetworkModes: List(Type.String()),
    }),
  ),
  ...stamps,
});
export type Namespace = Model<typeof NamespaceSchema>;

export const defaultNamespace = 'default';
/** In a query: every namespace that the token may see. */
export const everyNamespace = '*';

/** The partition of every noun of the scheduler. */
export const defaultPartition = 'default';
