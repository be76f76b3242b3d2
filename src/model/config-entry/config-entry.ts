import { limits } from '../limits.ts';
import { About, type Input, type Model, stamps, Text, TextMap, Type } from '../schema.ts';

/** The kinds of configuration entries. Source: docs/contract/configuration.md#kinds. */
export const configKinds = [
  'api-gateway',
  'bound-api-gateway',
  'exported-services',
  'file-system-certificate',
  'http-route',
  'ingress-gateway',
  'inline-certificate',
  'mesh',
  'proxy-defaults',
  'service-defaults',
  'service-intentions',
  'service-resolver',
  'service-router',
  'service-splitter',
  'tcp-route',
  'terminating-gateway',
] as const;
export type ConfigKindName = (typeof configKinds)[number];

/** Kinds that route traffic. An entry of such a kind gives its service a discovery chain. */
export const routingKinds = ['service-router', 'service-splitter', 'service-resolver'] as const;

export const isRoutingKind = (kind: string): boolean =>
  (routingKinds as readonly string[]).includes(kind);

/** Fields of every entry. The schema of a kind begins with these. */
export const entryFields = {
  Kind: About('Kind of the entry.', Text(), { rules: 'required' }),
  Name: About(
    'Name of the service, the gateway or the route.',
    Text({ maxLength: limits.names.lengthMax }),
  ),
  Namespace: About('Namespace of the entry.', Text()),
  Partition: About('Partition of the entry.', Text()),
  Meta: About('Names and texts of the caller, without effect.', TextMap()),
};

const EntrySchema = Type.Object({ ...entryFields, ...stamps });

/** A stored entry of any kind: complete and in canonical form. */
export type ConfigEntry = Model<typeof EntrySchema> & { readonly Kind: ConfigKindName };

/** An entry as a caller gives it. */
export type ConfigEntryRequest = Input<ConfigEntry>;

/** The key of an entry's row. */
export interface EntryKey {
  readonly partition: string;
  readonly namespace: string;
  readonly kind: ConfigKindName;
  readonly name: string;
}

export const keyOfEntry = ({ Partition, Namespace, Kind, Name }: ConfigEntry): EntryKey => ({
  partition: Partition,
  namespace: Namespace,
  kind: Kind,
  name: Name,
});

/** The name of the entry for every service, in kinds that allow it. */
export const everyService = '*';
