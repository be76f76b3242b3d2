import { describe, expect, test } from 'vitest';
import { http, path, resolver, router, splitter } from '../discovery-chain/chains.test-helper.ts';
import { limits } from '../limits.ts';
import type { ConfigKindName, EntryKey } from './config-entry.ts';
import { entryOf, viewOf } from './entry-view.test-helper.ts';
import { checkGraph } from './graph.ts';

type Body = Readonly<Record<string, unknown>>;

const key = (kind: ConfigKindName, name: string, namespace = 'default'): EntryKey => ({
  partition: 'default',
  namespace,
  kind,
  name,
});
/** Before the change all services spoke http, unless an entry says otherwise. */
const check = (entries: readonly Body[], ...changed: readonly EntryKey[]) =>
  checkGraph({ ...viewOf(entries.map(entryOf)), before: () => entryOf(proxy('http')) }, changed);

const subsets = { v1: {}, v2: {} };
const proxy = (protocol: string): Body => ({
  Kind: 'proxy-defaults',
  Name: 'global',
  Config: { protocol },
});
const exported = (Name: string, ...Consumers: readonly Body[]): Body => ({
  Kind: 'exported-services',
  Name: 'default',
  Services: [{ Name, Consumers }],
});
const toPeer = { Peer: 'east' };
const permitted: Body = {
  Kind: 'service-intentions',
  Name: 'web',
  Sources: [
    { Name: 'api', Permissions: [{ Action: 'allow', HTTP: { PathPrefix: '/api' } }] },
    { Name: 'b', Action: 'deny' },
  ],
};
const tcp = (name: string, ...has: readonly string[]) =>
  `discovery chain "${name}" uses a protocol "tcp" that does not permit advanced routing or splitting behavior, and has a ${has.join(' and a ')}, which takes a Protocol such as "http" in service-defaults "${name}" or proxy-defaults`;
type Speaker = readonly [service: string, protocol: string];
const mixed = (chain: string, [service, protocol]: Speaker, [first, spoken]: Speaker) =>
  `discovery chain "${chain}" uses inconsistent protocols; service "${service}" has "${protocol}", and "${first}" has "${spoken}"`;

type Row = readonly [
  what: string,
  /** The entries after the change. */
  entries: readonly Body[],
  changed: EntryKey,
  sentences: readonly (string | RegExp)[],
];

