/**
 * Entries in use cannot be deleted. By kind: their possible users, and the outcome of a deletion.
 * Source: docs/behaviour/configuration.md#deleting-an-entry-in-use.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  exampleCertificate,
  examplePrivateKey,
} from '../../src/model/config-entry/certificate-example.ts';
import { configKinds } from '../../src/model/config-entry/config-entry.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

type Body = Readonly<Record<string, unknown>>;

const put = (body: object, query = '') => api.call('PUT', `/v1/config${query}`, { body });
const get = (path: string) => api.call('GET', `/v1/config/${path}`);
const remove = (path: string) => api.call('DELETE', `/v1/config/${path}`);

const speaks = (Name: string, Protocol = 'http'): Body => ({
  Kind: 'service-defaults',
  Name,
  Protocol,
});
const proxies: Body = { Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } };
const certificate: Body = {
  Kind: 'inline-certificate',
  Name: 'shop',
  Certificate: exampleCertificate,
  PrivateKey: examplePrivateKey,
};
const onDisk: Body = {
  Kind: 'file-system-certificate',
  Name: 'disk',
  Certificate: '/c',
  PrivateKey: '/k',
};
const gateway = (Name: string, ...Certificates: Body[]): Body => ({
  Kind: 'api-gateway',
  Name,
  Listeners: [
    { Name: 'web', Port: 8443, Protocol: 'http', TLS: { Certificates } },
    { Name: 'queue', Port: 5672, Protocol: 'tcp' },
  ],
});
const httpRoute: Body = {
  Kind: 'http-route',
  Name: 'shop',
  Parents: [{ Name: 'public' }],
  Rules: [{ Services: [{ Name: 'web' }] }],
};
const tcpRoute: Body = {
  Kind: 'tcp-route',
  Name: 'queue',
  Parents: [{ Name: 'public' }, { Name: 'none' }],
  Services: [{ Name: 'queue' }],
};
const ingress: Body = {
  Kind: 'ingress-gateway',
  Name: 'edge',
  Listeners: [{ Port: 80, Protocol: 'http', Services: [{ Name: 'web' }] }],
};
const intentions: Body = {
  Kind: 'service-intentions',
  Name: 'web',
  Sources: [{ Name: 'api', Permissions: [{ Action: 'allow', HTTP: { PathPrefix: '/' } }] }],
};
const router: Body = {
  Kind: 'service-router',
  Name: 'web',
  Routes: [{ Destination: { Service: 'web', ServiceSubset: 'v1' } }],
};
const splitter: Body = { Kind: 'service-splitter', Name: 'web', Splits: [{ Weight: 100 }] };
const resolver: Body = { Kind: 'service-resolver', Name: 'web', Subsets: { v1: {} } };

const chain =
  'discovery chain "web" uses a protocol "tcp" that does not permit advanced routing or splitting behavior, and has a service-router and a service-splitter, which takes a Protocol such as "http" in service-defaults "web" or proxy-defaults';
const permissions =
  'service "web" has the protocol "tcp", which is incompatible with L7 intentions permissions';
const listener =
  'service "web" has protocol "tcp", which does not match defined listener protocol "http" of port 80 of the ingress-gateway "edge"';
const route =
  'the http-route "shop" leads to the service "web", which would speak tcp, and an http-route leads to http, http2 or grpc';
const usersOfProtocol = [intentions, resolver, router, splitter, ingress, httpRoute];

interface Row {
  /** Written in this order. */
  readonly before: readonly Body[];
  readonly path: string;
  /** The users named by the refusal; none: it is deleted. */
  readonly needed: readonly string[];
}

