import type { Fault } from '../errors.ts';
import { below, faultAt } from '../path.ts';
import { About, Choice, Flag, FreeMap, List, type Model, stamps, Text, Type } from '../schema.ts';
import { entryFields } from './config-entry.ts';
import type { ConfigKind } from './kind.ts';
import { permissiveFaults } from './permissive.ts';
import {
  ExposeSchema,
  exposeFaults,
  extensionFaults,
  MeshGatewaySchema,
  MutualTlsMode,
  ProxyExtensionsList,
  ProxyMode,
  TransparentProxySchema,
} from './proxy-fields.ts';

export const ProxyDefaultsSchema = Type.Object({
  ...entryFields,
  Config: About(
    'Settings of the proxies; `protocol` is the default protocol of services.',
    FreeMap(),
  ),
  Mode: ProxyMode(),
  TransparentProxy: TransparentProxySchema,
  MutualTLSMode: MutualTlsMode(),
  MeshGateway: MeshGatewaySchema,
  Expose: ExposeSchema,
  AccessLogs: Type.Object({
    Enabled: About('Whether proxies keep a log of connections.', Flag()),
    DisableListenerLogs: About('Whether targets without a service are left out.', Flag()),
    Type: About('Where to.', Choice(['', 'file', 'stderr', 'stdout'])),
    Path: About('Path of the file.', Text(), { rules: 'given with `Type` file, and only then' }),
    JSONFormat: About('The form of a line, as JSON.', Text(), {
      rules: 'not together with `TextFormat`',
    }),
    TextFormat: About('The form of a line, as text.', Text()),
  }),
  EnvoyExtensions: ProxyExtensionsList(),
  FailoverPolicy: Type.Object({
    Mode: About('The first target.', Choice(['', 'sequential', 'order-by-locality'])),
    Regions: About('All targets, in this order.', List(Type.String())),
  }),
  PrioritizeByLocality: Type.Object({
    Mode: About('Whether instances nearby are preferred.', Choice(['', 'none', 'failover'])),
  }),
  ...stamps,
});
export type ProxyDefaults = Model<typeof ProxyDefaultsSchema> & { readonly Kind: 'proxy-defaults' };

/** Source: docs/behaviour/configuration.md#proxy-defaults. */
export const proxyDefaults: ConfigKind<ProxyDefaults> = {
  kind: 'proxy-defaults',
  summary: 'Default settings of all proxies of a partition.',
  acts:
    '`Config.protocol` and `MeshGateway` apply in discovery chains to services without their own ' +
    '([the guide](../../guides/traffic.md)). The other fields are for proxies, which Roster does ' +
    'not run: it checks, stores and shows them.',
  deletion: {
    usedBy:
      'entries that need its protocol: chains, `ingress-gateway`, `service-intentions` with `Permissions`, `http-route`',
    outcome: 'refused while a dependent entry needs it',
  },
  schema: ProxyDefaultsSchema,
  access: 'open',
  onlyName: () => 'global',
  ofPartition: true,
  normalize,
  faults,
  changeFaults: permissiveFaults,
  example: {
    Kind: 'proxy-defaults',
    Name: 'global',
    Config: { protocol: 'http' },
    AccessLogs: { Enabled: true, Type: 'stdout' },
  },
};

function normalize(entry: ProxyDefaults): ProxyDefaults {
  const protocol = entry.Config?.protocol;
  if (typeof protocol !== 'string' || protocol === protocol.toLowerCase()) return entry;
  return { ...entry, Config: { ...entry.Config, protocol: protocol.toLowerCase() } };
}

function faults({ Config, Expose, EnvoyExtensions, AccessLogs }: ProxyDefaults): readonly Fault[] {
  const found = [
    ...exposeFaults(Expose, below(null, 'Expose')),
    ...extensionFaults(EnvoyExtensions, below(null, 'EnvoyExtensions')),
  ];
  const protocol = Config?.protocol;
  if (protocol !== undefined && protocol !== null && typeof protocol !== 'string') {
    found.push(faultAt(below(null, 'Config', 'protocol'), 'must be a string'));
  }
  const at = (field: string) => below(null, 'AccessLogs', field);
  const { Type: type, Path, JSONFormat, TextFormat } = AccessLogs;
  if (type === 'file' && Path === '') found.push(faultAt(at('Path'), 'is required with a file'));
  if (type !== 'file' && Path !== '') found.push(faultAt(at('Path'), 'is only for Type "file"'));
  if (JSONFormat !== '' && TextFormat !== '') {
    found.push(faultAt(at('TextFormat'), 'must not be given together with JSONFormat'));
  }
  return found;
}
