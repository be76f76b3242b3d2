import { About, List, type Model, Nullable, stamps, Type } from '../schema.ts';
import { entryFields } from './config-entry.ts';
import {
  byPrecedence,
  type IntentionPermission,
  type IntentionSource,
  JwtSchema,
  precedenceOf,
  SourceSchema,
} from './intention.ts';
import { intentionFaults } from './intention-faults.ts';
import type { ConfigKind, ServiceName } from './kind.ts';
import { tokenRules } from './token-requirements.ts';

export const ServiceIntentionsSchema = Type.Object({
  ...entryFields,
  Sources: About(
    'The services that may call this service, and those that may not.',
    List(SourceSchema),
    {
      rules: 'at least one, each once',
    },
  ),
  JWT: About('The token that every request needs.', Nullable(JwtSchema), { rules: tokenRules }),
  ...stamps,
});

export type ServiceIntentions = Model<typeof ServiceIntentionsSchema> & {
  readonly Kind: 'service-intentions';
};
/** Source: docs/behaviour/intentions.md#sources. */
export const serviceIntentions: ConfigKind<ServiceIntentions> = {
  kind: 'service-intentions',
  summary: 'The allowed callers of a service, and the allowed requests.',
  acts:
    'Intentions decide the answers of `roster intention check` and of the API, with the reason. ' +
    'Blocking a connection needs a proxy.',
  deletion: {
    usedBy: 'none',
    outcome: 'allowed: the intentions of `*` decide, otherwise the default policy',
  },
  schema: ServiceIntentionsSchema,
  access: 'intentions',
  allowsEvery: true,
  normalize,
  arrange,
  faults: intentionFaults,
  services: sources,
  example: {
    Kind: 'service-intentions',
    Name: 'web',
    Sources: [
      { Name: 'api', Action: 'allow', Description: 'The front of the shop' },
      { Name: '*', Action: 'deny' },
    ],
  },
};

/** The sources; `*` is a name like any other. */
function sources({ Sources }: ServiceIntentions): readonly ServiceName[] {
  return (Sources ?? [])
    .filter(({ Peer }) => Peer === '')
    .map(({ Partition: partition, Namespace: namespace, Name: name }) => {
      return { partition, namespace, name };
    });
}

function normalize(entry: ServiceIntentions): ServiceIntentions {
  const Sources = entry.Sources?.map((source) => normalizedSource(source, entry)) ?? null;
  return { ...entry, Sources };
}

function arrange(entry: ServiceIntentions): ServiceIntentions {
  return { ...entry, Sources: entry.Sources?.toSorted(byPrecedence) ?? null };
}

function normalizedSource(source: IntentionSource, entry: ServiceIntentions): IntentionSource {
  const Namespace = source.Namespace || entry.Namespace;
  return {
    ...source,
    Namespace,
    // The word of other servers for the only kind of name.
    Type: (source.Type as string) === 'consul' ? 'registry' : source.Type,
    // Names of a peer's partitions are not known here.
    Partition: source.Peer === '' ? source.Partition || entry.Partition : source.Partition,
    Permissions: source.Permissions?.map(normalizedPermission) ?? null,
    Precedence: precedenceOf({ name: source.Name, namespace: Namespace }, entry.Name),
  };
}

function normalizedPermission(permission: IntentionPermission): IntentionPermission {
  const { HTTP } = permission;
  if (HTTP?.Methods == null) return permission;
  const Methods = HTTP.Methods.map((method) => method.toUpperCase());
  return { ...permission, HTTP: { ...HTTP, Methods } };
}
