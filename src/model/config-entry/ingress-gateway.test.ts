import { describe, expect, test } from 'vitest';
import { entryOf, entryTable } from './entry-table.test-helper.ts';
import { type IngressGateway, ingressGateway } from './ingress-gateway.ts';

const base = { Kind: 'ingress-gateway', Name: 'front' };
const listener = (fields: object) => ({
  Listeners: [{ Port: 80, Protocol: 'http', Services: [{ Name: 'a' }], ...fields }],
});
const service = (fields: object) => listener({ Services: [{ Name: 'a', ...fields }] });
const tcp = (fields: object) => listener({ Protocol: 'tcp', Services: [{ Name: 'a', ...fields }] });
const tls = (fields: object) => ({ TLS: { Enabled: true, ...fields } });
const suites = { CipherSuites: ['TLS_RSA_WITH_AES_128_GCM_SHA256'] };
const first = 'Listeners[0]';

describe('TLS', () => {
  entryTable(base, [
    ['versions in order', tls({ TLSMinVersion: 'TLSv1_1', TLSMaxVersion: 'TLSv1_3' })],
    [
      'a version that the proxy chooses',
      tls({ TLSMinVersion: 'TLSv1_3', TLSMaxVersion: 'TLS_AUTO' }),
    ],
    [
      'versions the wrong way round',
      tls({ TLSMinVersion: 'TLSv1_3', TLSMaxVersion: 'TLSv1_2' }),
      'TLS.TLSMinVersion must not be above TLSMaxVersion, TLSv1_2',
    ],
    [
      'an unknown version',
      tls({ TLSMinVersion: 'SSLv3' }),
      'TLS.TLSMinVersion must be one of TLS_AUTO, TLSv1_0, TLSv1_1, TLSv1_2, TLSv1_3, got "SSLv3"',
    ],
    ['a suite', tls(suites)],
    [
      'an unknown suite',
      tls({ CipherSuites: ['ROT13'] }),
      'TLS.CipherSuites[0] "ROT13" is no known suite',
    ],
    [
      'suites for TLS 1.3',
      tls({ ...suites, TLSMinVersion: 'TLSv1_3' }),
      'TLS.CipherSuites must not be given where TLSMinVersion is TLSv1_3',
    ],
    [
      'the same faults on a listener',
      listener({ TLS: { TLSMinVersion: 'TLSv1_3', TLSMaxVersion: 'TLSv1_0', ...suites } }),
      `${first}.TLS.TLSMinVersion must not be above TLSMaxVersion, TLSv1_0`,
      `${first}.TLS.CipherSuites must not be given where TLSMinVersion is TLSv1_3`,
    ],
    ['a cluster without a resource, for the listeners', tls({ SDS: { ClusterName: 'c' } })],
    [
      'SDS without a cluster and a resource',
      tls({ SDS: {} }),
      'TLS.SDS must have a ClusterName or a CertResource',
    ],
    [
      'a resource without a cluster',
      tls({ SDS: { CertResource: 'r' } }),
      'TLS.SDS.ClusterName is required where none is inherited',
    ],
    [
      'a resource from the cluster of the gateway',
      {
        ...tls({ SDS: { ClusterName: 'c' } }),
        ...listener({
          TLS: { SDS: { CertResource: 'r' } },
          Services: [{ Name: 'a', Hosts: ['a.b'], TLS: { SDS: { CertResource: 's' } } }],
        }),
      },
    ],
    [
      'a service without a resource, a cluster and hosts',
      listener({
        Services: [
          { Name: 'a', TLS: { SDS: {} } },
          { Name: 'b', Hosts: ['b.b'], TLS: { SDS: { CertResource: 'r' } } },
        ],
      }),
      `${first}.Services[0].TLS.SDS.CertResource is required`,
      `${first}.Services[0].Hosts must name the hosts that the certificate of TLS.SDS is for`,
      `${first}.Services[1].TLS.SDS.ClusterName is required where none is inherited`,
    ],
  ]);
});

describe('listeners', () => {
  entryTable(base, [
    ['no port', listener({ Port: 0 }), `${first}.Port must be from 1 to 65535, got 0`],
    [
      'a port above 65535',
      listener({ Port: 65536 }),
      `${first}.Port must be from 0 to 65535, got 65536`,
    ],
    [
      'the same port twice',
      { Listeners: [...listener({}).Listeners, ...listener({ Protocol: 'tcp' }).Listeners] },
      'Listeners[1].Port 80 is also the port of Listeners[0]',
    ],
    [
      'an unknown protocol',
      listener({ Protocol: 'udp' }),
      `${first}.Protocol must be one of tcp, http, http2, grpc, got "udp"`,
    ],
    ['no service', listener({ Services: [] }), `${first}.Services must name at least one service`],
    [
      'two services with tcp',
      listener({ Protocol: 'tcp', Services: [{ Name: 'a' }, { Name: 'b' }] }),
      `${first}.Services must be one service with tcp, got 2`,
    ],
    [
      'a service twice',
      listener({ Services: [{ Name: 'a' }, { Name: 'a', Namespace: 'default' }] }),
      `${first}.Services[1] "a" is listed already`,
    ],
    [
      'services of the same name in two namespaces',
      listener({ Services: [{ Name: 'a' }, { Name: 'a', Namespace: 'b' }] }),
    ],
    [
      'a host twice',
      listener({
        Services: [
          { Name: 'a', Hosts: ['x.y'] },
          { Name: 'b', Hosts: ['X.y'] },
        ],
      }),
      `${first}.Services[1].Hosts[0] "X.y" is listed already, in Services[0]`,
    ],
  ]);
});

