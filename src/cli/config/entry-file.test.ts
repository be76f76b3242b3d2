import { describe, expect, test } from 'vitest';
import { completeEntry, decodeEntry } from '../../model/config-entry/entry.ts';
import { entryFaults } from '../../model/config-entry/entry-faults.ts';
import { entryFileOf } from './entry-file.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Reads an entry from HCL, and checks that a server accepts it. */
function read(text: string): unknown {
  const { entry } = entryFileOf(text, 'entry.hcl');
  const given = decodeEntry(plain(entry));
  expect(
    entryFaults(given, completeEntry(given, { namespace: 'default', partition: 'default' })),
  ).toEqual([]);
  return plain(entry);
}

/** Files in the forms that people have published, each with what it says. */
const files: readonly (readonly [form: string, text: string, fields: object])[] = [
  [
    'routes with blocks in a list of objects',
    `Kind = "service-router"
Name = "web"
Routes = [
  {
    Match {
      HTTP {
        PathPrefix = "/admin"
      }
    }

    Destination {
      Service = "admin"
    }
  },
  # NOTE: everything else goes to "web"
]
`,
    {
      Routes: [{ Match: { HTTP: { PathPrefix: '/admin' } }, Destination: { Service: 'admin' } }],
    },
  ],
  [
    'routes with blocks and lists by turns',
    `kind = "service-router"
name = "web"
routes = [
  {
    match {
      http {
        header = [
          { name = "x-debug" exact = "1" },
        ]
        query_param = [{ name = "x", present = true }]
        methods = ["GET", "HEAD"]
      }
    }
    destination {
      service        = "web"
      service_subset = "canary"
      num_retries    = 3
      request_headers {
        add {
          "x-gateway" = "edge"
        }
        remove = ["x-debug"]
      }
    }
  },
  { match { http { path_prefix = "/words" } } destination { service = "words" prefix_rewrite = "/" } }
]`,
    {
      routes: [
        {
          match: {
            http: {
              header: [{ name: 'x-debug', exact: '1' }],
              query_param: [{ name: 'x', present: true }],
              methods: ['GET', 'HEAD'],
            },
          },
          destination: {
            service: 'web',
            service_subset: 'canary',
            num_retries: 3,
            request_headers: { add: { 'x-gateway': 'edge' }, remove: ['x-debug'] },
          },
        },
        {
          match: { http: { path_prefix: '/words' } },
          destination: { service: 'words', prefix_rewrite: '/' },
        },
      ],
    },
  ],
  [
    'permissions of an intention, with a block for the request',
    `Kind = "service-intentions"
Name = "api"
Sources = [
  {
    Name = "frontend"
    Permissions = [
      {
        Action = "deny"
        HTTP {
          PathPrefix = "/admin"
          Header = [
            {
              Name    = "x-internal"
              Present = true
              Invert  = true
            },
          ]
        }
      },
      {
        Action = "allow"
        HTTP { PathPrefix = "/", Methods = ["GET"] }
      }
    ]
  },
  # NOTE: a default catch-all
  { Name = "*" Action = "deny" }
]`,
    {
      Sources: [
        {
          Name: 'frontend',
          Permissions: [
            {
              Action: 'deny',
              HTTP: {
                PathPrefix: '/admin',
                Header: [{ Name: 'x-internal', Present: true, Invert: true }],
              },
            },
            { Action: 'allow', HTTP: { PathPrefix: '/', Methods: ['GET'] } },
          ],
        },
        { Name: '*', Action: 'deny' },
      ],
    },
  ],
  [
    'a block for each of a list, in an object of a list',
    `Kind = "service-intentions"
Name = "api"
Sources {
  Name = "frontend"
  Permissions { Action = "allow" HTTP { PathExact = "/" } }
  Permissions { Action = "deny"  HTTP { PathPrefix = "/" } }
}
Sources { Name = "*" Action = "deny" }`,
    {
      Sources: [
        {
          Name: 'frontend',
          Permissions: [
            { Action: 'allow', HTTP: { PathExact: '/' } },
            { Action: 'deny', HTTP: { PathPrefix: '/' } },
          ],
        },
        { Name: '*', Action: 'deny' },
      ],
    },
  ],
  [
    'subsets and failover in maps',
    `Kind           = "service-resolver"
Name           = "api"
DefaultSubset  = "v1"
ConnectTimeout = "15s"
Subsets = {
  v1 = {
    Filter = "Service.Meta.version == v1"
  }
  "v2" = {
    Filter = "Service.Meta.version == v2"
  }
}
Failover = {
  "*" = {
    Targets = [{ Datacenter = "dc2" }, { Service = "api-backup" }]
  }
}`,
    {
      Subsets: {
        v1: { Filter: 'Service.Meta.version == v1' },
        v2: { Filter: 'Service.Meta.version == v2' },
      },
    },
  ],
  [
    'subsets in blocks with labels, and names as blocks',
    `Kind = "service-resolver"
Name = "api"
Subsets "v1" { Filter = "Service.Meta.version == v1" }
Subsets "v2" { OnlyPassing = true }
LoadBalancer {
  Policy = "ring_hash"
  HashPolicies = [
    {
      Field = "cookie"
      FieldValue = "session"
      CookieConfig { TTL = "1h" Path = "/" }
    }
  ]
}`,
    {
      Subsets: { v1: { Filter: 'Service.Meta.version == v1' }, v2: { OnlyPassing: true } },
      LoadBalancer: {
        Policy: 'ring_hash',
        HashPolicies: [
          { Field: 'cookie', FieldValue: 'session', CookieConfig: { TTL: '1h', Path: '/' } },
        ],
      },
    },
  ],
  [
    'splits on one line each, without commas between fields',
    `Kind = "service-splitter"
Name = "api"
Splits = [
  { Weight = 90 ServiceSubset = "v1" RequestHeaders { Set { "x-split" = "v1" } } },
  { Weight = 10 ServiceSubset = "v2" }
]`,
    {
      Splits: [
        { Weight: 90, ServiceSubset: 'v1', RequestHeaders: { Set: { 'x-split': 'v1' } } },
        { Weight: 10, ServiceSubset: 'v2' },
      ],
    },
  ],
  [
    'a brace on a line of its own, and JSON-like keys',
    `Kind = "service-defaults"
Name = "api"
"Protocol" = "http"
UpstreamConfig =
{
  Overrides = [
    {
      "Name": "db",
      Limits
      {
        MaxConnections = 512
      }
    }
  ]
  Defaults { MeshGateway { Mode = "local" } }
}`,
    {
      Protocol: 'http',
      UpstreamConfig: {
        Overrides: [{ Name: 'db', Limits: { MaxConnections: 512 } }],
        Defaults: { MeshGateway: { Mode: 'local' } },
      },
    },
  ],
  [
    'free settings in blocks and objects',
    `Kind = "proxy-defaults"
Name = "global"
Config {
  protocol = "http"
  envoy_stats { tags = ["a"] flush { every = 1 } }
  handshakes = [{ to { host = "a" } }]
}
Expose {
  Paths = [{ Path = "/healthz" LocalPathPort = 8080 ListenerPort = 21500 Protocol = "http" }]
}`,
    {
      Config: {
        protocol: 'http',
        envoy_stats: { tags: ['a'], flush: { every: 1 } },
        handshakes: [{ to: { host: 'a' } }],
      },
    },
  ],
  [
    'listeners of a gateway',
    `Kind = "ingress-gateway"
Name = "edge"
TLS { Enabled = true }
Listeners = [
  {
    Port = 8443
    Protocol = "http"
    Services = [
      {
        Name  = "web"
        Hosts = ["web.example.com"]
        ResponseHeaders { Add { "x-by" = "edge" } }
      }
    ]
  }
]`,
    {
      Listeners: [
        {
          Port: 8443,
          Protocol: 'http',
          Services: [
            {
              Name: 'web',
              Hosts: ['web.example.com'],
              ResponseHeaders: { Add: { 'x-by': 'edge' } },
            },
          ],
        },
      ],
    },
  ],
  [
    'rules of a route',
    `Kind = "http-route"
Name = "shop"
Parents = [{ Kind = "api-gateway" Name = "edge" SectionName = "public" }]
Rules = [
  {
    Matches = [{ Path { Match = "prefix" Value = "/shop" } }]
    Filters {
      Headers = [{ Set { "x-shop" = "1" } Remove = ["x-old"] }]
      URLRewrite { Path = "/" }
    }
    Services = [{ Name = "shop" Weight = 1 }]
  },
]`,
    {
      Rules: [
        {
          Matches: [{ Path: { Match: 'prefix', Value: '/shop' } }],
          Filters: {
            Headers: [{ Set: { 'x-shop': '1' }, Remove: ['x-old'] }],
            URLRewrite: { Path: '/' },
          },
          Services: [{ Name: 'shop', Weight: 1 }],
        },
      ],
    },
  ],
  [
    'services that are exported, to peers',
    `Kind = "exported-services"
Name = "default"
Services = [
  {
    Name = "web"
    Consumers = [
      {
        Peer = "east"
      },
      { Peer = "west" }
    ]
  }
]`,
    { Services: [{ Name: 'web', Consumers: [{ Peer: 'east' }, { Peer: 'west' }] }] },
  ],
  [
    'a terminating gateway and comments of each sort',
    `// of the edge
Kind = "terminating-gateway" # by hand
Name = "out"
/* all of
   them */
Services = [
  { Name = "billing" CAFile = "/etc/ca.pem" SNI = "billing.example.com" },
  {
    Name = "*"
  },
]`,
    {
      Services: [
        { Name: 'billing', CAFile: '/etc/ca.pem', SNI: 'billing.example.com' },
        { Name: '*' },
      ],
    },
  ],
];

describe('files of entries', () => {
  test.each(files)('%s', (_, text, fields) => {
    expect(read(text)).toMatchObject(fields);
  });

  test('with line ends of Windows', () => {
    const [, text, fields] = files[0]!;
    expect(read(text.replaceAll('\n', '\r\n'))).toMatchObject(fields);
  });

  test.each([
    ['Kind = "mesh"\nTLS = { Incoming { } Incoming { } }', '2:22: "Incoming" is given twice'],
    ['Kind = "service-router"\nRoutes = [{ Match { HTTP } }]', '2:26: Expected "="'],
    ['Kind = "service-router"\nRoutes = [{ Match "a" { } }]', '2:19: Expected "="'],
    ['Kind = "mesh"\nMeta = { a = 1, a = 2 }', '2:17: "a" is given twice'],
  ])('%j is refused', (text, fault) => {
    expect(() => entryFileOf(text, 'entry.hcl')).toThrow(
      expect.objectContaining({ faults: [expect.stringContaining(fault)] }),
    );
  });
});
