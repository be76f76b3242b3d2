/** Configuration entries over HTTP. Source: docs/contract/configuration.md#endpoints. */
import { beforeEach, describe, expect, test } from 'vitest';
import { kinds } from '../../src/model/config-entry/kinds.ts';
import { aclOf, managementId } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const put = (body: unknown, query = '', token?: string | null) =>
  api.call('PUT', `/v1/config${query}`, { body, ...(token !== undefined && { token }) });
const get = (path: string, token?: string | null) =>
  api.call('GET', `/v1/config/${path}`, { ...(token !== undefined && { token }) });
const remove = (path: string, token?: string | null) =>
  api.call('DELETE', `/v1/config/${path}`, { ...(token !== undefined && { token }) });
const web = { Kind: 'service-defaults', Name: 'web', Protocol: 'http' };

describe('writing an entry', () => {
  test('answers true, and reading shows every field', async () => {
    const answer = await put({ ...web, Protocol: 'HTTP' });
    expect([answer.status, answer.json]).toEqual([200, true]);
    const { json, headers } = await get('service-defaults/web');
    expect(json).toMatchObject({ ...web, Namespace: 'default', Partition: 'default', Meta: null });
    expect(json).toMatchObject({ Mode: '', UpstreamConfig: null, Expose: { Checks: false } });
    expect(headers).toMatchObject({
      'x-registry-index': String(json.ModifyIndex),
      'x-registry-knownleader': 'true',
    });
    expect(answer.headers['x-registry-index']).toBe(String(json.ModifyIndex));
  });

  test('accepts field names in any case and in snake_case', async () => {
    const check = { base_ejection_time: '90s', MAXFAILURES: 3 };
    const body = {
      kind: 'service-defaults',
      name: 'web',
      protocol: 'grpc',
      upstream_config: { overrides: [{ name: 'db', passive_health_check: check }] },
    };
    expect((await put(body)).json).toBe(true);
    const { json } = await get('service-defaults/web');
    expect(json.UpstreamConfig.Overrides[0]).toMatchObject({
      Name: 'db',
      Namespace: 'default',
      Partition: 'default',
      PassiveHealthCheck: { BaseEjectionTime: 90e9, Interval: 0, MaxFailures: 3 },
    });
  });

  test('as it was read changes nothing', async () => {
    await put(web);
    const { json } = await get('service-defaults/web');
    expect((await put(json)).json).toBe(true);
    expect((await get('service-defaults/web')).json).toEqual(json);
  });

  test('fills in the only possible name', async () => {
    for (const [Kind, Name] of [
      ['mesh', 'mesh'],
      ['proxy-defaults', 'global'],
      ['exported-services', 'default'],
    ] as const) {
      expect((await put({ Kind })).json).toBe(true);
      expect((await get(`${Kind}/${Name}`)).json).toMatchObject({ Kind, Name });
    }
  });

  test('of a partition puts it into the namespace default, whichever is requested', async () => {
    await api.call('PUT', '/v1/namespace/shop', { body: { Name: 'shop' } });
    expect((await put({ Kind: 'mesh' }, '?ns=shop')).json).toBe(true);
    expect((await get('mesh/mesh?ns=shop')).json).toMatchObject({ Namespace: 'default' });
    expect((await get('mesh')).json).toHaveLength(1);
  });
});

