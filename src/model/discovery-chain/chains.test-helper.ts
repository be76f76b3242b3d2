/** The table of the golden chains: entries, requests and their purpose. */
type Body = Readonly<Record<string, unknown>>;

export interface GoldenCase {
  readonly name: string;
  /** The purpose, for people. */
  readonly about: string;
  readonly entries: readonly Body[];
  /** Default: `web`. */
  readonly service?: string;
  readonly datacenter?: string;
  readonly overrides?: Body;
}

export const http = (...names: readonly string[]): Body[] =>
  names.map((Name) => ({ Kind: 'service-defaults', Name, Protocol: 'http' }));
export const resolver = (Name: string, fields: Body = {}): Body => ({
  Kind: 'service-resolver',
  Name,
  ...fields,
});
export const splitter = (Name: string, ...Splits: readonly Body[]): Body => ({
  Kind: 'service-splitter',
  Name,
  Splits,
});
export const router = (Name: string, ...Routes: readonly Body[]): Body => ({
  Kind: 'service-router',
  Name,
  Routes,
});
export const path = (PathPrefix: string, Destination: Body): Body => ({
  Match: { HTTP: { PathPrefix } },
  Destination,
});
const versions = {
  v1: { Filter: 'Service.Meta.version == v1' },
  v2: { Filter: 'Service.Meta.version == v2' },
};

