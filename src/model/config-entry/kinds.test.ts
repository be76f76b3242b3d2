/** Rules of every kind, and the rules of the kinds that stand alone. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitraryOf } from '../arbitrary.test-helper.ts';
import { completeEntry, decodeEntry } from './entry.ts';
import { entryFaults } from './entry-faults.ts';
import { noneExists } from './entry-table.test-helper.ts';
import { kinds } from './kinds.ts';
import { presentEntry } from './present.ts';

const scope = { namespace: 'default', partition: 'default' };
const faultsOf = (body: object) => {
  const given = decodeEntry(body);
  return entryFaults(given, completeEntry(given, scope)).map(({ message }) => message);
};

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('%s', (_, kind) => {
  test('completing a complete or shown entry does not change it', () => {
    fc.assert(
      fc.property(arbitraryOf(kind.schema, {}), (value) => {
        const given = decodeEntry({ ...(value as object), Kind: kind.kind });
        const entry = completeEntry(given, scope);
        const shown = presentEntry(entry);
        expect(completeEntry(decodeEntry(shown), scope)).toEqual(entry);
        expect(Object.keys(shown).sort()).toEqual(Object.keys(entry).sort());
        // Neither call may throw, whatever the faults of the entry.
        entryFaults(given, entry);
        kind.services?.(entry);
      }),
      { numRuns: 200 },
    );
  });

  test('its example is right', () => {
    expect(faultsOf({ ...kind.example })).toEqual([]);
  });
});

const destination = { Addresses: ['a.example', '10.0.0.1', '::1'], Port: 80 };
const header = (one: object) => ({
  Kind: 'service-intentions',
  Name: 'web',
  Sources: [{ Name: 'a', Permissions: [{ Action: 'allow', HTTP: one }] }],
});
const at = 'Sources[0].Permissions[0].HTTP';

/** The first fault of each entry; `undefined`: the entry is right. */
test.each<[string, object, string | undefined]>([
  ['service-defaults', { Destination: destination }, undefined],
  ['service-defaults', { Destination: { Port: 1 } }, 'Destination.Addresses must have at least'],
  [
    'service-defaults',
    { Destination: { ...destination, Port: 0 } },
    'Destination.Port must be from 1',
  ],
  [
    'service-defaults',
    { Destination: { Addresses: ['a', 'a'], Port: 1 } },
    'Addresses[1] "a" is given twice',
  ],
  ['service-defaults', { Destination: { Addresses: ['*.a'], Port: 1 } }, 'neither an IP address'],
  [
    'service-defaults',
    { Destination: { Addresses: ['1.2.3.256'], Port: 1 } },
    'neither an IP address',
  ],
  [
    'service-defaults',
    { Destination: { Addresses: ['1::2::3'], Port: 1 } },
    'neither an IP address',
  ],
  [
    'service-defaults',
    { Destination: destination, UpstreamConfig: {} },
    'must not be given together with UpstreamConfig',
  ],
  ['service-defaults', { UpstreamConfig: { Overrides: [{}] } }, 'Overrides[0].Name is required'],
  [
    'service-defaults',
    { UpstreamConfig: { Overrides: [{ Name: '*' }] } },
    'must be a single service',
  ],
  [
    'service-defaults',
    { UpstreamConfig: { Overrides: [{ Name: 'a' }, { Name: 'a', Namespace: 'default' }] } },
    'has an override before',
  ],
  [
    'service-defaults',
    { UpstreamConfig: { Defaults: { Name: 'a' } } },
    'Defaults.Name must be empty',
  ],
  [
    'service-defaults',
    { UpstreamConfig: { Defaults: { Limits: { MaxConnections: -1 } } } },
    'MaxConnections must be at least 0',
  ],
  ['service-defaults', { UpstreamConfig: { Defaults: { ConnectTimeoutMs: -1 } } }, undefined],
  [
    'service-defaults',
    { UpstreamConfig: { Defaults: { PassiveHealthCheck: { EnforcingConsecutive5xx: 101 } } } },
    'must be from 0 to 100',
  ],
  [
    'service-defaults',
    { Expose: { Paths: [{ Path: 'a' }] } },
    'Expose.Paths[0].Path must begin with "/"',
  ],
  ['service-defaults', { EnvoyExtensions: [{}] }, 'EnvoyExtensions[0].Name is required'],
  [
    'service-defaults',
    { RateLimits: { InstanceLevel: { Routes: [{}] } } },
    'must have one of PathExact',
  ],
  [
    'service-defaults',
    { RateLimits: { InstanceLevel: { Routes: [{ PathRegex: '(' }] } } },
    'Routes[0].PathRegex is no valid pattern',
  ],
  [
    'service-defaults',
    { RateLimits: { InstanceLevel: { Routes: [{ PathPrefix: 'a' }] } } },
    'Routes[0].PathPrefix must begin with "/"',
  ],
  ['proxy-defaults', { Config: { protocol: 7 } }, 'Config.protocol must be a string'],
  ['proxy-defaults', { AccessLogs: { Type: 'file' } }, 'AccessLogs.Path is required'],
  ['proxy-defaults', { AccessLogs: { Type: 'stdout', Path: '/x' } }, 'only for Type "file"'],
  [
    'proxy-defaults',
    { AccessLogs: { JSONFormat: 'a', TextFormat: 'b' } },
    'must not be given together with JSONFormat',
  ],
  [
    'mesh',
    { TLS: { Incoming: { TLSMinVersion: 'TLSv1_3', TLSMaxVersion: 'TLSv1_2' } } },
    'must not be above TLSMaxVersion',
  ],
  [
    'mesh',
    { TLS: { Outgoing: { TLSMinVersion: 'TLS_AUTO', TLSMaxVersion: 'TLSv1_0' } } },
    undefined,
  ],
  ['mesh', { TLS: { Outgoing: { CipherSuites: ['NULL'] } } }, '"NULL" is no known suite'],
  ['mesh', { TLS: { Outgoing: { CipherSuites: ['TLS_RSA_WITH_AES_128_CBC_SHA'] } } }, undefined],
  [
    'exported-services',
    { Services: [{ Consumers: [{ Peer: 'a' }] }] },
    'Services[0].Name is required',
  ],
  ['exported-services', { Services: [{ Name: 'a' }] }, 'must have at least one consumer'],
  [
    'exported-services',
    { Services: [{ Name: 'a', Consumers: [{}] }] },
    'exactly one of Peer and Partition',
  ],
  [
    'exported-services',
    { Services: [{ Name: 'a', Consumers: [{ Peer: 'a', Partition: 'b' }] }] },
    'exactly one of',
  ],
  [
    'exported-services',
    { Services: [{ Name: 'a', Consumers: [{ Peer: '*' }] }] },
    'must be a single name, not "*"',
  ],
  [
    'exported-services',
    { Services: [{ Name: 'a', Consumers: [{ SamenessGroup: 'g' }] }] },
    'no sameness groups',
  ],
  [
    'exported-services',
    { Services: [{ Name: 'a', Namespace: '*', Consumers: [{ Peer: 'a' }] }] },
    'must be "*"',
  ],
  [
    'exported-services',
    { Services: [{ Name: 'a b', Consumers: [{ Peer: 'a' }] }] },
    'Services[0].Name must be "*" or the name of a service: at most 63 letters, digits and inner dashes, got "a b"',
  ],
  [
    'exported-services',
    { Services: [{ Name: 'a', Namespace: '../b', Consumers: [{ Peer: 'a' }] }] },
    'Services[0].Namespace must be "*" or the name of a namespace, got "../b"',
  ],
  ['service-intentions', { Sources: [] }, 'Sources must have at least one source'],
  ['service-intentions', { Sources: [{ Action: 'allow' }] }, 'Sources[0].Name is required'],
  ['service-intentions', { Sources: [{ Name: 'a' }] }, 'Sources[0].Action is required'],
  [
    'service-intentions',
    { Sources: [{ Name: 'a', Action: 'maybe' }] },
    'must be one of allow, deny',
  ],
  [
    'service-intentions',
    {
      Sources: [
        {
          Name: 'a',
          Action: 'deny',
          Permissions: [{ Action: 'deny', HTTP: { PathPrefix: '/' } }],
        },
      ],
    },
    'must not be given together with Permissions',
  ],
  [
    'service-intentions',
    { Sources: [{ Name: 'a', Action: 'deny', Peer: 'p', Partition: 'q' }] },
    'Peer must not be given together with Partition',
  ],
  [
    'service-intentions',
    { Sources: [{ Name: 'a', Action: 'deny', Peer: '*' }] },
    'Peer must be a single name, not "*"',
  ],
  [
    'service-intentions',
    { Sources: [{ Name: 'a', Action: 'deny', Namespace: '*' }] },
    'Name must be "*"',
  ],
  [
    'service-intentions',
    { Sources: [{ Name: 'a', Action: 'deny', Description: 'x'.repeat(513) }] },
    'at most 512 characters',
  ],
  [
    'service-intentions',
    {
      Sources: [
        { Name: 'a', Action: 'deny' },
        { Name: 'a', Action: 'allow', Peer: 'p' },
      ],
    },
    undefined,
  ],
  [
    'service-intentions',
    { Sources: [{ Name: 'a', Action: 'deny' }], JWT: {} },
    `JWT.Providers must name a jwt-provider, and ${noneExists}`,
  ],
  [
    'service-intentions',
    { Sources: [{ Name: 'a', Action: 'deny' }], JWT: { Providers: [{}, { Name: 'okta' }] } },
    `JWT.Providers[1].Name names the jwt-provider "okta", and ${noneExists}`,
  ],
  [
    'service-intentions',
    {
      Sources: [
        { Name: 'a', Permissions: [{ Action: 'allow', JWT: { Providers: [{ Name: 'okta' }] } }] },
      ],
    },
    `Sources[0].Permissions[0].JWT.Providers[0].Name names the jwt-provider "okta", and ${noneExists}`,
  ],
  [
    'service-intentions',
    header({ PathExact: '/a', PathPrefix: '/b' }),
    `${at} must have at most one of`,
  ],
  ['service-intentions', header({ PathPrefix: 'b' }), `${at}.PathPrefix must begin with`],
  ['service-intentions', header({ PathRegex: '(' }), `${at}.PathRegex is no valid pattern`],
  [
    'service-intentions',
    header({ Methods: ['get', 'GET'] }),
    `${at}.Methods[1] "GET" is given twice`,
  ],
  ['service-intentions', header({ Methods: ['FETCH'] }), `${at}.Methods[0] must be one of`],
  [
    'service-intentions',
    header({ Header: [{ Present: true }] }),
    `${at}.Header[0].Name is required`,
  ],
  [
    'service-intentions',
    header({ Header: [{ Name: 'a' }] }),
    `${at}.Header[0] must have exactly one of`,
  ],
  [
    'service-intentions',
    header({ Header: [{ Name: 'a', Exact: 'b', Prefix: 'c' }] }),
    'exactly one of',
  ],
  [
    'service-intentions',
    header({ Header: [{ Name: 'a', Present: true, IgnoreCase: true }] }),
    'IgnoreCase must not be set',
  ],
])('%s %j', (Kind, fields, fault) => {
  const Name = kinds.find(({ kind }) => kind === Kind)!.onlyName?.('default') ?? 'web';
  const faults = faultsOf({ Name, ...fields, Kind });
  if (fault === undefined) expect(faults).toEqual([]);
  else expect(faults).toEqual(expect.arrayContaining([expect.stringContaining(fault)]));
});

test('an object of an entry has no more members than a list has items', () => {
  const members = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));
  const proxy = (Config: object) => ({ Kind: 'proxy-defaults', Name: 'global', Config });
  expect(faultsOf(proxy({ a: [members(1024)] }))).toEqual([]);
  expect(faultsOf(proxy({ a: [members(1025)] }))).toEqual([
    'Config.a[0] has 1025 members; at most 1024 are kept',
  ]);
});
