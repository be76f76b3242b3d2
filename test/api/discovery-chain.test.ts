/**
 * Discovery chains, and entries that would break them, over HTTP.
 * Source: docs/behaviour/discovery.md#checks-of-chains.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

type Body = Readonly<Record<string, unknown>>;

const put = (body: Body, query = '', token?: string) =>
  api.call('PUT', `/v1/config${query}`, { body, ...(token !== undefined && { token }) });
const remove = (path: string) => api.call('DELETE', `/v1/config/${path}`);
const get = (path: string, token?: string | null) =>
  api.call('GET', `/v1/discovery-chain/${path}`, { ...(token !== undefined && { token }) });
const post = (path: string, body?: unknown) =>
  api.call('POST', `/v1/discovery-chain/${path}`, { ...(body !== undefined && { body }) });

async function apply(...entries: readonly Body[]): Promise<void> {
  for (const entry of entries) {
    const { status, text } = await put(entry);
    expect([status, text]).toEqual([200, 'true']);
  }
}

const http = (Name: string): Body => ({ Kind: 'service-defaults', Name, Protocol: 'http' });
const resolver = {
  Kind: 'service-resolver',
  Name: 'web',
  DefaultSubset: 'v1',
  ConnectTimeout: '3s',
  Subsets: {
    v1: { Filter: 'Service.Meta.version == v1' },
    v2: { Filter: 'Service.Meta.version == v2', OnlyPassing: true },
  },
};
const splitter = {
  Kind: 'service-splitter',
  Name: 'web',
  Splits: [
    { Weight: 90, ServiceSubset: 'v1' },
    { Weight: 10, ServiceSubset: 'v2' },
  ],
};
const router = {
  Kind: 'service-router',
  Name: 'web',
  Routes: [
    { Match: { HTTP: { PathPrefix: '/admin' } }, Destination: { Service: 'admin', NumRetries: 2 } },
  ],
};

describe('a chain', () => {
  test('exists for a service without entries', async () => {
    const { status, json, headers } = await get('web');
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'x-registry-knownleader': 'true' });
    expect(Number(headers['x-registry-index'])).toBeGreaterThan(0);
    const id = 'web.default.default.dc1';
    expect(json).toEqual({
      Chain: {
        ServiceName: 'web',
        Namespace: 'default',
        Partition: 'default',
        Datacenter: 'dc1',
        Default: true,
        Protocol: 'tcp',
        StartNode: `resolver:${id}`,
        Nodes: {
          [`resolver:${id}`]: {
            Type: 'resolver',
            Name: id,
            Resolver: { Default: true, ConnectTimeout: '5s', Target: id },
          },
        },
        Targets: {
          [id]: {
            ID: id,
            Service: 'web',
            Namespace: 'default',
            Partition: 'default',
            Datacenter: 'dc1',
            MeshGateway: {},
            Subset: {},
            ConnectTimeout: '5s',
            SNI: `${id}.internal`,
            Name: `${id}.internal`,
          },
        },
      },
    });
  });

  test('goes through router, splitter and resolver', async () => {
    await apply(http('web'), http('admin'), resolver, splitter, router);
    const { Chain } = (await get('web')).json;
    expect(Chain).toMatchObject({ Protocol: 'http', StartNode: 'router:web.default.default' });
    expect(Chain.Nodes['router:web.default.default'].Routes).toEqual([
      {
        Definition: router.Routes[0],
        NextNode: 'resolver:admin.default.default.dc1',
      },
      {
        Definition: { Match: { HTTP: { PathPrefix: '/' } }, Destination: { Service: 'web' } },
        NextNode: 'splitter:web.default.default',
      },
    ]);
    expect(Chain.Nodes['splitter:web.default.default'].Splits).toMatchObject([
      { Weight: 90, NextNode: 'resolver:v1.web.default.default.dc1' },
      { Weight: 10, NextNode: 'resolver:v2.web.default.default.dc1' },
    ]);
    expect(Chain.Targets['v2.web.default.default.dc1']).toMatchObject({
      ServiceSubset: 'v2',
      Subset: { Filter: 'Service.Meta.version == v2', OnlyPassing: true },
      ConnectTimeout: '3s',
    });
  });

  test('is compiled for the requested datacenter', async () => {
    const { Chain } = (await get('web?compile-dc=dc9')).json;
    expect(Chain).toMatchObject({
      Datacenter: 'dc9',
      StartNode: 'resolver:web.default.default.dc9',
    });
  });

  test('is the same for a POST without a body', async () => {
    await apply(http('web'), resolver);
    const { status, json, headers } = await post('web');
    const read = await get('web');
    expect([status, json]).toEqual([200, read.json]);
    expect(headers['x-registry-index']).toBe(read.headers['x-registry-index']);
  });

  test('applies the overrides in the body of a POST', async () => {
    await apply(http('web'), resolver, splitter);
    const body = {
      OverrideConnectTimeout: '7s',
      OverrideProtocol: 'TCP',
      OverrideMeshGateway: { Mode: 'remote' },
    };
    const { Chain } = (await post('web', body)).json;
    const id = 'v1.web.default.default.dc1';
    expect(Chain).toMatchObject({ Protocol: 'tcp', StartNode: `resolver:${id}` });
    expect(Chain.CustomizationHash).toMatch(/^[0-9a-f]{8}$/);
    expect(Chain.Nodes[`resolver:${id}`].Resolver.ConnectTimeout).toBe('7s');
    expect(Chain.Targets[id]).toMatchObject({
      ConnectTimeout: '7s',
      MeshGateway: { Mode: 'remote' },
    });
    expect((await post('web', { OverrideConnectTimeout: 7e9 })).json.Chain.Nodes).toMatchObject({
      [`resolver:${id}`]: { Resolver: { ConnectTimeout: '7s' } },
    });
  });

  test('includes its steps on request', async () => {
    await apply(http('web'), resolver);
    const plain = (await get('web')).json;
    const { Chain, Steps } = (await get('web?explain=true')).json;
    expect([plain.Steps, Chain]).toEqual([undefined, plain.Chain]);
    expect(Steps).toEqual([
      {
        Node: 'web.default.default.dc1',
        Entry: {
          Kind: 'service-resolver',
          Name: 'web',
          Namespace: 'default',
          Partition: 'default',
        },
        Sentence: '"web" without a subset means the default subset "v1".',
      },
      {
        Node: '',
        Entry: {
          Kind: 'service-defaults',
          Name: 'web',
          Namespace: 'default',
          Partition: 'default',
        },
        Sentence: '"web" speaks http, and so must every service of the chain.',
      },
      {
        Node: 'resolver:v1.web.default.default.dc1',
        Entry: {
          Kind: 'service-resolver',
          Name: 'web',
          Namespace: 'default',
          Partition: 'default',
        },
        Sentence:
          'Instances of subset "v1" of "web" in dc1 are taken, with 3s to connect as the resolver says.',
      },
    ]);
  });

  test('is compiled for the requested namespace', async () => {
    await api.call('PUT', '/v1/namespace/shop', { body: { Name: 'shop' } });
    await put(http('web'), '?ns=shop');
    expect((await get('web?ns=shop')).json.Chain).toMatchObject({
      Namespace: 'shop',
      Protocol: 'http',
    });
    expect((await get('web')).json.Chain).toMatchObject({ Namespace: 'default', Protocol: 'tcp' });
  });
});

test.each<[string, string, unknown, number, string]>([
  ['an unknown field', 'web', { Override: 1 }, 400, 'invalid-body'],
  ['an invalid timeout', 'web', { OverrideConnectTimeout: 'soon' }, 400, 'invalid-body'],
  ['a timeout below 0', 'web', { OverrideConnectTimeout: '-1s' }, 400, 'invalid-body'],
  ['an invalid gateway', 'web', { OverrideMeshGateway: { Mode: 'all' } }, 400, 'invalid-body'],
  ['a namespace that is not there', 'web?ns=none', {}, 404, 'namespace-not-found'],
  ['a partition that is not there', 'web?partition=none', {}, 404, 'partition-not-found'],
  ['a name that is too long', 'w'.repeat(257), {}, 400, 'invalid-path'],
])('refuses %s', async (_, path, body, status, code) => {
  const answer = await post(path, body);
  expect([answer.status, answer.json.code]).toEqual([status, code]);
});

describe('permissions', () => {
  test('to read a chain: read access to the service', async () => {
    const may = await aclOf(api).holder('service "web" { policy = "read" }');
    expect((await get('web', may)).status).toBe(200);
    const { status, json } = await get('api', may);
    expect([status, json.detail]).toEqual([403, expect.stringContaining('service:read')]);
    expect((await get('web', null)).status).toBe(403);
  });

  test('to redirect callers: read access to the target service', async () => {
    await apply(http('web'), http('admin'));
    const own = 'service "web" { policy = "write" }';
    const { status, json } = await put(router, '', await aclOf(api).holder(own));
    expect([status, json.code]).toEqual([403, 'permission-denied']);
    const both = `${own} service "admin" { policy = "read" }`;
    expect((await put(router, '', await aclOf(api).holder(both))).json).toBe(true);
  });
});

describe('a blocking query', () => {
  test('wakes when any entry of the chain changes, and not otherwise', async () => {
    await apply(http('web'), http('admin'), router);
    const { headers } = await get('web');
    let isOver = false;
    const waiting = get(`web?index=${headers['x-registry-index']}`).finally(() => {
      isOver = true;
    });
    await apply(http('other'), { Kind: 'service-resolver', Name: 'other' });
    await api.settle();
    expect(isOver).toBe(false);
    await apply({ Kind: 'service-resolver', Name: 'admin', ConnectTimeout: '1s' });
    const { json, headers: later } = await waiting;
    expect(json.Chain.Targets['admin.default.default.dc1'].ConnectTimeout).toBe('1s');
    expect(Number(later['x-registry-index'])).toBeGreaterThan(Number(headers['x-registry-index']));
  });

  test('wakes when an entry of the chain is deleted', async () => {
    await apply({ Kind: 'service-resolver', Name: 'web', ConnectTimeout: '1s' });
    const { headers } = await get('web');
    const waiting = get(`web?index=${headers['x-registry-index']}`);
    await api.settle();
    await remove('service-resolver/web');
    expect((await waiting).json.Chain.Default).toBe(true);
  });
});

describe('an entry', () => {
  const refused = async (answer: ReturnType<typeof put>, sentence: RegExp) => {
    const { status, json } = await answer;
    expect([status, json.code]).toEqual([409, 'config-conflict']);
    expect(json.detail).toMatch(sentence);
  };

  test('is refused if it makes a chain impossible', async () => {
    await refused(put(splitter), /"tcp" that does not permit advanced routing/);
    await apply(http('web'));
    await refused(put(splitter), /service "web" does not have a subset named "v1"/);
    await apply(resolver, splitter);
    await refused(put(router), /service "admin" has "tcp", and "web" has "http"/);
    await refused(
      put({ ...resolver, Subsets: { v1: {} } }),
      /service "web" does not have a subset named "v2"/,
    );
    await refused(
      put({
        Kind: 'service-resolver',
        Name: 'web',
        Redirect: { Service: 'web', ServiceSubset: 'v3' },
      }),
      /does not have a subset named/,
    );
    // None of them was stored.
    expect((await get('web')).json.Chain.StartNode).toBe('splitter:web.default.default');
  });

  test('cannot be deleted while it is used; in reverse order all can', async () => {
    await apply(http('web'), http('admin'), resolver, splitter, router);
    await refused(remove('service-defaults/web'), /"tcp" that does not permit/);
    await refused(remove('service-defaults/admin'), /service "admin" has "tcp"/);
    await refused(remove('service-resolver/web'), /does not have a subset named "v1"/);
    for (const kind of ['router', 'splitter', 'resolver', 'defaults']) {
      expect((await remove(`service-${kind}/web`)).status).toBe(200);
    }
    expect((await get('web')).json.Chain.Default).toBe(true);
  });

  test('for all services is checked in every namespace', async () => {
    await api.call('PUT', '/v1/namespace/shop', { body: { Name: 'shop' } });
    await apply({ Kind: 'proxy-defaults', Config: { protocol: 'http' } });
    const alone = { Kind: 'service-splitter', Name: 'cart', Splits: [{ Weight: 100 }] };
    expect((await put(alone, '?ns=shop')).json).toBe(true);
    await refused(remove('proxy-defaults/global'), /"cart" uses a protocol "tcp"/);
    await refused(put({ Kind: 'proxy-defaults', Config: { protocol: 'tcp' } }), /"cart"/);
  });

  test('must not redirect a service away from a peer that it is exported to', async () => {
    const Services = [{ Name: 'web', Consumers: [{ Peer: 'east' }] }];
    await apply({ Kind: 'exported-services', Services });
    const away = { Kind: 'service-resolver', Name: 'web', Redirect: { Datacenter: 'dc2' } };
    await refused(put(away), /"web" is exported to peers, so .* to the datacenter "dc2"/);
  });

  test('of intentions with permissions needs an HTTP service', async () => {
    const Permissions = [{ Action: 'allow', HTTP: { PathPrefix: '/' } }];
    const intentions = {
      Kind: 'service-intentions',
      Name: 'web',
      Sources: [{ Name: 'api', Permissions }],
    };
    await refused(put(intentions), /incompatible with L7 intentions permissions/);
    await apply(http('web'), intentions);
    await refused(remove('service-defaults/web'), /incompatible with L7 intentions permissions/);
  });
});