export const goldenCases: readonly GoldenCase[] = [
  { name: 'plain', about: 'No entries at all.', entries: [] },
  {
    name: 'defaults',
    about: 'A service with its own protocol, labels and gateway.',
    entries: [
      {
        Kind: 'service-defaults',
        Name: 'web',
        Protocol: 'grpc',
        Meta: { team: 'shop' },
        MeshGateway: { Mode: 'local' },
      },
    ],
  },
  {
    name: 'proxy-defaults',
    about: 'A protocol for all services.',
    entries: [
      {
        Kind: 'proxy-defaults',
        Name: 'global',
        Config: { protocol: 'HTTP' },
        MeshGateway: { Mode: 'remote' },
      },
      splitter('web', { Weight: 100 }),
    ],
  },
  {
    name: 'failover-datacenters',
    about: 'Published sample: failover to two datacenters.',
    entries: [
      resolver('web', {
        ConnectTimeout: '15s',
        Failover: { '*': { Datacenters: ['dc3', 'dc4'] } },
      }),
    ],
  },
  {
    name: 'redirect-datacenter-with-overrides',
    about: 'Published sample: another datacenter, with all overrides.',
    entries: [resolver('web', { Redirect: { Datacenter: 'dc2' } })],
    overrides: {
      OverrideConnectTimeout: 7e9,
      OverrideProtocol: 'grpc',
      OverrideMeshGateway: { Mode: 'remote' },
    },
  },
  {
    name: 'split-versions',
    about: 'Published sample: two versions, for another datacenter.',
    entries: [
      ...http('web'),
      resolver('web', { DefaultSubset: 'v1', Subsets: versions }),
      splitter('web', { Weight: 90, ServiceSubset: 'v1' }, { Weight: 10, ServiceSubset: 'v2' }),
    ],
    datacenter: 'dc2',
  },
  {
    name: 'route-paths',
    about: 'Published sample: routes by path and by header, and a route for all other requests.',
    entries: [
      { Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } },
      resolver('web', { Subsets: { canary: { Filter: 'Service.Meta.flavor == canary' } } }),
      router(
        'web',
        path('/admin', { Service: 'admin', PrefixRewrite: '/', RequestTimeout: '15s' }),
        {
          Match: { HTTP: { Header: [{ Name: 'x-debug', Exact: '1' }] } },
          Destination: {
            Service: 'web',
            ServiceSubset: 'canary',
            NumRetries: 5,
            RetryOnConnectFailure: true,
            RetryOnStatusCodes: [401, 409],
          },
        },
      ),
    ],
  },
  {
    name: 'router-without-routes',
    about: 'All requests go to the service itself.',
    entries: [...http('web'), router('web')],
  },
  {
    name: 'default-subset',
    about: 'A request without a subset means the default subset.',
    entries: [resolver('web', { DefaultSubset: 'v2', Subsets: versions })],
  },
  {
    name: 'splitters-become-one',
    about: 'A splitter that leads to a splitter takes over its splits, with their headers.',
    entries: [
      ...http('web', 'next', 'later'),
      splitter(
        'web',
        { Weight: 33.33 },
        { Weight: 66.67, Service: 'next', RequestHeaders: { Set: { 'x-from': 'web' } } },
      ),
      splitter(
        'next',
        { Weight: 33.33, RequestHeaders: { Add: { 'x-to': 'next' } } },
        { Weight: 66.67, Service: 'later' },
      ),
    ],
  },
  {
    name: 'route-passes-routers-by',
    about: 'The destination of a route is split and not routed again; a subset is not even split.',
    entries: [
      ...http('web', 'api', 'api-next'),
      router(
        'web',
        path('/api', { Service: 'api' }),
        path('/old', { Service: 'api', ServiceSubset: 'v1' }),
      ),
      router('api', path('/never', { Service: 'api-next' })),
      splitter('api', { Weight: 50, ServiceSubset: 'v2' }, { Weight: 50, Service: 'api-next' }),
      resolver('api', { Subsets: versions }),
    ],
  },
  {
    name: 'redirects-in-a-row',
    about: 'Each redirect is followed; the last service gives the protocol.',
    entries: [
      ...http('c'),
      resolver('web', { Redirect: { Service: 'b' } }),
      resolver('b', { Redirect: { Service: 'c', ServiceSubset: 'v1' } }),
      resolver('c', { Subsets: versions, ConnectTimeout: '2s', RequestTimeout: '1m' }),
    ],
  },
  {
    name: 'redirect-is-applied-once',
    about: 'A redirect to a service of the same name elsewhere keeps the subset.',
    entries: [
      ...http('web'),
      router('web', path('/v1', { ServiceSubset: 'v1' })),
      resolver('web', { Subsets: versions, DefaultSubset: 'v2', Redirect: { Datacenter: 'dc2' } }),
    ],
  },
  {
    name: 'redirect-to-a-peer',
    about: 'The peer decides about its own services.',
    entries: [
      resolver('web', { Redirect: { Service: 'shop', Peer: 'east' } }),
      resolver('shop', { Redirect: { Service: 'elsewhere' } }),
    ],
  },
  {
    name: 'failover-targets',
    about:
      'Failover to a datacenter, peer, partition and service; the failing target itself is left out.',
    entries: [
      resolver('web', {
        Subsets: versions,
        DefaultSubset: 'v1',
        Failover: {
          '*': {
            Targets: [
              { Datacenter: 'dc2' },
              { Peer: 'east' },
              { Partition: 'other' },
              { Service: 'backup' },
              { ServiceSubset: 'v1' },
              { Datacenter: 'dc2' },
            ],
            Policy: { Mode: 'order-by-locality', Regions: ['north'] },
          },
        },
      }),
      resolver('backup', { Redirect: { Service: 'cold' } }),
      { Kind: 'service-resolver', Name: 'web', Partition: 'other', Subsets: versions },
    ],
  },
  {
    name: 'failover-by-subset',
    about: 'A subset has its own failover, the others have the failover for all.',
    entries: [
      ...http('web'),
      splitter('web', { Weight: 50, ServiceSubset: 'v1' }, { Weight: 50, ServiceSubset: 'v2' }),
      resolver('web', {
        Subsets: versions,
        Failover: { v2: { ServiceSubset: 'v1' }, '*': { Datacenters: ['dc9'] } },
      }),
    ],
  },
  {
    name: 'load-balancer',
    about: 'A load balancer with a hash applies to the whole splitter.',
    entries: [
      ...http('web', 'next'),
      splitter('web', { Weight: 50 }, { Weight: 50, Service: 'next' }),
      resolver('web', { LoadBalancer: { Policy: 'random' } }),
      resolver('next', {
        LoadBalancer: {
          Policy: 'ring_hash',
          RingHashConfig: { MinimumRingSize: 16 },
          HashPolicies: [
            { Field: 'cookie', FieldValue: 'u', CookieConfig: { TTL: '1h' }, Terminal: true },
          ],
        },
      }),
    ],
  },
  {
    name: 'external',
    about: 'A service outside of the mesh has its own server name and no gateway.',
    entries: [
      {
        Kind: 'service-defaults',
        Name: 'web',
        ExternalSNI: 'www.example.com',
        MeshGateway: { Mode: 'local' },
      },
      resolver('web', { ConnectTimeout: '1s' }),
    ],
  },
  {
    name: 'override-tcp',
    about: 'A request for tcp gets no router and no splitter.',
    entries: [
      ...http('web', 'b'),
      router('web', path('/b', { Service: 'b' })),
      splitter('web', { Weight: 100, Service: 'b' }),
    ],
    overrides: { OverrideProtocol: 'tcp' },
  },
  {
    name: 'override-without-effect',
    about: 'Overrides without an effect give the same chain, with no hash.',
    entries: [...http('web'), splitter('web', { Weight: 100 })],
    overrides: { OverrideProtocol: 'http' },
  },
  {
    name: 'places',
    about: 'Other namespaces and partitions, and names with dots.',
    entries: [
      { Kind: 'service-defaults', Name: 'v1.web', Protocol: 'http' },
      ...http('web'),
      { Kind: 'service-defaults', Name: 'web', Namespace: 'n', Protocol: 'http' },
      { Kind: 'service-defaults', Name: 'web', Partition: 'p', Protocol: 'http' },
      resolver('web', { Subsets: versions }),
      router(
        'web',
        path('/a', { Service: 'v1.web' }),
        path('/b', { ServiceSubset: 'v1' }),
        path('/c', { Namespace: 'n' }),
        path('/d', { Partition: 'p' }),
      ),
    ],
  },
  {
    name: 'refused-protocol',
    about: 'Connections over tcp are not routed.',
    entries: [router('web', path('/', { Service: 'b' })), splitter('web', { Weight: 100 })],
  },
  {
    name: 'refused-mixed-protocols',
    about: 'All services of a chain must have the same protocol.',
    entries: [...http('web'), router('web', path('/b', { Service: 'b' }))],
  },
  {
    name: 'refused-circle-of-splitters',
    about: 'Splitters that lead to each other.',
    entries: [
      ...http('web', 'b', 'c'),
      splitter('web', { Weight: 50 }, { Weight: 50, Service: 'b' }),
      splitter('b', { Weight: 100, Service: 'c' }),
      splitter('c', { Weight: 100, Service: 'b' }),
    ],
  },
  {
    name: 'refused-circle-of-redirects',
    about: 'Resolvers that lead to each other.',
    entries: [
      resolver('web', { Redirect: { Service: 'b' } }),
      resolver('b', { Redirect: { Service: 'c' } }),
      resolver('c', { Redirect: { Service: 'b' } }),
    ],
  },
  {
    name: 'refused-subset',
    about: 'A subset that no resolver defines.',
    entries: [
      ...http('web', 'b'),
      splitter('web', { Weight: 100, Service: 'b', ServiceSubset: 'v9' }),
    ],
  },
  {
    name: 'refused-external',
    about: 'A service outside of the mesh has no subsets and no failover.',
    entries: [
      { Kind: 'service-defaults', Name: 'web', ExternalSNI: 'www.example.com' },
      resolver('web', { Subsets: versions, Failover: { '*': { Service: 'b' } } }),
    ],
  },
];