describe('a body is refused with all faults', () => {
  const pointersOf = async (body: unknown) => {
    const { status, json } = await put(body);
    return [status, json?.errors?.map(({ pointer }: { pointer: string }) => pointer)];
  };
  test.each<[string, unknown, readonly string[]]>([
    ['that is no object', [], ['']],
    ['without a kind', { Name: 'web' }, ['/Kind']],
    ['of no kind', { Kind: 'services', Name: 'web' }, ['/Kind']],
    ['whose kind is no text', { Kind: 7 }, ['/Kind']],
    ['with unknown fields', { ...web, Colour: 1, Expose: { x: 1 } }, ['/Colour', '/Expose/x']],
    ['with texts for numbers', { ...web, MaxInboundConnections: '5' }, ['/MaxInboundConnections']],
    ['with a field twice', { ...web, protocol: 'tcp' }, ['/protocol']],
    ['without a name', { Kind: 'service-defaults' }, ['/Name']],
    ['for every service', { ...web, Name: '*' }, ['/Name']],
    ['under another name than the one', { Kind: 'mesh', Name: 'x' }, ['/Name']],
    ['under another global name', { Kind: 'proxy-defaults', Name: 'web' }, ['/Name']],
    ['of another partition', { Kind: 'exported-services', Name: 'other' }, ['/Name']],
    [
      'of another namespace',
      { ...web, Namespace: 'x', Partition: 'y' },
      ['/Namespace', '/Partition'],
    ],
    ['with a NUL', { ...web, ExternalSNI: 'a\0b', Name: '\0' }, ['/Name', '/ExternalSNI']],
    ['with too long a name', { ...web, Name: 'x'.repeat(257) }, ['/Name']],
    [
      'with too much in Meta',
      { ...web, Meta: { ['k'.repeat(129)]: '', b: 'v'.repeat(513) } },
      [`/Meta/${'k'.repeat(64)}`, '/Meta/b'],
    ],
    [
      'with too many in Meta',
      { ...web, Meta: Object.fromEntries([...Array(65).keys()].map((n) => [`k${n}`, ''])) },
      ['/Meta'],
    ],
    [
      'with a list too long',
      { ...web, Destination: { Addresses: Array(1025).fill('a'), Port: 1 } },
      ['/Destination/Addresses'],
    ],
    [
      'that asks for tokens of providers, which there are none of',
      {
        Kind: 'service-intentions',
        Name: 'web',
        JWT: { Providers: [{ Name: 'okta' }] },
        Sources: [
          { Name: 'a', Permissions: [{ Action: 'deny', JWT: { Providers: [{ Name: 'okta' }] } }] },
        ],
      },
      ['/JWT/Providers/0/Name', '/Sources/0/Permissions/0/JWT/Providers/0/Name'],
    ],
    [
      'with invalid choices',
      { ...web, Mode: 'x', MeshGateway: { Mode: 'y' } },
      ['/Mode', '/MeshGateway/Mode'],
    ],
  ])('%s', async (_, body, pointers) => {
    const [status, found] = await pointersOf(body);
    expect(status).toBe(400);
    expect(new Set(found as string[])).toEqual(new Set(pointers));
  });

  test('above half a mebibyte: 413', async () => {
    expect((await put({ ...web, ExternalSNI: 'x'.repeat(2 ** 19) })).status).toBe(413);
  });
  test('that is not JSON', async () => {
    expect((await put('{')).json).toMatchObject({ status: 400, code: 'malformed-json' });
  });
});

describe('cas', () => {
  const indexOf = async () => (await get('service-defaults/web')).json.ModifyIndex as number;

  test('of a write: 0 only creates, N only replaces index N, none does both', async () => {
    expect((await put(web, '?cas=5')).json).toBe(false);
    expect((await get('service-defaults/web')).status).toBe(404);
    expect((await put(web, '?cas=0')).json).toBe(true);
    const made = await indexOf();
    expect((await put({ ...web, Protocol: 'tcp' }, '?cas=0')).json).toBe(false);
    expect((await put({ ...web, Protocol: 'tcp' }, `?cas=${made + 1}`)).json).toBe(false);
    // An unchanged entry is guarded as well.
    expect((await put(web, '?cas=0')).json).toBe(false);
    expect(await indexOf()).toBe(made);
    expect((await put(web, `?cas=${made}`)).json).toBe(true);
    expect(await indexOf()).toBe(made);
    expect((await put({ ...web, Protocol: 'tcp' }, `?cas=${made}`)).json).toBe(true);
    expect(await indexOf()).toBeGreaterThan(made);
    expect((await put(web)).json).toBe(true);
  });

  test('of a deletion: 0 never deletes, N deletes index N only', async () => {
    expect((await remove('service-defaults/web?cas=0')).json).toBe(false);
    expect((await remove('service-defaults/web?cas=3')).json).toBe(false);
    expect((await remove('service-defaults/web')).json).toBe(true);
    await put(web);
    const made = await indexOf();
    expect((await remove('service-defaults/web?cas=0')).json).toBe(false);
    expect((await remove(`service-defaults/web?cas=${made + 1}`)).json).toBe(false);
    expect(await indexOf()).toBe(made);
    expect((await remove(`service-defaults/web?cas=${made}`)).json).toBe(true);
    expect((await get('service-defaults/web')).status).toBe(404);
  });

  test('that is not a number: 400', async () => {
    expect((await put(web, '?cas=x')).json).toMatchObject({ status: 400, code: 'invalid-query' });
  });

  test('a dry run checks everything and changes nothing', async () => {
    expect((await put(web, '?dry_run')).json).toBe(true);
    expect((await put(web, '?dry_run&cas=9')).json).toBe(false);
    expect((await put({ ...web, Mode: 'x' }, '?dry_run')).status).toBe(400);
    expect((await get('service-defaults')).json).toEqual([]);
    await put(web);
    expect((await remove('service-defaults/web?dry_run')).json).toBe(true);
    expect((await get('service-defaults/web')).status).toBe(200);
  });
});

