import { describe, expect, test } from 'vitest';
import { entryOf, entryTable, noneExists } from './entry-table.test-helper.ts';
import { type HttpRoute, httpRoute } from './http-route.ts';
import { type TcpRoute, tcpRoute } from './tcp-route.ts';

const http = {
  Kind: 'http-route',
  Name: 'route',
  Parents: [{ Name: 'gate' }],
  Rules: [{ Services: [{ Name: 'a' }] }],
};
const tcp = { Kind: 'tcp-route', Name: 'route', Services: [{ Name: 'a' }] };
const rule = (fields: object) => ({ Rules: [{ Services: [{ Name: 'a' }], ...fields }] });
const match = (fields: object) => rule({ Matches: [fields] });
const filters = (Filters: object) => rule({ Filters });
const at = 'Rules[0]';

describe('parents', () => {
  const rows = [
    ['no name', { Parents: [{ SectionName: 'one' }] }, 'Parents[0].Name is required'],
    [
      'a parent twice',
      { Parents: [{ Name: 'g' }, { Kind: 'api-gateway', Name: 'g', Partition: 'default' }] },
      'Parents[1] is listed already: the same gateway and section',
    ],
    ['two sections of a gateway', { Parents: [{ Name: 'g' }, { Name: 'g', SectionName: 'one' }] }],
    [
      'another kind',
      { Parents: [{ Kind: 'mesh', Name: 'g' }] },
      'Parents[0].Kind must be one of api-gateway, got "mesh"',
    ],
  ] as const;
  describe('of an http-route', () => entryTable(http, rows));
  describe('of a tcp-route', () => entryTable(tcp, rows));
});

describe('http-route', () => {
  entryTable(http, [
    ['a route with only a name', { Parents: [], Rules: [] }],
    ['hosts', { Hostnames: ['a.example.com', 'localhost'] }],
    [
      'texts that are not host names',
      { Hostnames: ['', '*.b', 'a b', 'A.b', 'a.b'] },
      'Hostnames[0] must not be empty',
      'Hostnames[1] must not have a wildcard, got "*.b"',
      'Hostnames[2] is not a host name: "a b"',
      'Hostnames[4] "a.b" is listed already',
    ],
    [
      'names that are not services',
      rule({ Services: [{}, { Name: '*' }] }),
      `${at}.Services[0].Name is required`,
      `${at}.Services[1].Name must be one service, not "*"`,
    ],
    [
      'a certificate for no host',
      rule({ Services: [{ Name: 'a', TLS: { SDS: {} } }] }),
      `${at}.Services[0].TLS.SDS.CertResource is required`,
      `${at}.Services[0].TLS.SDS must not be given without Hostnames: a certificate is for hosts`,
    ],
    [
      'limits out of bounds',
      rule({ Services: [{ Name: 'a', Limits: { MaxPendingRequests: -1 } }] }),
      `${at}.Services[0].Limits.MaxPendingRequests must be from 0 to 4294967295, got -1`,
    ],
  ]);
});

describe('matches', () => {
  const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, CONNECT';
  entryTable(http, [
    ['everything', match({})],
    [
      'paths',
      rule({ Matches: ['exact', 'prefix'].map((Match) => ({ Path: { Match, Value: '/a' } })) }),
    ],
    [
      'a path without a slash',
      match({ Path: { Match: 'exact', Value: 'a' } }),
      `${at}.Matches[0].Path.Value must begin with "/", got "a"`,
    ],
    ['a pattern', match({ Path: { Match: 'regex', Value: '^/a+$' } })],
    [
      'no pattern',
      match({ Path: { Match: 'regex', Value: '(' } }),
      `${at}.Matches[0].Path.Value is not a pattern of RE2: "("`,
    ],
    [
      'an unknown kind of match',
      match({ Path: { Match: 'suffix' } }),
      `${at}.Matches[0].Path.Match must be one of exact, prefix, regex, got "suffix"`,
    ],
    ['a method in small letters', match({ Method: 'get' })],
    [
      'no method',
      match({ Method: 'fetch' }),
      `${at}.Matches[0].Method must be one of ${methods}, got "FETCH"`,
    ],
    [
      'headers',
      match({
        Headers: [
          ...['exact', 'prefix', 'suffix'].map((Match) => ({ Match, Name: 'x', Value: 'a' })),
          { Match: 'present', Name: ':method' },
          { Match: 'regex', Name: 'x', Value: 'a.*' },
        ],
      }),
    ],
    [
      'faulty headers',
      match({
        Headers: [
          { Value: 'a' },
          { Name: 'a b', Value: 'a' },
          { Name: 'x' },
          { Name: 'x', Match: 'present', Value: 'a' },
          { Name: 'x', Match: 'regex', Value: '[' },
        ],
      }),
      `${at}.Matches[0].Headers[0].Name is required`,
      `${at}.Matches[0].Headers[1].Name is no name of a header: "a b"`,
      `${at}.Matches[0].Headers[2].Value is required where Match is "exact"`,
      `${at}.Matches[0].Headers[3].Value must not be given where Match is "present"`,
      `${at}.Matches[0].Headers[4].Value is not a pattern of RE2: "["`,
    ],
    [
      'parameters',
      match({
        Query: [
          { Name: 'q', Value: '1' },
          { Match: 'present', Name: 'q' },
          { Value: 'a' },
          { Name: 'q' },
        ],
      }),
      `${at}.Matches[0].Query[2].Name is required`,
      `${at}.Matches[0].Query[3].Value is required where Match is "exact"`,
    ],
  ]);
});