/** At least one row for each kind. */
const rows: readonly Row[] = [
  {
    before: [speaks('web'), httpRoute, tcpRoute, gateway('public')],
    path: 'api-gateway/public',
    needed: [
      'the http-route "shop" names it as a parent',
      'the tcp-route "queue" names it as a parent',
    ],
  },
  { before: [gateway('public')], path: 'api-gateway/public', needed: [] },
  {
    before: [gateway('public', { Name: 'shop' }), gateway('inner', { Name: 'shop' }), certificate],
    path: 'inline-certificate/shop',
    needed: [
      'the api-gateway "inner" names it for its listener "web"',
      'the api-gateway "public" names it for its listener "web"',
    ],
  },
  {
    before: [onDisk, gateway('public', { Kind: 'file-system-certificate', Name: 'disk' })],
    path: 'file-system-certificate/disk',
    needed: ['the api-gateway "public" names it for its listener "web"'],
  },
  {
    // An entry with the same name, but of another kind.
    before: [{ ...onDisk, Name: 'shop' }, certificate, gateway('public', { Name: 'shop' })],
    path: 'file-system-certificate/shop',
    needed: [],
  },
  {
    before: [speaks('web'), ...usersOfProtocol],
    path: 'service-defaults/web',
    needed: [listener, chain, permissions, route],
  },
  {
    before: [proxies, ...usersOfProtocol],
    path: 'proxy-defaults/global',
    needed: [listener, chain, permissions, route],
  },
  {
    before: [proxies, speaks('web'), ...usersOfProtocol],
    path: 'service-defaults/web',
    needed: [],
  },
  {
    before: [speaks('web'), resolver, router],
    path: 'service-resolver/web',
    needed: ['service "web" does not have a subset named "v1"'],
  },
  {
    before: [
      { Kind: 'service-resolver', Name: 'web', Subsets: { v1: {} } },
      ...['api', 'job'].map((Name) => ({
        Kind: 'service-resolver',
        Name,
        Redirect: { Service: 'web', ServiceSubset: 'v1' },
      })),
    ],
    path: 'service-resolver/web',
    needed: ['api', 'job'].map(
      (user) =>
        `service "web" does not have a subset named "v1", where the discovery chain "${user}" leads`,
    ),
  },
  {
    before: [
      speaks('web'),
      speaks('other'),
      { Kind: 'service-splitter', Name: 'web', Splits: [{ Weight: 100, Service: 'other' }] },
      { Kind: 'service-resolver', Name: 'web', Redirect: { Service: 'web', Datacenter: 'dc2' } },
      {
        Kind: 'exported-services',
        Name: 'default',
        Services: [{ Name: 'web', Consumers: [{ Peer: 'east' }] }],
      },
    ],
    path: 'service-splitter/web',
    needed: [
      'service "web" is exported to peers, so its discovery chain cannot lead to the datacenter "dc2"',
    ],
  },
  { before: [speaks('web'), splitter], path: 'service-splitter/web', needed: [] },
  { before: [speaks('web'), resolver, splitter, router], path: 'service-router/web', needed: [] },
  { before: [speaks('web'), gateway('public'), httpRoute], path: 'http-route/shop', needed: [] },
  { before: [gateway('public'), tcpRoute], path: 'tcp-route/queue', needed: [] },
  { before: [speaks('web'), ingress], path: 'ingress-gateway/edge', needed: [] },
  {
    before: [{ Kind: 'terminating-gateway', Name: 'edge', Services: [{ Name: 'web' }] }],
    path: 'terminating-gateway/edge',
    needed: [],
  },
  { before: [speaks('web'), intentions], path: 'service-intentions/web', needed: [] },
  {
    before: [
      { Kind: 'mesh', AllowEnablingPermissiveMutualTLS: true },
      { ...speaks('web'), MutualTLSMode: 'permissive' },
    ],
    path: 'mesh/mesh',
    needed: [],
  },
  {
    before: [
      {
        Kind: 'exported-services',
        Name: 'default',
        Services: [{ Name: 'web', Consumers: [{ Peer: 'east' }] }],
      },
    ],
    path: 'exported-services/default',
    needed: [],
  },
];

test('every kind has a row, except the one that cannot be deleted', () => {
  const kinds = new Set(rows.map(({ path }) => path.split('/')[0]!));
  expect([...kinds, 'bound-api-gateway'].sort()).toEqual([...configKinds].sort());
});

