import { describe, expect, test } from 'vitest';
import { entryOf, faultsIn } from './entry-view.test-helper.ts';
import { kindOf } from './kinds.ts';
import type { ServiceResolver } from './service-resolver.ts';
import type { ServiceRouter } from './service-router.ts';
import type { ServiceSplitter } from './service-splitter.ts';

type Body = Readonly<Record<string, unknown>>;
type Row = readonly [what: string, fields: Body, faults: readonly (string | RegExp)[]];

function table(kind: string, rows: readonly Row[]): void {
  test.each(rows)('%s', (_, fields, faults) => {
    const found = faultsIn({ Kind: kind, Name: 'web', ...fields });
    expect(found).toHaveLength(faults.length);
    faults.forEach((fault, index) => {
      if (typeof fault === 'string') expect(found[index]).toBe(fault);
      else expect(found[index]).toMatch(fault);
    });
  });
}

const route = (http: Body, destination: Body | null = null): Body => ({
  Routes: [{ Match: { HTTP: http }, Destination: destination }],
});
const header = (fields: Body): Body => route({ Header: [{ Name: 'x-a', ...fields }] });
const parameter = (fields: Body): Body => route({ QueryParam: [{ Name: 'a', ...fields }] });
const destination = (fields: Body): Body => route({ PathPrefix: '/a' }, fields);
const [at, to] = ['/Routes/0/Match/HTTP', '/Routes/0/Destination'];

