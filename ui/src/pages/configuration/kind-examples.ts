/** An entry of each kind to begin with. test/ui/mesh-kinds.test.ts compares them with the examples of the server. */
export const kindExamples: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'api-gateway': {
    Kind: 'api-gateway',
    Name: 'public',
    Listeners: [
      {
        Name: 'https',
        Port: 8443,
        Protocol: 'http',
        Hostname: '*.example.com',
        TLS: {
          MinVersion: 'TLSv1_2',
          Certificates: [
            {
              Name: 'shop-on-disk',
              Kind: 'file-system-certificate',
            },
          ],
        },
      },
      {
        Name: 'queue',
        Port: 5672,
        Protocol: 'tcp',
      },
    ],
  },
  'bound-api-gateway': {
    Kind: 'bound-api-gateway',
    Name: 'public',
  },
  'exported-services': {
    Kind: 'exported-services',
    Name: 'default',
    Services: [
      {
        Name: 'web',
        Consumers: [
          {
            Peer: 'east',
          },
        ],
      },
    ],
  },
  'file-system-certificate': {
    Kind: 'file-system-certificate',
    Name: 'shop-on-disk',
    Certificate: '/etc/gateway/shop.crt',
    PrivateKey: '/etc/gateway/shop.key',
  },
  'http-route': {
    Kind: 'http-route',
    Name: 'shop',
    Parents: [
      {
        Name: 'public',
        SectionName: 'http',
      },
    ],
    Hostnames: ['shop.example.com'],
    Rules: [
      {
        Matches: [
          {
            Path: {
              Match: 'prefix',
              Value: '/orders',
            },
            Method: 'GET',
          },
        ],
        Filters: {
          Headers: [
            {
              Set: {
                'x-from': 'gateway',
              },
              Remove: ['x-debug'],
            },
          ],
          URLRewrite: {
            Path: '/',
          },
          TimeoutFilter: {
            RequestTimeout: '10s',
          },
        },
        Services: [
          {
            Name: 'orders',
            Weight: 9,
          },
          {
            Name: 'orders-next',
            Weight: 1,
          },
        ],
      },
      {
        Services: [
          {
            Name: 'shop',
          },
        ],
      },
    ],
  },
  'ingress-gateway': {
    Kind: 'ingress-gateway',
    Name: 'front',
    TLS: {
      Enabled: true,
      TLSMinVersion: 'TLSv1_2',
    },
    Listeners: [
      {
        Port: 8443,
        Protocol: 'http',
        Services: [
          {
            Name: 'shop',
            Hosts: ['shop.example.com', '*.shop.example.com'],
            RequestHeaders: {
              Set: {
                'x-gateway': 'front',
              },
            },
            MaxConnections: 1000,
          },
        ],
      },
      {
        Port: 5432,
        Protocol: 'tcp',
        Services: [
          {
            Name: 'orders-database',
          },
        ],
      },
    ],
  },
  'inline-certificate': {
    Kind: 'inline-certificate',
    Name: 'shop',
    Certificate: 'The certificate in PEM',
    PrivateKey: 'Its private key in PEM',
  },
  mesh: {
    Kind: 'mesh',
    TransparentProxy: {
      MeshDestinationsOnly: true,
    },
    TLS: {
      Incoming: {
        TLSMinVersion: 'TLSv1_2',
      },
    },
    Peering: {
      PeerThroughMeshGateways: false,
    },
  },
  'proxy-defaults': {
    Kind: 'proxy-defaults',
    Name: 'global',
    Config: {
      protocol: 'http',
    },
    AccessLogs: {
      Enabled: true,
      Type: 'stdout',
    },
  },
  'service-defaults': {
    Kind: 'service-defaults',
    Name: 'web',
    Protocol: 'http',
    UpstreamConfig: {
      Defaults: {
        ConnectTimeoutMs: 2000,
        Limits: {
          MaxConnections: 100,
        },
      },
    },
    Meta: {
      owner: 'shop',
    },
  },
  'service-intentions': {
    Kind: 'service-intentions',
    Name: 'web',
    Sources: [
      {
        Name: 'api',
        Action: 'allow',
        Description: 'The front of the shop',
      },
      {
        Name: '*',
        Action: 'deny',
      },
    ],
  },
  'service-resolver': {
    Kind: 'service-resolver',
    Name: 'checkout',
    ConnectTimeout: '3s',
    DefaultSubset: 'stable',
    Subsets: {
      stable: {
        Filter: 'Service.Meta.version == 1',
      },
      next: {
        Filter: 'Service.Meta.version == 2',
        OnlyPassing: true,
      },
    },
    Failover: {
      '*': {
        Targets: [
          {
            Datacenter: 'dc2',
          },
          {
            Peer: 'east',
          },
        ],
      },
    },
  },
  'service-router': {
    Kind: 'service-router',
    Name: 'shop',
    Routes: [
      {
        Match: {
          HTTP: {
            PathPrefix: '/admin',
            Methods: ['GET'],
          },
        },
        Destination: {
          Service: 'shop-admin',
          PrefixRewrite: '/',
          RequestTimeout: '15s',
        },
      },
    ],
  },
  'service-splitter': {
    Kind: 'service-splitter',
    Name: 'checkout',
    Splits: [
      {
        Weight: 90,
      },
      {
        Weight: 10,
        Service: 'checkout-next',
      },
    ],
  },
  'tcp-route': {
    Kind: 'tcp-route',
    Name: 'queue',
    Parents: [
      {
        Name: 'public',
        SectionName: 'queue',
      },
    ],
    Services: [
      {
        Name: 'message-queue',
      },
    ],
  },
  'terminating-gateway': {
    Kind: 'terminating-gateway',
    Name: 'outward',
    Services: [
      {
        Name: 'billing',
        CAFile: '/etc/gateway/billing-ca.pem',
        SNI: 'billing.example.com',
      },
      {
        Name: '*',
        CAFile: '/etc/gateway/ca.pem',
      },
    ],
  },
};