describe('is deleted, or refused with its users', () => {
  test.each(rows)('$path: $needed', async ({ before, path, needed }) => {
    for (const body of before) expect((await put(body)).text).toBe('true');
    const list = async () => (await api.call('GET', '/v1/config')).json;
    const asItWas = await list();
    for (const query of ['?dry_run', '']) {
      const { status, json } = await remove(`${path}${query}`);
      if (needed.length === 0) expect([status, json]).toEqual([200, true]);
      else {
        expect([status, json.code]).toEqual([409, 'config-conflict']);
        expect(json.errors.map(({ message }: { message: string }) => message)).toEqual(needed);
        for (const sentence of needed) expect(json.detail).toContain(sentence);
      }
      if (query !== '' || needed.length > 0) expect(await list()).toEqual(asItWas);
    }
    expect((await get(path)).status).toBe(needed.length === 0 ? 404 : 200);
  });

  test('a bound gateway cannot be deleted by callers, and is deleted with its gateway', async () => {
    await put(gateway('public'));
    expect((await remove('bound-api-gateway/public')).json.code).toBe('config-entry-derived');
    expect((await remove('api-gateway/public')).json).toBe(true);
    expect((await get('bound-api-gateway/public')).status).toBe(404);
  });
});

test('users first: all entries can be deleted', async () => {
  const all = [
    httpRoute,
    tcpRoute,
    gateway('public', { Name: 'shop' }),
    certificate,
    speaks('web'),
    resolver,
    splitter,
    router,
    intentions,
    ingress,
  ];
  for (const body of all) expect((await put(body)).text).toBe('true');
  const reversed = ['service-router', 'service-splitter', 'service-resolver', 'service-intentions'];
  const order = ['http-route', 'tcp-route', 'api-gateway', 'inline-certificate', ...reversed];
  for (const kind of [...order, 'ingress-gateway', 'service-defaults']) {
    for (const { Name } of (await get(kind)).json) {
      expect((await remove(`${kind}/${Name}`)).text).toBe('true');
    }
  }
  expect((await api.call('GET', '/v1/config')).json).toEqual([]);
});

test('a user in another namespace is named with it', async () => {
  await api.call('PUT', '/v1/namespace/team', { body: {} });
  await put(gateway('public'));
  const Parents = [{ Name: 'public', Namespace: 'default' }];
  expect((await put({ ...tcpRoute, Parents }, '?ns=team')).json).toBe(true);
  expect((await remove('api-gateway/public')).json.errors).toEqual([
    { pointer: '', message: 'the tcp-route "queue" of the namespace "team" names it as a parent' },
  ]);
  expect((await remove('tcp-route/queue?ns=team')).json).toBe(true);
  expect((await remove('api-gateway/public')).json).toBe(true);
});

test('users among chains, intentions and gateways are named with their namespaces', async () => {
  await api.call('PUT', '/v1/namespace/team', { body: {} });
  for (const body of [proxies, splitter, intentions, ingress]) {
    for (const query of body === proxies ? [''] : ['', '?ns=team']) {
      expect((await put(body, query)).text).toBe('true');
    }
  }
  const chainOfOne =
    'discovery chain "web" uses a protocol "tcp" that does not permit advanced routing or splitting behavior, and has a service-splitter, which takes a Protocol such as "http" in service-defaults "web" or proxy-defaults';
  const told = (await remove('proxy-defaults/global')).json.errors.map(
    ({ message }: { message: string }) => message,
  );
  expect(told).toEqual([
    listener,
    `${listener} of the namespace "team"`,
    chainOfOne,
    `${chainOfOne} (it is of the namespace "team")`,
    permissions,
    `${permissions} (it is of the namespace "team")`,
  ]);
});

test('the list of users in a refusal is bounded', async () => {
  await put(gateway('public'));
  for (let each = 0; each < 120; each++) {
    const Parents = [{ Name: 'public' }];
    await put({ ...tcpRoute, Name: `r${each}`, Parents });
  }
  const { json } = await remove('api-gateway/public');
  expect(json.errors).toHaveLength(100);
  expect(json.detail.length).toBeLessThan(1000);
});

test("a permitted deletion shows in the status of the entry's users", async () => {
  for (const body of [speaks('web'), certificate, gateway('public', { Name: 'shop' }), httpRoute]) {
    await put(body);
  }
  const bound = async () => (await get('http-route/shop')).json.Status.Conditions.at(-1).Reason;
  expect(await bound()).toBe('Bound');
  expect((await put(speaks('web', 'tcp'))).json).toBe(true);
  expect(await bound()).toBe('FailedToBind');
  // The route is not accepted, so it needs nothing.
  expect((await remove('service-defaults/web')).json).toBe(true);
});
