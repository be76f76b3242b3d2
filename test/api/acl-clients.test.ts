import { beforeAll, describe, expect, test } from 'vitest';
import { signingPair } from '../../src/server/login/login.test-helper.ts';
import { aclOf, callsTo, nobody } from '../support/acl.ts';
import { rootToken, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let pem: string;
beforeAll(async () => {
  api = await startApi();
  pem = (await signingPair('ES256', 'k')).pem;
});
const { put, get } = callsTo(() => api);
const preview = (path: string, body?: unknown) =>
  api.call('POST', `/v1/acl/templated-policy/preview/${path}`, body === undefined ? {} : { body });

describe('requests as clients of other servers send them', () => {
  test('an empty type keeps the type of an auth method, and is none for a new method', async () => {
    const keys = { JWTValidationPubKeys: [pem], BoundIssuer: 'us' };
    const method = { Name: 'm', Type: 'jwt', Config: keys };
    expect((await put('auth-method', method)).status).toBe(200);
    const changed = await put('auth-method/m', { ...method, Type: '', Description: 'new' });
    expect(changed.json).toMatchObject({ Type: 'jwt', Description: 'new' });
    const { status, json } = await put('auth-method', { ...method, Name: 'n', Type: '' });
    expect([status, json.errors[0].pointer]).toEqual([400, '/Type']);
  });

  test('null counts as no body where the body is optional', async () => {
    const { status, json } = await preview('builtin/dns', null);
    expect([status, json.Rules]).toEqual([200, expect.stringContaining('query_prefix')]);
    expect((await preview('builtin/service', null)).json.errors[0].pointer).toBe('/Name');
    expect((await put('token', null)).status).toBe(400);
  });

  test('a login may present a deleted token', async () => {
    const login = (token: string | null, path: string) =>
      api.call('POST', `/v1/acl/${path}`, {
        token,
        body: { AuthMethod: 'none', BearerToken: 'x' },
      });
    const [old, without] = [await login(nobody, 'login'), await login(null, 'login')];
    expect([old.status, old.json]).toEqual([without.status, without.json]);
    expect(old.json.code).not.toBe('token-not-found');
    expect((await login(nobody, 'logout')).json.code).toBe('token-not-found');
  });

  test('access control is not replicated, and anyone may read so', async () => {
    const { status, json } = await get('replication', null);
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({ Enabled: false, Running: false, SourceDatacenter: '' }),
    ]);
  });

  test('a clone accepts the whole token that was read, and copies all but namespace, partition and description', async () => {
    const source = await aclOf(api).token({ NodeIdentities: [{ NodeName: 'n', Datacenter: 'd' }] });
    const body = { ...source, Description: 'copy', NodeIdentities: [] };
    const { status, json } = await put(`token/${source.AccessorID}/clone`, body);
    expect([status, json.Description, json.NodeIdentities]).toEqual([
      200,
      'copy',
      source.NodeIdentities,
    ]);
    expect(json.AccessorID).not.toBe(source.AccessorID);
    expect((await put(`token/${source.AccessorID}/clone`, { Colour: 1 })).status).toBe(400);
  });

  test('unused variables of a template are dropped, in links and in previews', async () => {
    const link = (TemplateName: string, TemplateVariables: object) =>
      put('token', { TemplatedPolicies: [{ TemplateName, TemplateVariables }] });
    const [dns, service] = [
      await link('builtin/dns', { name: 'x' }),
      await link('builtin/service', { name: 'a', x: 'y' }),
    ];
    expect(dns.json.TemplatedPolicies[0].TemplateVariables).toEqual({});
    expect(service.json.TemplatedPolicies[0].TemplateVariables).toEqual({ name: 'a' });
    expect((await preview('builtin/dns', { Name: 'x' })).status).toBe(200);
  });

  test.each([
    ['builtin/service?ns=none', {}, 'namespace-not-found'],
    ['builtin/service?ns=*', {}, 'namespace-not-found'],
    ['builtin/service', { Partition: 'none' }, 'partition-not-found'],
  ])('a preview with something missing is refused: %s %j', async (path, more, code) => {
    const { status, json } = await preview(path, { Name: 'web', ...more });
    expect([status, json.code]).toEqual([404, code]);
  });

  test('roles in a list include their templates, so that they can be sent back', async () => {
    const templates = { TemplatedPolicies: [{ TemplateName: 'builtin/dns' }] };
    const { ID } = await aclOf(api).role('templated', templates);
    const plain = await aclOf(api).role('plain');
    const listed = new Map(
      (await get('roles')).json.map((role: { ID: string }) => [role.ID, role]),
    );
    expect(listed.get(ID)).toMatchObject(templates);
    expect(listed.get(plain.ID)).not.toHaveProperty('TemplatedPolicies');
    await put(`role/${ID}`, listed.get(ID));
    expect((await get(`role/${ID}`)).json).toMatchObject(templates);
  });

  test.each([
    [{ ExpirationTTL: 59_999_999_999 }, /at least 1 minute/],
    [{ ExpirationTime: '2026-02-30T00:00:00Z' }, /must be a time such as/],
  ])(
    'an expiry that is malformed, or too early by a nanosecond, is refused: %j',
    async (body, message) => {
      const { status, json } = await put('token', body);
      expect([status, json.errors[0].message]).toEqual([400, expect.stringMatching(message)]);
    },
  );

  test.each([
    ['index=&wait=', 200],
    ['max_stale=5s', 200],
    ['max_stale=x', 400],
    ['index=x', 400],
  ])('a list with %s: %i', async (query, status) => {
    expect((await get(`tokens?${query}`)).status).toBe(status);
  });
});

describe('HEAD', () => {
  const ask = (method: string, path: string, token: string | null = rootToken) =>
    api.call(method, path, { token });

  test.each([
    '/v1/jobs',
    '/v1/acl/tokens',
    '/v1/acl/templated-policies',
    '/v1/config/mesh/mesh',
    '/v1/agent/self',
  ])('is answered as GET is: %s', async (path) => {
    for (const token of [rootToken, null, nobody]) {
      const [head, read] = [await ask('HEAD', path, token), await ask('GET', path, token)];
      expect(head.status).toBe(read.status);
      expect(head.headers).toEqual(read.headers);
    }
  });

  test('ends at once where GET is a stream, and is listed among the methods', async () => {
    expect(await ask('HEAD', '/v1/event/stream')).toMatchObject({ status: 200, text: '' });
    expect((await ask('HEAD', '/v1/event/stream', null)).status).toBe(403);
    const { status, headers } = await ask('HEAD', '/v1/jobs/parse');
    expect([status, headers.allow]).toEqual([405, 'OPTIONS, POST, PUT']);
    expect((await ask('OPTIONS', '/v1/jobs')).headers.allow).toBe('OPTIONS, GET, HEAD, POST, PUT');
  });
});
