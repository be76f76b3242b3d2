import type { Fault } from '../errors.ts';
import { below, faultAt, type Path, quote } from '../path.ts';
import { About, Choice, List, type Model, Nullable, stamps, Text, Type, Whole } from '../schema.ts';
import { entryFields, everyService } from './config-entry.ts';
import type { ConfigKind } from './kind.ts';
import { isAddress, isHostName } from './names.ts';
import { givenTests, pathFaults } from './path-faults.ts';
import { permissiveFaults } from './permissive.ts';
import {
  ExposeSchema,
  exposeFaults,
  extensionFaults,
  MeshGatewaySchema,
  MutualTlsMode,
  PassiveHealthCheckSchema,
  PortNumber,
  ProxyExtensionsList,
  ProxyMode,
  TransparentProxySchema,
} from './proxy-fields.ts';

const Bound = () => Nullable(Whole({ minimum: 0 }));

const UpstreamSchema = Type.Object({
  Name: About('The called service.', Text(), {
    rules: 'required in `Overrides`, empty in `Defaults`',
  }),
  Namespace: About('Namespace of the called service.', Text(), { absent: 'that of the entry' }),
  Partition: About('Partition of the called service.', Text(), { absent: 'that of the entry' }),
  Peer: About('The peer that has the service.', Text()),
  EnvoyListenerJSON: About("The whole configuration of the proxy's listener.", Text()),
  EnvoyClusterJSON: About("The whole configuration of the proxy's cluster.", Text()),
  Protocol: About('Protocol of the service.', Text()),
  ConnectTimeoutMs: About(
    'Timeout of a connection, in milliseconds; 0: 5000. A value below 0 is stored as 0.',
    Whole(),
  ),
  Limits: About(
    'Limits of simultaneous connections and requests.',
    Nullable(
      Type.Object({
        MaxConnections: About('Connections.', Bound()),
        MaxPendingRequests: About('Requests that wait for a connection.', Bound()),
        MaxConcurrentRequests: About('Requests.', Bound()),
      }),
    ),
  ),
  PassiveHealthCheck: About(
    'The failures after which an instance is ejected for a while.',
    Nullable(PassiveHealthCheckSchema),
  ),
  MeshGateway: MeshGatewaySchema,
  BalanceOutboundConnections: About(
    'How connections are spread over the threads of the proxy.',
    Choice(['', 'exact_balance']),
  ),
});
type Upstream = Model<typeof UpstreamSchema>;

const Rate = {
  RequestsPerSecond: About('On average.', Whole({ minimum: 0 })),
  RequestsMaxBurst: About('Requests at once; 0: as many as in a second.', Whole({ minimum: 0 })),
};

export const ServiceDefaultsSchema = Type.Object({
  ...entryFields,
  Protocol: About(
    'Protocol of the service: `tcp`, `http`, `http2`, `grpc`; in lower case.',
    Text(),
    {
      absent: 'the protocol of `proxy-defaults`, else `tcp`',
    },
  ),
  Mode: ProxyMode(),
  TransparentProxy: TransparentProxySchema,
  MutualTLSMode: MutualTlsMode(),
  EnvoyExtensions: ProxyExtensionsList(),
  MeshGateway: MeshGatewaySchema,
  Expose: ExposeSchema,
  ExternalSNI: About('The server name (SNI) in TLS, for a service outside of the mesh.', Text()),
  UpstreamConfig: About(
    'Settings for calls to other services.',
    Nullable(
      Type.Object({
        Overrides: About('Settings for single services.', List(UpstreamSchema)),
        Defaults: About('Settings for all other services.', Nullable(UpstreamSchema)),
      }),
    ),
    { rules: 'not together with `Destination`' },
  ),
  Destination: About(
    'Addresses of a service outside of the mesh.',
    Nullable(
      Type.Object({
        Addresses: About('IP addresses and host names.', List(Type.String()), {
          rules: 'at least one, each once',
        }),
        Port: About('The port of the service.', PortNumber(), { rules: 'from 1' }),
      }),
    ),
  ),
  MaxInboundConnections: About(
    'Maximum number of connections to an instance; 0: no limit.',
    Whole({ minimum: 0 }),
  ),
  LocalConnectTimeoutMs: About(
    'Timeout of the proxy’s connection to its service, in milliseconds; 0: 5000.',
    Whole({ minimum: 0 }),
  ),
  LocalRequestTimeoutMs: About(
    'Timeout of an answer of the service, in milliseconds; 0: the timeout of the route.',
    Whole({ minimum: 0 }),
  ),
  BalanceInboundConnections: About(
    'How connections are spread over the threads of the proxy.',
    Choice(['', 'exact_balance']),
  ),
  RateLimits: About(
    'Limits of the requests to an instance.',
    Nullable(
      Type.Object({
        InstanceLevel: Type.Object({
          ...Rate,
          Routes: About(
            'Limits of single paths.',
            List(
              Type.Object({
                PathExact: About('The path.', Text(), { rules: 'begins with `/`' }),
                PathPrefix: About('The beginning of the path.', Text(), {
                  rules: 'begins with `/`',
                }),
                PathRegex: About('A pattern of the path.', Text()),
                ...Rate,
              }),
            ),
            { rules: 'exactly one of `PathExact`, `PathPrefix` and `PathRegex` each' },
          ),
        }),
      }),
    ),
  ),
  ...stamps,
});
export type ServiceDefaults = Model<typeof ServiceDefaultsSchema> & {
  readonly Kind: 'service-defaults';
};