test('a write that would break other entries is refused and changes nothing', async () => {
  const HTTP = { PathPrefix: '/r' };
  const Sources = [{ Name: 'a', Permissions: [{ Action: 'allow', HTTP }] }];
  const intentions = { Kind: 'service-intentions', Name: 'web', Sources };
  expect((await put(intentions)).json).toMatchObject({ status: 409, code: 'config-conflict' });
  await put(web);
  expect((await put(intentions)).json).toBe(true);
  for (const query of ['', '?dry_run']) {
    const refused = await remove(`service-defaults/web${query}`);
    expect(refused.json).toMatchObject({ status: 409, code: 'config-conflict' });
    expect(refused.json.errors[0].message).toContain('"web"');
    expect((await put({ ...web, Protocol: 'tcp' }, query)).status).toBe(409);
  }
  expect((await get('service-defaults/web')).json.Protocol).toBe('http');
  expect((await remove('service-intentions/web')).json).toBe(true);
  expect((await remove('service-defaults/web')).json).toBe(true);
});

test('permissive is accepted if the mesh allows it, or if it was set before', async () => {
  const permissive = { ...web, MutualTLSMode: 'permissive' };
  expect((await put(permissive)).json).toMatchObject({ status: 409, code: 'config-conflict' });
  await put({ Kind: 'mesh', AllowEnablingPermissiveMutualTLS: true });
  expect((await put(permissive)).json).toBe(true);
  await put({ Kind: 'mesh', AllowEnablingPermissiveMutualTLS: false });
  expect((await put({ ...permissive, Protocol: 'grpc' })).json).toBe(true);
  expect((await put({ ...permissive, Name: 'api' })).status).toBe(409);
});

describe('namespace and partition', () => {
  beforeEach(async () => {
    await api.call('PUT', '/v1/namespace/shop', { body: { Name: 'shop' } });
    await api.call('PUT', '/v1/namespace/team', { body: { Name: 'team' } });
  });

  test('come from ns, then the header, then the token', async () => {
    const headers = { 'x-registry-namespace': 'shop' };
    const written = async (query: string, more: object) => {
      const Name = `of ${query} ${JSON.stringify(more)}`;
      const body = { ...web, Name };
      expect((await api.call('PUT', `/v1/config${query}`, { body, ...more })).json).toBe(true);
      const all = (await get('service-defaults?ns=*')).json;
      return all.find((one: { Name: string }) => one.Name === Name).Namespace;
    };
    expect(await written('', {})).toBe('default');
    expect(await written('', { headers })).toBe('shop');
    expect(await written('?ns=default', { headers })).toBe('default');
    const { SecretID: token } = await aclOf(api).token(
      { Policies: [{ ID: managementId }] },
      '?ns=team',
    );
    expect(await written('', { token })).toBe('team');
    expect(await written('', { headers, token })).toBe('shop');
  });

  test('in the body have to agree with the request', async () => {
    expect((await put({ ...web, Namespace: 'shop' })).json.errors[0].pointer).toBe('/Namespace');
    expect((await put({ ...web, Namespace: 'shop' }, '?ns=shop')).json).toBe(true);
    expect((await get('service-defaults/web')).status).toBe(404);
    expect((await get('service-defaults/web?ns=shop')).status).toBe(200);
  });

  test('have to exist', async () => {
    expect((await put(web, '?ns=none')).json).toMatchObject({ code: 'namespace-not-found' });
    expect((await put(web, '?partition=none')).json).toMatchObject({ code: 'partition-not-found' });
  });

  test('cannot be deleted while entries are in them', async () => {
    await put(web, '?ns=shop');
    const answer = await api.call('DELETE', '/v1/namespace/shop');
    expect(answer.json).toMatchObject({ code: 'in-use' });
    expect(answer.json.detail).toContain('configuration entries');
  });

  test('other datacenters are refused, the own one is accepted', async () => {
    expect((await put(web, '?dc=dc1')).json).toBe(true);
    for (const answer of [
      await put(web, '?dc=dc2'),
      await get('service-defaults/web?dc=dc2'),
      await get('service-defaults?dc=dc2'),
      await remove('service-defaults/web?dc=dc2'),
    ]) {
      expect(answer.json).toMatchObject({ status: 400, code: 'invalid-query' });
      expect(answer.json.detail).toContain('dc2');
    }
  });
});

