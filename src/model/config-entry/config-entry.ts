import { limits } from '../limits.ts';
import { About, type Input, type Model, stamps, Text, TextMap, Type } from '../schema.ts';

/** The kinds of configuration entry there are. Source: docs/contract/configuration.md#kinds. */
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

/** Kinds that route traffic. A service with such an entry has a discovery chain by entries alone. */
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
  Namespace: About('Where the entry is.', Text()),
  Partition: About('Where the entry is.', Text()),
  Meta: About('Names and texts of the caller, without effect.', TextMap()),
};

const EntrySchema = Type.Object({ ...entryFields, ...stamps });

/** An entry of whatever kind, as it is stored: complete, and in its one spelling. */
export type ConfigEntry = Model<typeof EntrySchema> & { readonly Kind: ConfigKindName };

/** An entry as a caller gives it. */
export type ConfigEntryRequest = Input<ConfigEntry>;

/** Where an entry is: the key of its row. */
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

/** Name of the entry that stands for every service, where a kind allows that. */
export const everyService = '*';