/** Source: docs/behaviour/configuration.md#service-defaults. */
export const serviceDefaults: ConfigKind<ServiceDefaults> = {
  kind: 'service-defaults',
  summary: 'Protocol of a service, and settings for calls to and from it.',
  acts:
    '`Protocol` decides which traffic may be routed and split, and is in discovery chains with ' +
    '`MeshGateway`, `ExternalSNI` and `Meta` ([the guide](../../guides/traffic.md)). The other ' +
    'fields are for proxies, which Roster does not run: it checks, stores and shows them.',
  deletion: {
    usedBy:
      'entries that need its `Protocol`: chains, `ingress-gateway`, `service-intentions` with `Permissions`, `http-route`',
    outcome: 'refused while a dependent entry needs it',
  },
  schema: ServiceDefaultsSchema,
  access: 'service',
  normalize,
  faults,
  changeFaults: permissiveFaults,
  example: {
    Kind: 'service-defaults',
    Name: 'web',
    Protocol: 'http',
    UpstreamConfig: { Defaults: { ConnectTimeoutMs: 2000, Limits: { MaxConnections: 100 } } },
    Meta: { owner: 'shop' },
  },
};

function normalize(entry: ServiceDefaults): ServiceDefaults {
  const { UpstreamConfig: calls } = entry;
  return {
    ...entry,
    Protocol: entry.Protocol.toLowerCase(),
    UpstreamConfig: calls && {
      Overrides: calls.Overrides?.map((one) => placedUpstream(plain(one), entry)) ?? null,
      Defaults: calls.Defaults && plain(calls.Defaults),
    },
  };
}

const plain = (upstream: Upstream): Upstream => ({
  ...upstream,
  Protocol: upstream.Protocol.toLowerCase(),
  ConnectTimeoutMs: Math.max(0, upstream.ConnectTimeoutMs),
});

/** The peer decides the namespace and partition of its services. */
function placedUpstream(upstream: Upstream, { Namespace, Partition }: ServiceDefaults): Upstream {
  if (upstream.Peer !== '') return upstream;
  return {
    ...upstream,
    Namespace: upstream.Namespace || Namespace,
    Partition: upstream.Partition || Partition,
  };
}

function faults(entry: ServiceDefaults): readonly Fault[] {
  const { UpstreamConfig: calls, Destination: destination } = entry;
  const found = [
    ...exposeFaults(entry.Expose, below(null, 'Expose')),
    ...extensionFaults(entry.EnvoyExtensions, below(null, 'EnvoyExtensions')),
  ];
  if (calls !== null) found.push(...upstreamFaults(calls, below(null, 'UpstreamConfig')));
  if (destination !== null) {
    const path = below(null, 'Destination');
    if (calls !== null) found.push(faultAt(path, 'must not be given together with UpstreamConfig'));
    found.push(...addressFaults(destination.Addresses ?? [], below(path, 'Addresses')));
    if (destination.Port === 0) found.push(faultAt(below(path, 'Port'), 'must be from 1'));
  }
  (entry.RateLimits?.InstanceLevel.Routes ?? []).forEach((route, index) => {
    const place = below(null, 'RateLimits', 'InstanceLevel', 'Routes', index);
    if (givenTests(route).length !== 1) {
      found.push(faultAt(place, 'must have one of PathExact, PathPrefix and PathRegex'));
    }
    found.push(...pathFaults(route, place));
  });
  return found;
}

function upstreamFaults(
  { Overrides, Defaults }: NonNullable<ServiceDefaults['UpstreamConfig']>,
  path: Path,
): Fault[] {
  const found: Fault[] = [];
  const seen = new Set<string>();
  (Overrides ?? []).forEach(({ Name, Namespace, Partition, Peer }, index) => {
    const at = (field: string) => below(path, 'Overrides', index, field);
    if (Name === '') found.push(faultAt(at('Name'), 'is required'));
    if (Name === everyService) {
      found.push(faultAt(at('Name'), 'must be a single service: Defaults apply to all others'));
    }
    const key = [Peer, Partition, Namespace, Name].join('\0');
    if (seen.has(key)) found.push(faultAt(at('Name'), `${quote(Name)} has an override before`));
    seen.add(key);
  });
  for (const field of ['Name', 'Namespace', 'Partition', 'Peer'] as const) {
    if (Defaults === null || Defaults[field] === '') continue;
    found.push(
      faultAt(below(path, 'Defaults', field), 'must be empty: Defaults apply to every service'),
    );
  }
  return found;
}

function addressFaults(addresses: readonly string[], path: Path): Fault[] {
  if (addresses.length === 0) return [faultAt(path, 'must have at least one address')];
  return addresses.flatMap((address, index) => {
    const at = below(path, index);
    if (addresses.indexOf(address) < index)
      return [faultAt(at, `${quote(address)} is given twice`)];
    if (isAddress(address) || isHostName(address)) return [];
    return [faultAt(at, `${quote(address)} is neither an IP address nor a host name`)];
  });
}