describe('filters', () => {
  entryTable(http, [
    [
      'all filters',
      filters({
        Headers: [{ Add: { a: '1' } }, { Set: { b: '2' }, Remove: ['c'] }],
        URLRewrite: { Path: 'x' },
        RetryFilter: { NumRetries: 3, RetryOn: ['5xx'], RetryOnStatusCodes: [503] },
        TimeoutFilter: { RequestTimeout: '10s', IdleTimeout: 1_000_000_000 },
      }),
    ],
    [
      'faults in all filters',
      filters({
        Headers: [{}, { Add: { ' ': '1' } }],
        RetryFilter: { NumRetries: -1, RetryOn: ['rain'], RetryOnStatusCodes: [99] },
        TimeoutFilter: { RequestTimeout: -1 },
        JWT: {},
      }),
      `${at}.Filters.RetryFilter.NumRetries must be from 0 to 4294967295, got -1`,
      `${at}.Filters.RetryFilter.RetryOnStatusCodes[0] must be from 100 to 599, got 99`,
      `${at}.Filters.TimeoutFilter.RequestTimeout must be at least 0s, got -1ns`,
      `${at}.Filters.Headers[1].Add[" "] is no name of a header`,
      `${at}.Filters.RetryFilter.RetryOn[0] must be one of 5xx, gateway-error, reset, connect-failure, envoy-ratelimited, retriable-4xx, refused-stream, cancelled, deadline-exceeded, internal, resource-exhausted, unavailable, got "rain"`,
      `${at}.Filters.JWT.Providers must name a jwt-provider, and ${noneExists}`,
    ],
    [
      'filters of answers and of services',
      rule({
        ResponseFilters: { Headers: [{ Remove: [''] }] },
        Services: [
          {
            Name: 'a',
            Filters: { URLRewrite: {}, JWT: { Providers: [{ Name: 'okta' }] } },
            ResponseFilters: { Headers: [{ Set: { a: '\n' } }] },
          },
        ],
      }),
      `${at}.ResponseFilters.Headers[0].Remove[0] is no name of a header: ""`,
      `${at}.Services[0].Filters.JWT.Providers[0].Name names the jwt-provider "okta", and ${noneExists}`,
      `${at}.Services[0].ResponseFilters.Headers[0].Set.a must not hold control characters`,
    ],
  ]);
});

describe('tcp-route', () => {
  entryTable(tcp, [
    ['no service', { Services: [] }],
    [
      'two services',
      { Services: [{ Name: 'a' }, { Name: '*' }] },
      'Services must be at most one service, got 2',
      'Services[1].Name must be one service, not "*"',
    ],
    ['no name', { Services: [{}] }, 'Services[0].Name is required'],
    [
      'a certificate without a resource',
      { Services: [{ Name: 'a', TLS: { SDS: { ClusterName: 'c' } } }] },
      'Services[0].TLS.SDS.CertResource is required',
    ],
  ]);
});

test('the canonical form of an http-route', () => {
  const entry = entryOf<HttpRoute>({
    ...http,
    Hostnames: ['Shop.Example.com'],
    Rules: [
      { Services: [{ Name: 'a', Weight: -3 }, { Name: 'b' }, { Name: 'a', Weight: 7 }] },
      { Matches: [{ Method: 'post' }], Services: [{ Name: 'c', Partition: 'p' }] },
    ],
  });
  const everything = { Match: 'prefix', Value: '/' };
  expect(entry.Parents[0]).toMatchObject({ Kind: 'api-gateway', Namespace: 'default' });
  expect(entry.Hostnames).toEqual(['shop.example.com']);
  expect(entry.Rules[0]?.Matches).toEqual([
    { Path: everything, Method: '', Headers: [], Query: [] },
  ]);
  expect(entry.Rules[1]?.Matches[0]).toMatchObject({ Path: everything, Method: 'POST' });
  expect(entry.Rules[0]?.Services.map(({ Weight }) => Weight)).toEqual([1, 1, 7]);
  expect(httpRoute.services?.(entry)?.map(({ name, partition }) => `${partition}/${name}`)).toEqual(
    ['default/a', 'default/b', 'p/c'],
  );
  expect(
    httpRoute.names?.(entry).map(({ kind, partition, name }) => `${kind} ${partition}/${name}`),
  ).toEqual([
    'api-gateway default/gate',
    'proxy-defaults default/global',
    'proxy-defaults p/global',
  ]);
});

test('a tcp-route names its service and its gateways', () => {
  const entry = entryOf<TcpRoute>({ ...tcp, Parents: [{ Name: 'g', Namespace: 'n' }] });
  expect(tcpRoute.services?.(entry)).toEqual([
    { partition: 'default', namespace: 'default', name: 'a' },
  ]);
  expect(tcpRoute.names?.(entry)).toEqual([
    { partition: 'default', namespace: 'n', kind: 'api-gateway', name: 'g' },
  ]);
});