describe('service-router', () => {
  const tests = 'exactly one of Present, Exact, Prefix, Suffix, Regex';
  table('service-router', [
    ['an empty entry', {}, []],
    ['no name', { Name: '' }, [/^\/Name: .*required/]],
    ['every service', { Name: '*' }, [/^\/Name: /]],
    ['a route for all requests', { Routes: [{}] }, []],
    ['an exact path', route({ PathExact: '/a' }), []],
    [
      'two paths',
      route({ PathExact: '/a', PathRegex: 'b' }),
      [`${at}: Routes[0].Match.HTTP can have only one of PathExact, PathPrefix, PathRegex`],
    ],
    ['a path without a slash', route({ PathExact: 'a' }), [/PathExact: .*must begin with "\/"/]],
    ['a prefix without a slash', route({ PathPrefix: 'a' }), [/PathPrefix: .*begin with "\/"/]],
    ['a faulty pattern', route({ PathRegex: '(' }), [/PathRegex: .*is no pattern: "\("/]],
    ['a header that is present', header({ Present: true }), []],
    ['a header that is absent', header({ Present: true, Invert: true }), []],
    ['a header without a name', header({ Name: '', Exact: 'a' }), [/Header\/0\/Name: .*required/]],
    ['a header with an odd name', header({ Name: 'a b', Exact: 'a' }), [/no name of a header/]],
    ['a header without a test', header({}), [new RegExp(`${tests}, got none`)]],
    [
      'a header with two tests',
      header({ Exact: 'a', Suffix: 'b' }),
      [new RegExp(`${tests}, got Exact and Suffix`)],
    ],
    ['a header with a faulty pattern', header({ Regex: '[' }), [/Header\/0\/Regex: /]],
    ['a parameter', parameter({ Regex: '^a' }), []],
    ['a parameter without a name', parameter({ Name: '', Exact: 'a' }), [/0\/Name: .*required/]],
    [
      'a parameter without a test',
      parameter({}),
      [
        `${at}/QueryParam/0: Routes[0].Match.HTTP.QueryParam[0] must have exactly one of Present, Exact, Regex, got none`,
      ],
    ],
    ['a parameter with two tests', parameter({ Present: true, Exact: 'a' }), [/got Present and/]],
    ['a parameter with a faulty pattern', parameter({ Regex: '*' }), [/0\/Regex: /]],
    ['methods in small letters', route({ Methods: ['get', 'Put'] }), []],
    ['an unknown method', route({ Methods: ['FETCH'] }), [/Methods\/0: .*"FETCH"/]],
    ['a method twice', route({ Methods: ['GET', 'get'] }), [/Methods\/1: .*"GET" is taken/]],
    ['a destination', destination({ Service: 'b', ServiceSubset: 'c' }), []],
    [
      'a destination that is not the name of a service',
      destination({ Service: '*' }),
      [/one service, got "\*"/],
    ],
    ['a prefix put in place of a prefix', destination({ PrefixRewrite: '/' }), []],
    [
      'a prefix put in place of a pattern',
      route({ PathRegex: 'a' }, { PrefixRewrite: '/' }),
      [
        `${to}/PrefixRewrite: Routes[0].Destination.PrefixRewrite needs a match with PathExact or PathPrefix`,
      ],
    ],
    ['timeouts', destination({ RequestTimeout: '15s', IdleTimeout: 1e9 }), []],
    ['a timeout below 0', destination({ RequestTimeout: '-1s' }), [/RequestTimeout: .*least 0/]],
    ['an idle timeout below 0', destination({ IdleTimeout: -1 }), [/IdleTimeout: .*least 0/]],
    ['repetitions below 0', destination({ NumRetries: -1 }), [/NumRetries: .*least 0/]],
    ['reasons to retry', destination({ RetryOn: ['5xx', 'reset'] }), []],
    ['an unknown reason to retry', destination({ RetryOn: ['rain'] }), [/RetryOn\/0: .*"rain"/]],
    [
      'a number that is not a status',
      destination({ RetryOnStatusCodes: [99] }),
      [/Codes\/0: .*from 100 to 599/],
    ],
    ['changed headers', destination({ RequestHeaders: { Add: { 'x-a': '1' } } }), []],
    [
      'faulty headers',
      destination({ ResponseHeaders: { Set: { 'a b': '1' }, Remove: [''] } }),
      [/Set\/a b: .*no name of a header/, /Remove\/0: .*no name of a header/],
    ],
    [
      'all at once',
      {
        Routes: [
          { Match: { HTTP: { PathExact: 'a', Methods: ['X'] } } },
          { Destination: { Service: '*', NumRetries: -1 } },
        ],
      },
      [
        /Routes\/1\/Destination\/NumRetries/,
        /PathExact/,
        /Methods\/0/,
        /Routes\/1\/Destination\/Service/,
      ],
    ],
  ]);

  test('methods are kept in capital letters', () => {
    const entry = entryOf({ Kind: 'service-router', Name: 'web', ...route({ Methods: ['get'] }) });
    expect((entry as ServiceRouter).Routes?.[0]?.Match?.HTTP?.Methods).toEqual(['GET']);
  });

  test('names every service that a route leads to, once, and not its own', () => {
    const Routes = [
      { Destination: { Service: 'b' } },
      { Destination: { Service: 'b', ServiceSubset: 'x' } },
      { Destination: { Service: 'web' } },
      { Destination: { Namespace: 'other' } },
      {},
    ];
    const entry = entryOf({ Kind: 'service-router', Name: 'web', Routes });
    expect(kindOf('service-router').services?.(entry)).toEqual([
      { partition: 'default', namespace: 'default', name: 'b' },
      { partition: 'default', namespace: 'other', name: 'web' },
    ]);
  });
});

const splits = (...weights: readonly (number | Body)[]): Body => ({
  Splits: weights.map((weight, index) =>
    typeof weight === 'number' ? { Weight: weight, Service: `s${index}` } : weight,
  ),
});