describe('a change is refused if it leaves', () => {
  test.each<Row>([
    [
      'nothing wrong',
      [...http('web'), splitter('web', { Weight: 100 })],
      key('service-splitter', 'web'),
      [],
    ],
    [
      'a router over tcp',
      [router('web')],
      key('service-router', 'web'),
      [tcp('web', 'service-router')],
    ],
    [
      'a router whose defaults are deleted',
      [router('web'), splitter('web', { Weight: 100 })],
      key('service-defaults', 'web'),
      [tcp('web', 'service-router', 'service-splitter')],
    ],
    [
      'a router whose protocol came from proxy-defaults',
      [proxy('tcp'), router('web'), router('b'), ...http('b')],
      key('proxy-defaults', 'global'),
      [tcp('web', 'service-router')],
    ],
    [
      'a router whose protocol came from proxy-defaults, in another namespace',
      [router('web'), { ...router('web'), Namespace: 'n' }],
      key('proxy-defaults', 'global'),
      [
        tcp('web', 'service-router'),
        `${tcp('web', 'service-router')} (it is of the namespace "n")`,
      ],
    ],
    [
      'two protocols',
      [...http('web'), splitter('web', { Weight: 50 }, { Weight: 50, Service: 'b' })],
      key('service-splitter', 'web'),
      [mixed('web', ['b', 'tcp'], ['web', 'http'])],
    ],
    [
      'two protocols, after a change of the target',
      [
        ...http('web', 'a'),
        { Kind: 'service-defaults', Name: 'b', Protocol: 'grpc' },
        router('web', path('/b', { Service: 'b' })),
        resolver('a', { Failover: { '*': { Service: 'b' } } }),
      ],
      key('service-defaults', 'b'),
      [mixed('web', ['b', 'grpc'], ['web', 'http']), mixed('a', ['b', 'grpc'], ['a', 'http'])],
    ],
    [
      'two protocols, some services away',
      [
        ...http('web', 'b'),
        splitter('web', { Weight: 100, Service: 'b' }),
        splitter('b', { Weight: 100, Service: 'c' }),
        resolver('c', { Redirect: { Service: 'd' } }),
      ],
      key('service-defaults', 'd'),
      [mixed('b', ['d', 'tcp'], ['b', 'http']), mixed('web', ['d', 'tcp'], ['web', 'http'])],
    ],
    [
      'no fault: a router that a chain does not enter',
      [
        ...http('web', 'b', 'c'),
        router('web', path('/', { Service: 'b' })),
        router('b', path('/', { Service: 'c' })),
      ],
      key('service-resolver', 'c'),
      [],
    ],
    [
      'splitters in a circle',
      [
        ...http('web', 'b'),
        splitter('web', { Weight: 100, Service: 'b' }),
        splitter('b', { Weight: 100, Service: 'web' }),
      ],
      key('service-splitter', 'b'),
      [
        'detected circular reference: [b -> web -> b]',
        'detected circular reference: [web -> b -> web]',
      ],
    ],
    [
      'redirects in a circle',
      [
        resolver('web', { Redirect: { Service: 'b' } }),
        resolver('b', { Redirect: { Service: 'web' } }),
      ],
      key('service-resolver', 'web'),
      [/^detected circular resolver redirect: \[web\.default\.default -> /, /^detected circular/],
    ],
    [
      'a deleted subset with a user',
      [...http('web', 'b'), router('web', path('/', { Service: 'b', ServiceSubset: 'v1' }))],
      key('service-resolver', 'b'),
      ['service "b" does not have a subset named "v1", where the discovery chain "web" leads'],
    ],
    [
      'a deleted subset with several users, one in another namespace',
      [
        ...http('web', 'b', 'c'),
        router('web', path('/', { Service: 'b', ServiceSubset: 'v1' })),
        splitter('c', { Weight: 100, Service: 'b', ServiceSubset: 'v2' }),
        resolver('web', {
          Namespace: 'team',
          Redirect: { Service: 'b', ServiceSubset: 'v1', Namespace: 'default' },
        }),
      ],
      key('service-resolver', 'b'),
      [
        'service "b" does not have a subset named "v1", where the discovery chain "web" leads',
        'service "b" does not have a subset named "v2", where the discovery chain "c" leads',
        'service "b" does not have a subset named "v1", where the discovery chain "web" leads (it is of the namespace "team")',
      ],
    ],
    [
      'no fault: a subset that still exists',
      [
        ...http('web', 'b'),
        router('web', path('/', { Service: 'b', ServiceSubset: 'v1' })),
        resolver('b', { Subsets: subsets }),
      ],
      key('service-resolver', 'b'),
      [],
    ],
    [
      'an external service with a redirect',
      [
        { Kind: 'service-defaults', Name: 'web', ExternalSNI: 'x.example' },
        resolver('web', { Redirect: { Service: 'b' } }),
      ],
      key('service-defaults', 'web'),
      ['service "web" has an external SNI, so its resolver cannot have a redirect'],
    ],
    [
      'permissions over tcp',
      [permitted],
      key('service-intentions', 'web'),
      [
        'service "web" has the protocol "tcp", which is incompatible with L7 intentions permissions',
      ],
    ],
    [
      'permissions over a service that became tcp',
      [permitted, { Kind: 'service-defaults', Name: 'web', Protocol: 'tcp' }],
      key('service-defaults', 'web'),
      [/incompatible with L7 intentions permissions$/],
    ],
    [
      'permissions over tcp, by a change of proxy-defaults',
      [permitted],
      key('proxy-defaults', 'global'),
      [/incompatible with L7 intentions permissions$/],
    ],
    [
      'no fault: permissions over http',
      [permitted, ...http('web')],
      key('service-defaults', 'web'),
      [],
    ],
    [
      'an exported service that leads to another datacenter',
      [exported('web', toPeer), resolver('web', { Redirect: { Datacenter: 'dc2' } })],
      key('service-resolver', 'web'),
      [
        'service "web" is exported to peers, so its discovery chain cannot lead to the datacenter "dc2"',
      ],
    ],
    [
      'a service that leads to a peer and becomes exported to another',
      [
        exported('web', toPeer),
        resolver('web', { Failover: { '*': { Targets: [{ Peer: 'west' }] } } }),
      ],
      key('exported-services', 'default'),
      [/cannot lead to the peer "west"$/],
    ],
    [
      'a wildcard export of a service that leads to another partition',
      [
        exported('*', toPeer),
        ...http('web', 'b'),
        splitter('web', { Weight: 100, Service: 'b' }),
        resolver('b', { Redirect: { Partition: 'p' } }),
        { Kind: 'service-defaults', Name: 'b', Partition: 'p', Protocol: 'http' },
      ],
      key('exported-services', 'default'),
      [
        /^service "web" is exported to peers, so .* lead to the partition "p"$/,
        /^service "b" is exported to peers, so .* lead to the partition "p"$/,
      ],
    ],
    [
      'no fault: an export to a partition, of a service that leads to another datacenter',
      [exported('web', { Partition: 'p' }), resolver('web', { Redirect: { Datacenter: 'dc2' } })],
      key('service-resolver', 'web'),
      [],
    ],
  ])('%s', (_, entries, changed, sentences) => {
    const found = check(entries, changed);
    expect(found).toHaveLength(sentences.length);
    sentences.forEach((sentence, index) => {
      if (typeof sentence === 'string') expect(found[index]).toBe(sentence);
      else expect(found[index]).toMatch(sentence);
    });
  });
});

test('tells a fault once, and refuses a change that affects too many chains', () => {
  const { checkedMax } = limits.discoveryChain;
  const view = viewOf([]);
  const users = (count: number) =>
    Array.from({ length: count }, (_, index) => key('service-resolver', `s${index}`));
  const broken = {
    ...view,
    referrers: ({ name }: { name: string }) => (name === 'web' ? users(500) : []),
  };
  const get = (at: EntryKey) =>
    at.kind === 'service-resolver'
      ? entryOf(resolver(at.name, { Redirect: { Service: 'web', ServiceSubset: 'v9' } }))
      : undefined;
  expect(checkGraph({ ...broken, get }, [key('service-defaults', 'web')]).length).toBeGreaterThan(
    0,
  );
  const many = {
    ...view,
    referrers: ({ name }: { name: string }) => (name === 'web' ? users(checkedMax) : []),
  };
  expect(checkGraph(many, [key('service-defaults', 'web')])).toEqual([
    `more than ${checkedMax} discovery chains depend on it: change what leads there first`,
  ]);
});

test('the defaults of all proxies make no chain unless the protocol changes', () => {
  let looks = 0;
  const given = (protocol: string) => entryOf({ ...proxy(protocol), Meta: { a: protocol } });
  const look = (before: string, now: string) => {
    looks = 0;
    const view = viewOf([given(now)]);
    const everywhere = () => {
      looks++;
      return [];
    };
    checkGraph({ ...view, everywhere, before: () => given(before) }, [
      key('proxy-defaults', 'global'),
    ]);
    return looks;
  };
  expect(look('http', 'http')).toBe(0);
  expect(look('http', 'HTTP')).toBe(0);
  expect(look('http', 'grpc')).toBeGreaterThan(0);
});