describe('reading', () => {
  test('an unknown entry is a 404, and an unknown kind a 400', async () => {
    const missing = await get('service-defaults/none');
    expect(missing.json).toMatchObject({ status: 404, code: 'config-entry-not-found' });
    expect(missing.json.detail).toContain('service-defaults "none"');
    for (const path of ['nonsense', 'nonsense/web']) {
      expect((await get(path)).json).toMatchObject({ status: 400, code: 'config-kind-unknown' });
    }
    expect((await remove('nonsense/web')).json).toMatchObject({ code: 'config-kind-unknown' });
    expect((await api.call('PUT', '/v1/config/service-defaults/web', { body: web })).status).toBe(
      405,
    );
  });

  test('lists contain one kind or all kinds, and can be filtered, paged and reversed', async () => {
    for (const Name of ['c', 'a', 'b']) await put({ ...web, Name, Meta: { n: Name } });
    await put({ Kind: 'mesh' });
    const names = async (path: string) =>
      (await get(path)).json.map((one: { Name: string }) => one.Name);
    expect(await names('service-defaults')).toEqual(['a', 'b', 'c']);
    expect(await names('service-defaults?reverse&per_page=2')).toEqual(['c', 'b']);
    const page = await get('service-defaults?per_page=2');
    const token = page.headers['x-registry-nexttoken'];
    expect(await names(`service-defaults?next_token=${token}`)).toEqual(['c']);
    const where = (expression: string) => `filter=${encodeURIComponent(expression)}`;
    expect(await names(`service-defaults?${where('Meta.n == "b"')}`)).toEqual(['b']);
    expect(await names(`service-defaults?${where('Protocol == "http" and Name != "a"')}`)).toEqual([
      'b',
      'c',
    ]);
    expect(await names(`mesh?${where('AllowEnablingPermissiveMutualTLS == false')}`)).toEqual([
      'mesh',
    ]);
    expect((await get(`mesh?${where('Protocol == "http"')}`)).json).toMatchObject({
      code: 'invalid-filter',
    });
    expect(await names('service-intentions')).toEqual([]);
    const all = await api.call('GET', `/v1/config?${where('Kind == "mesh" or Name == "a"')}`);
    expect(all.json.map((one: { Kind: string }) => one.Kind)).toEqual(['mesh', 'service-defaults']);
  });

  test('waits for a change of its own result', async () => {
    await put(web);
    const { json } = await get('service-defaults/web');
    const answers: unknown[] = [];
    const wait = (path: string, index: number) =>
      get(`${path}?index=${index}&wait=10m`).then((answer) => answers.push([path, answer.status]));
    const one = wait('service-defaults/web', json.ModifyIndex);
    const missing = wait('service-defaults/api', json.ModifyIndex);
    const list = wait('mesh', json.ModifyIndex);
    await api.settle();
    await put({ ...web, Name: 'other' });
    await api.settle();
    expect(answers).toEqual([]);
    await put({ ...web, Protocol: 'tcp' });
    await one;
    expect(answers).toEqual([['service-defaults/web', 200]]);
    await put({ ...web, Name: 'api' });
    await missing;
    await put({ Kind: 'mesh' });
    await list;
    expect(answers.slice(1)).toEqual([
      ['service-defaults/api', 200],
      ['mesh', 200],
    ]);
  });

  test('accepts every consistency mode', async () => {
    await put(web);
    for (const flag of ['stale', 'consistent', 'consistent=false']) {
      expect((await get(`service-defaults/web?${flag}`)).status).toBe(200);
    }
    expect((await get('service-defaults?stale&consistent')).status).toBe(400);
  });
});

test('the OpenAPI document has every kind', async () => {
  const { json } = await api.call('GET', '/v1/openapi.json');
  const { oneOf } = json.paths['/v1/config'].put.requestBody.content['application/json'].schema;
  const shapes = oneOf.map(
    (one: { properties: { Kind: { enum: string[] } } }) => one.properties.Kind.enum,
  );
  expect(shapes).toEqual(kinds.map(({ kind }) => [kind]));
  expect(oneOf[0].additionalProperties).toBe(false);
});