describe('service-splitter', () => {
  const sum = (actual: number | string) =>
    `/Splits: Splits must add up: the sum of all split weights must be 100, not ${actual}`;
  table('service-splitter', [
    ['every service', { Name: '*', ...splits(100) }, [/^\/Name: /]],
    ['nothing', {}, ['/Splits: Splits has no splits configured']],
    ['all traffic to one service', splits(100), []],
    ['two', splits(90, 10), []],
    ['thirds', splits(33.33, 33.33, 33.34), []],
    ['tenths that a float cannot represent', splits(0.1, 0.2, 99.7), []],
    ['a weight of 0', splits(100, 0), []],
    ['too little', splits(50, 49.99), [sum(99.99)]],
    ['too much', splits(60, 50), [sum(110)]],
    ['weights that are rounded to too little', splits(50, 49.994), [sum(99.99)]],
    ['weights that are rounded to 100', splits(50, 49.996), []],
    [
      'below 0',
      splits(101, -1),
      [/Splits\/0\/Weight: .*from 0 to 100/, /Splits\/1\/Weight: .*from 0 to 100/],
    ],
    [
      'the same place twice',
      splits({ Weight: 50 }, { Weight: 50, Service: 'web', Namespace: 'default' }),
      ['/Splits/1: Splits[1] leads to the same place as Splits[0]'],
    ],
    [
      'two subsets',
      splits({ Weight: 50, ServiceSubset: 'a' }, { Weight: 50, ServiceSubset: 'b' }),
      [],
    ],
    [
      'a faulty name of a service',
      splits({ Weight: 100, Service: 'a*' }),
      [/one service, got "a\*"/],
    ],
    [
      'a faulty name of a header',
      splits({ Weight: 100, RequestHeaders: { Remove: ['a b'] } }),
      [/RequestHeaders\/Remove\/0: /],
    ],
  ]);

  test('weights are kept in hundredths', () => {
    const entry = entryOf({ Kind: 'service-splitter', Name: 'web', ...splits(33.3333, 66.6667) });
    expect((entry as ServiceSplitter).Splits.map(({ Weight }) => Weight)).toEqual([33.33, 66.67]);
  });
});

const subsets: Body = { Subsets: { v1: {}, v2: {} } };
const failover = (fields: Body, subset = '*'): Body => ({ Failover: { [subset]: fields } });
const balancer = (fields: Body): Body => ({ LoadBalancer: fields });
const hash = (fields: Body): Body => balancer({ Policy: 'maglev', HashPolicies: [fields] });

