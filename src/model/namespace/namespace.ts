import { limits } from '../limits.ts';
import { FullList, List, type Model, Nullable, stamps, Text, TextMap, Type } from '../schema.ts';

/** A policy or role by id. A request may give its name instead. */
export const LinkSchema = Type.Object({ ID: Text(), Name: Text() });

/** A set of names for jobs and their records, and for tokens, roles, policies and logins. */
export const NamespaceSchema = Type.Object({
  Name: Text(),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
  Partition: Text(),
  Meta: TextMap(),
  Capabilities: Nullable(
    Type.Object({
      EnabledTaskDrivers: List(Type.String()),
      DisabledTaskDrivers: List(Type.String()),
      EnabledNetworkModes: List(Type.String()),
      DisabledNetworkModes: List(Type.String()),
    }),
  ),
  /**
   * Links that every token of the namespace has.
   * Source: docs/behaviour/access-control.md#namespaces-and-partitions.
   */
  ACLs: Nullable(
    Type.Object({
      PolicyDefaults: FullList(LinkSchema),
      RoleDefaults: FullList(LinkSchema),
    }),
  ),
  ...stamps,
});
export interface Namespace extends Model<typeof NamespaceSchema> {}

export const defaultNamespace = 'default';
/** In a query: every namespace that the token may see. */
export const everyNamespace = '*';

/** The partition of all records of the scheduler. */
export const defaultPartition = 'default';

/** The place of a record: its partition and namespace. */
export interface Scope {
  readonly partition: string;
  readonly namespace: string;
}

export const defaultScope: Scope = { partition: defaultPartition, namespace: defaultNamespace };

/** Names of namespaces and partitions are DNS labels. */
export const scopeNamePattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