describe('services', () => {
  const wildcard = 'may have "*" only for the whole first label';
  entryTable(base, [
    ['no name', service({ Name: '' }), `${first}.Services[0].Name is required`],
    ['every service', service({ Name: '*' })],
    [
      'every service, with hosts',
      service({ Name: '*', Hosts: ['a.b'] }),
      `${first}.Services[0].Hosts must not be given for every service ("*")`,
    ],
    [
      'fields that tcp has not',
      tcp({ Name: '*', Hosts: ['a.b'], RequestHeaders: {}, ResponseHeaders: {} }),
      `${first}.Services[0].Name must be one service with tcp, not "*"`,
      `${first}.Services[0].Hosts must not be given with tcp`,
      `${first}.Services[0].RequestHeaders must not be given with tcp`,
      `${first}.Services[0].ResponseHeaders must not be given with tcp`,
    ],
    ['hosts', service({ Hosts: ['a.example.com', '*.example.com', 'localhost', '*'] })],
    [
      'texts that are not host names',
      service({
        Hosts: ['', 'a b', 'a.*', '*a.b', '*'.repeat(2), 'a..b', '-a.b', `${'a'.repeat(64)}.b`],
      }),
      `${first}.Services[0].Hosts[0] must not be empty`,
      `${first}.Services[0].Hosts[1] is not a host name: "a b"`,
      `${first}.Services[0].Hosts[2] ${wildcard}, got "a.*"`,
      `${first}.Services[0].Hosts[3] ${wildcard}, got "*a.b"`,
      `${first}.Services[0].Hosts[4] ${wildcard}, got "**"`,
      `${first}.Services[0].Hosts[5] is not a host name: "a..b"`,
      `${first}.Services[0].Hosts[6] is not a host name: "-a.b"`,
      `${first}.Services[0].Hosts[7] is not a host name: "${'a'.repeat(64)}…"`,
    ],
    [
      'every host with the gateway’s TLS',
      { ...tls({}), ...service({ Hosts: ['*'] }) },
      `${first}.Services[0].Hosts[0] must not be "*" with TLS: no certificate is for every host`,
    ],
    [
      'every host with the listener’s TLS',
      listener({ TLS: { Enabled: true }, Services: [{ Name: 'a', Hosts: ['*'] }] }),
      `${first}.Services[0].Hosts[0] must not be "*" with TLS: no certificate is for every host`,
    ],
    [
      'texts that are not headers',
      service({
        RequestHeaders: { Add: { 'a b': '1', fine: 'x\r\ny: z' } },
        ResponseHeaders: { Remove: ['x-debug', ''] },
      }),
      `${first}.Services[0].RequestHeaders.Add["a b"] is no name of a header`,
      `${first}.Services[0].RequestHeaders.Add.fine must not hold control characters`,
      `${first}.Services[0].ResponseHeaders.Remove[1] is no name of a header: ""`,
    ],
    [
      'limits and checks out of bounds',
      service({
        MaxConnections: -1,
        PassiveHealthCheck: { Interval: '-1s', MaxEjectionPercent: 101 },
      }),
      `${first}.Services[0].MaxConnections must be from 0 to 4294967295, got -1`,
      `${first}.Services[0].PassiveHealthCheck.Interval must be at least 0s, got -1s`,
      `${first}.Services[0].PassiveHealthCheck.MaxEjectionPercent must be from 0 to 100, got 101`,
    ],
    ['defaults', { Defaults: { MaxConnections: 1, PassiveHealthCheck: { MaxFailures: 3 } } }],
  ]);
});

test('a service is looked up in the namespace of the gateway, and "*" names none', () => {
  const entry = entryOf<IngressGateway>({
    ...base,
    Listeners: [
      { Port: 1, Services: [{ Name: 'a' }] },
      {
        Port: 2,
        Protocol: 'http',
        Services: [{ Name: '*' }, { Name: 'b', Namespace: 'n', Partition: 'p' }],
      },
    ],
  });
  expect(entry.Listeners[0]?.Protocol).toBe('tcp');
  expect(ingressGateway.services?.(entry)).toEqual([
    { partition: 'default', namespace: 'default', name: 'a' },
    { partition: 'p', namespace: 'n', name: 'b' },
  ]);
});
