/** Entries, and what is asked of them: the table of the golden chains. */
type Body = Readonly<Record<string, unknown>>;

export interface GoldenCase {
  readonly name: string;
  /** What it shows, for people. */
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
    about: 'A protocol, labels and a gateway of its own.',
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
    about: 'A protocol for everybody.',
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
    about: 'Published sample: two datacenters stand in for this one.',
    entries: [
      resolver('web', {
        ConnectTimeout: '15s',
        Failover: { '*': { Datacenters: ['dc3', 'dc4'] } },
      }),
    ],
  },
  {
    name: 'redirect-datacenter-with-overrides',
    about: 'Published sample: another datacenter, and everything overridden.',
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
    about: 'Published sample: routes by path and by header, and one for everything else.',
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
    about: 'Everything goes to the service itself.',
    entries: [...http('web'), router('web')],
  },
  {
    name: 'default-subset',
    about: 'Who names no subset means the default one.',
    entries: [resolver('web', { DefaultSubset: 'v2', Subsets: versions })],
  },
  {
    name: 'splitters-become-one',
    about: 'A splitter that leads to a splitter takes its splits over, headers included.',
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
    about: 'What a route leads to is split and not routed again; a subset is not split either.',
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
    about: 'Each redirect is followed; what speaks is the last one.',
    entries: [
      ...http('c'),
      resolver('web', { Redirect: { Service: 'b' } }),
      resolver('b', { Redirect: { Service: 'c', ServiceSubset: 'v1' } }),
      resolver('c', { Subsets: versions, ConnectTimeout: '2s', RequestTimeout: '1m' }),
    ],
  },
  {
    name: 'redirect-is-applied-once',
    about: 'A service elsewhere under its own name, in a subset that stays.',
    entries: [
      ...http('web'),
      router('web', path('/v1', { ServiceSubset: 'v1' })),
      resolver('web', { Subsets: versions, DefaultSubset: 'v2', Redirect: { Datacenter: 'dc2' } }),
    ],
  },
  {
    name: 'redirect-to-a-peer',
    about: 'What is at a peer, the peer decides.',
    entries: [
      resolver('web', { Redirect: { Service: 'shop', Peer: 'east' } }),
      resolver('shop', { Redirect: { Service: 'elsewhere' } }),
    ],
  },
  {
    name: 'failover-targets',
    about: 'Datacenter, peer, partition and service stand in; the place itself is left out.',
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
    about: 'A subset has a failover of its own, the others have the one for all.',
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
    about: 'A hash says for the whole splitter how instances are chosen.',
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
    about: 'A service outside of the mesh: its own server name and no gateway.',
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
    about: 'Who wants tcp gets no router and no splitter.',
    entries: [
      ...http('web', 'b'),
      router('web', path('/b', { Service: 'b' })),
      splitter('web', { Weight: 100, Service: 'b' }),
    ],
    overrides: { OverrideProtocol: 'tcp' },
  },
  {
    name: 'override-without-effect',
    about: 'Who wants what is there already gets the same chain, with no hash.',
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
    about: 'Nothing is routed over tcp.',
    entries: [router('web', path('/', { Service: 'b' })), splitter('web', { Weight: 100 })],
  },
  {
    name: 'refused-mixed-protocols',
    about: 'All of a chain has to speak the same.',
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
    about: 'A subset that nobody defines.',
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