describe('service-resolver', () => {
  table('service-resolver', [
    ['an empty entry', {}, []],
    ['every service', { Name: '*' }, [/^\/Name: /]],
    ['subsets', { ...subsets, DefaultSubset: 'v1' }, []],
    ['a subset with a filter', { Subsets: { a: { Filter: 'Service.Meta.version == v1' } } }, []],
    [
      'a filter over checks',
      { Subsets: { a: { Filter: 'any Checks as c { c.Status == passing }' } } },
      [],
    ],
    [
      'a faulty filter',
      { Subsets: { a: { Filter: 'Service.Meta ==' } } },
      [/Subsets\/a\/Filter: .*is wrong: /],
    ],
    [
      'a filter over an unknown field',
      { Subsets: { a: { Filter: 'Servce.ID == a' } } },
      [/Filter: .*is wrong: /],
    ],
    [
      'a subset whose name is not a label',
      { Subsets: { 'a.b': {} } },
      [/Subsets\/a\.b: .*DNS label/],
    ],
    [
      'a default that is not a subset',
      { ...subsets, DefaultSubset: 'v3' },
      [/^\/DefaultSubset: .*one of Subsets, got "v3"/],
    ],
    ['a redirect', { Redirect: { Service: 'b' } }, []],
    ['a redirect to a datacenter', { Redirect: { Datacenter: 'dc2' } }, []],
    ['a redirect to a peer', { Redirect: { Service: 'b', Peer: 'east' } }, []],
    [
      'an empty redirect',
      { Redirect: {} },
      ['/Redirect: Redirect is empty: it must name a destination'],
    ],
    [
      'a redirect to a subset alone',
      { ...subsets, Redirect: { ServiceSubset: 'v1' } },
      [/ServiceSubset: .*needs one of Service,/],
    ],
    ['a redirect to a faulty name', { Redirect: { Service: '*' } }, [/Redirect\/Service: /]],
    [
      'a redirect to a sameness group',
      { Redirect: { SamenessGroup: 'g' } },
      [/SamenessGroup: .*no sameness groups/],
    ],
    [
      'a redirect to a peer and more',
      { Redirect: { Peer: 'east', ServiceSubset: 'a', Partition: 'b', Datacenter: 'c' } },
      [/ServiceSubset: .*with Peer/, /Partition: .*with Peer/, /Datacenter: .*with Peer/],
    ],
    [
      'a redirect and a failover',
      { Redirect: { Service: 'b' }, ...failover({ Service: 'c' }) },
      [/^\/Failover: .*with Redirect/],
    ],
    ['a failover to a service', failover({ Service: 'b' }), []],
    ['a failover to datacenters', failover({ Datacenters: ['dc2', 'dc3'] }), []],
    ['a failover of a subset', { ...subsets, ...failover({ ServiceSubset: 'v2' }, 'v1') }, []],
    [
      'a failover of an unknown subset',
      { ...subsets, ...failover({ Service: 'b' }, 'v3') },
      [/^\/Failover\/v3: .*Subsets or \*/],
    ],
    ['a failover to nowhere', failover({}), [/^\/Failover\/\*: .*must have one of/]],
    [
      'a failover with a policy alone',
      failover({ Policy: { Mode: 'sequential' } }),
      [/must have one of/],
    ],
    [
      'a failover with an odd policy',
      failover({ Service: 'b', Policy: { Mode: 'any' } }),
      [/Policy\/Mode: /],
    ],
    ['a failover to a faulty name', failover({ Service: '*' }), [/Failover\/\*\/Service: /]],
    [
      'a failover to a sameness group',
      failover({ SamenessGroup: 'g' }),
      [/SamenessGroup: .*no sameness groups/],
    ],
    [
      'a failover to a subset that does not exist',
      { ...subsets, ...failover({ ServiceSubset: 'v3' }) },
      [/ServiceSubset: .*one of Subsets, got "v3"/],
    ],
    [
      'a failover to a subset of another service',
      failover({ Service: 'b', ServiceSubset: 'v3' }),
      [],
    ],
    [
      'a failover to an empty datacenter',
      failover({ Datacenters: [''] }),
      [/Datacenters\/0: .*must not be empty/],
    ],
    [
      'targets',
      failover({ Targets: [{ Datacenter: 'dc2' }, { Peer: 'east' }, { Partition: 'p' }] }),
      [],
    ],
    [
      'targets and more',
      {
        ...subsets,
        ...failover({
          Targets: [{ Peer: 'a' }],
          Service: 'b',
          ServiceSubset: 'v1',
          Namespace: 'n',
          Datacenters: ['d'],
        }),
      },
      [/Service: .*with Targets/, /ServiceSubset: .*with Targets/, /Namespace: /, /Datacenters: /],
    ],
    [
      'a target at a peer and more',
      failover({ Targets: [{ Peer: 'a', Datacenter: 'b' }] }),
      [/Targets\/0\/Datacenter: .*with Peer/],
    ],
    [
      'a target with a faulty name',
      failover({ Targets: [{ Service: '*' }] }),
      [/Targets\/0\/Service: /],
    ],
    [
      'a target in a subset that does not exist',
      failover({ Targets: [{ ServiceSubset: 'a' }] }),
      [/Targets\/0\/ServiceSubset: /],
    ],
    ['timeouts', { ConnectTimeout: '3s', RequestTimeout: '0s' }, []],
    ['a connect timeout below 0', { ConnectTimeout: '-1s' }, [/^\/ConnectTimeout: .*least 0/]],
    ['a request timeout below 0', { RequestTimeout: -1 }, [/^\/RequestTimeout: .*least 0/]],
    ['locality', { PrioritizeByLocality: { Mode: 'failover' } }, []],
    [
      'an unknown locality',
      { PrioritizeByLocality: { Mode: 'near' } },
      [/PrioritizeByLocality\/Mode: /],
    ],
    [
      'a balancer',
      balancer({ Policy: 'least_request', LeastRequestConfig: { ChoiceCount: 2 } }),
      [],
    ],
    [
      'a ring',
      balancer({ Policy: 'ring_hash', RingHashConfig: { MinimumRingSize: 1, MaximumRingSize: 2 } }),
      [],
    ],
    ['an unknown balancer', balancer({ Policy: 'dice' }), [/LoadBalancer\/Policy: /]],
    [
      'ring settings with another policy',
      balancer({ Policy: 'maglev', RingHashConfig: {} }),
      [/RingHashConfig: .*only for the policy ring_hash/],
    ],
    [
      'a ring whose minimum is above its maximum',
      balancer({ Policy: 'ring_hash', RingHashConfig: { MinimumRingSize: 3, MaximumRingSize: 2 } }),
      [/at most the MaximumRingSize of 2/],
    ],
    [
      'request settings with another policy',
      balancer({ Policy: 'random', LeastRequestConfig: {} }),
      [/only for the policy least_request/],
    ],
    [
      'hashes with a policy that does not hash',
      balancer({ Policy: 'random', HashPolicies: [{ SourceIP: true }] }),
      [/HashPolicies: .*only for the policies/],
    ],
    ['a hash of a header', hash({ Field: 'header', FieldValue: 'x-user' }), []],
    ['a hash of the address', hash({ SourceIP: true, Terminal: true }), []],
    [
      'a hash of a cookie',
      hash({ Field: 'cookie', FieldValue: 'u', CookieConfig: { TTL: '1h', Path: '/' } }),
      [],
    ],
    ['a hash of nothing', hash({}), [/Field: .*required/, /FieldValue: .*required/]],
    ['a hash of an odd field', hash({ Field: 'body', FieldValue: 'a' }), [/Field: /]],
    ['a hash without a value', hash({ Field: 'header' }), [/FieldValue: .*required with Field/]],
    [
      'a hash of the address and more',
      hash({ SourceIP: true, Field: 'cookie', FieldValue: 'a', CookieConfig: {} }),
      [/Field: .*with SourceIP/, /FieldValue: .*with SourceIP/, /CookieConfig: .*with SourceIP/],
    ],
    [
      'cookie settings of a header',
      hash({ Field: 'header', FieldValue: 'a', CookieConfig: {} }),
      [/only for the field cookie/],
    ],
    [
      'a session cookie with a lifetime',
      hash({ Field: 'cookie', FieldValue: 'a', CookieConfig: { Session: true, TTL: '1s' } }),
      [/TTL: .*cookie of the session/],
    ],
    [
      'a cookie with a lifetime below 0',
      hash({ Field: 'cookie', FieldValue: 'a', CookieConfig: { TTL: '-1s' } }),
      [/TTL: .*least 0/],
    ],
  ]);

  test('names the services of this cluster to which it leads', () => {
    const entry = entryOf({
      Kind: 'service-resolver',
      Name: 'web',
      Failover: {
        '*': { Targets: [{ Service: 'b' }, { Service: 'c', Peer: 'east' }, { Datacenter: 'dc2' }] },
      },
    }) as ServiceResolver;
    expect(kindOf('service-resolver').services?.(entry)).toEqual([
      { partition: 'default', namespace: 'default', name: 'b' },
    ]);
  });
});

test.each(['service-router', 'service-splitter', 'service-resolver'] as const)(
  'the example of %s is right',
  (kind) => {
    const { example, exampleNeeds = [] } = kindOf(kind);
    expect([...exampleNeeds, example].flatMap(faultsIn)).toEqual([]);
  },
);
