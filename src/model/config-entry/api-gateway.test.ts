import { describe, expect, test } from 'vitest';
import { type ApiGateway, apiGateway } from './api-gateway.ts';
import { entryOf, entryTable, messagesOf, noneExists } from './entry-table.test-helper.ts';

const listener = { Name: 'one', Port: 80, Protocol: 'http' };
const base = { Kind: 'api-gateway', Name: 'gate', Listeners: [listener] };
const listeners = (...all: object[]) => ({
  Listeners: all.map((one) => ({ ...listener, ...one })),
});
const tls = (TLS: object) => listeners({ TLS });
const first = 'Listeners[0]';

describe('a listener', () => {
  const wildcard = 'may have "*" only for the whole first label';
  entryTable(base, [
    ['no listener', { Listeners: [] }, 'Listeners must have at least one listener'],
    ['no name', listeners({ Name: '' }), `${first}.Name is required`],
    [
      'a name with more than letters',
      listeners({ Name: 'a_b' }),
      `${first}.Name must be letters, digits and hyphens, got "a_b"`,
    ],
    ['no port', listeners({ Port: 0 }), `${first}.Port must be from 1 to 65535, got 0`],
    [
      'another protocol',
      listeners({ Protocol: 'grpc' }),
      `${first}.Protocol must be one of http, tcp, got "grpc"`,
    ],
    ['every host', listeners({ Hostname: '*' })],
    ['hosts below a domain', listeners({ Hostname: '*.Example.com' })],
    ['no host', listeners({ Hostname: 'a..b' }), `${first}.Hostname is not a host name: "a..b"`],
    [
      'a wildcard inside a host name',
      listeners({ Hostname: 'a.*.b' }),
      `${first}.Hostname ${wildcard}, got "a.*.b"`,
    ],
    [
      'a host with tcp',
      listeners({ Protocol: 'tcp', Hostname: '*' }),
      `${first}.Hostname must not be given with tcp`,
    ],
    [
      'headers out of bounds',
      listeners({ MaxRequestHeadersKB: 8193 }),
      `${first}.MaxRequestHeadersKB must be from 0 to 8192, got 8193`,
    ],
  ]);
});

describe('listeners together', () => {
  entryTable(base, [
    [
      'two listeners of one name',
      listeners({}, { Port: 81 }),
      'Listeners[1].Name "one" is also the name of Listeners[0]',
    ],
    [
      'one port, two protocols',
      listeners({}, { Name: 'two', Protocol: 'tcp' }),
      'Listeners[1].Protocol shares port 80 with Listeners[0] and must have its protocol, http',
    ],
    [
      'one port with tcp',
      listeners({ Protocol: 'tcp' }, { Name: 'two', Protocol: 'tcp' }),
      'Listeners[1].Port shares port 80 with Listeners[0]: with tcp nothing tells the two apart',
    ],
    [
      'one port, one host',
      listeners({ Hostname: 'A.b' }, { Name: 'two', Hostname: 'a.B' }),
      'Listeners[1].Hostname shares port 80 with Listeners[0] and must have a host of its own, got "a.b"',
    ],
    [
      'one port, two listeners for every host',
      listeners({}, { Name: 'two', Hostname: '*' }),
      'Listeners[1].Hostname shares port 80 with Listeners[0] and must have a host of its own, got "*"',
    ],
    [
      'one port, listeners with different hosts',
      listeners({}, { Name: 'two', Hostname: 'a.b' }, { Name: 'c', Hostname: 'c.b' }),
    ],
  ]);
});

describe('TLS', () => {
  entryTable(base, [
    [
      'a certificate of each kind',
      tls({ Certificates: [{ Name: 'c' }, { Kind: 'file-system-certificate', Name: 'c' }] }),
    ],
    [
      'a certificate without a name',
      tls({ Certificates: [{}] }),
      `${first}.TLS.Certificates[0].Name is required`,
    ],
    [
      'a certificate twice',
      tls({ Certificates: [{ Name: 'c' }, { Name: 'c', Namespace: 'default' }] }),
      `${first}.TLS.Certificates[1].Name "c" is listed already`,
    ],
    [
      'another kind of certificate',
      tls({ Certificates: [{ Kind: 'mesh', Name: 'c' }] }),
      `${first}.TLS.Certificates[0].Kind must be one of inline-certificate, file-system-certificate, got "mesh"`,
    ],
    [
      'TLS versions and suites',
      tls({ MinVersion: 'TLSv1_3', MaxVersion: 'TLSv1_2', CipherSuites: ['X'] }),
      `${first}.TLS.MinVersion must not be above MaxVersion, TLSv1_2`,
      `${first}.TLS.CipherSuites must not be given where MinVersion is TLSv1_3`,
      `${first}.TLS.CipherSuites[0] "X" is no known suite`,
    ],
    [
      'TLS settings of the gateway',
      { TLS: { TLSMinVersion: 'TLSv1_3', TLSMaxVersion: 'TLSv1_2', SDS: {} } },
      'TLS.SDS must have a ClusterName or a CertResource',
      'TLS.TLSMinVersion must not be above TLSMaxVersion, TLSv1_2',
    ],
    [
      'an SDS resource without a cluster',
      tls({ SDS: { CertResource: 'r' } }),
      `${first}.TLS.SDS.ClusterName is required where none is inherited`,
    ],
    [
      'tokens',
      listeners({
        Default: { JWT: { Providers: [{ Name: 'a' }, {}] } },
        Override: { JWT: {} },
      }),
      `${first}.Default.JWT.Providers[0].Name names the jwt-provider "a", and ${noneExists}`,
      `${first}.Default.JWT.Providers[1].Name is required, and ${noneExists}`,
      `${first}.Override.JWT.Providers must name a jwt-provider, and ${noneExists}`,
    ],
    [
      'token requirements with tcp',
      listeners({ Protocol: 'tcp', Default: { JWT: { Providers: [{ Name: 'a' }] } } }),
      `${first}.Default.JWT must not be given with tcp`,
      `${first}.Default.JWT.Providers[0].Name names the jwt-provider "a", and ${noneExists}`,
    ],
  ]);
});

test('all faults come at once', () => {
  const body = {
    ...base,
    Listeners: [
      { Name: '', Port: 0 },
      { Name: 'a b', Hostname: 'x' },
    ],
  };
  expect(messagesOf(body)).toHaveLength(5);
});

test('certificates are looked up in the namespace of the gateway', () => {
  const entry = entryOf<ApiGateway>({
    ...base,
    Status: { Conditions: [{ Type: 'Accepted' }] },
    ...tls({ Certificates: [{ Name: 'c' }, { Name: 'd', Namespace: 'n' }] }),
  });
  const kind = 'inline-certificate';
  expect(apiGateway.names?.(entry)).toEqual([
    { partition: 'default', namespace: 'default', kind, name: 'c' },
    { partition: 'default', namespace: 'n', kind, name: 'd' },
  ]);
  expect(entry.Status).toBeNull();
});
