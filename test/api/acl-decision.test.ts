import { beforeAll, describe, expect, test } from 'vitest';
import { introduction, jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});

/** A token with one policy with these rules. */
async function tokenWith(name: string, Rules: string) {
  const policy = await api.call('PUT', '/v1/acl/policy', { body: { Name: name, Rules } });
  expect(policy.status).toBe(200);
  const role = await api.call('PUT', '/v1/acl/role', {
    body: { Name: `role-${name}`, Policies: [{ Name: name }] },
  });
  const { json } = await api.call('PUT', '/v1/acl/token', {
    body: { Roles: [{ ID: role.json.ID }] },
  });
  return { secret: json.SecretID as string, accessor: json.AccessorID as string };
}

const authorize = (body: unknown, token?: string | null) =>
  api.call('POST', '/v1/internal/acl/authorize', { body, ...(token !== undefined && { token }) });

describe("questions about the caller's permissions", () => {
  test('are answered in their order', async () => {
    const { secret } = await tokenWith(
      'ask',
      'service "web" { policy = "write" }\nkey_prefix "a/" { policy = "write" }',
    );
    const questions = [
      { Resource: 'service', Segment: 'web', Access: 'write' },
      { Resource: 'service', Segment: 'api', Access: 'read' },
      { Resource: 'intention', Segment: 'web', Access: 'read' },
      { Resource: 'key', Segment: 'a/', Access: 'write-prefix' },
      { Resource: 'operator', Access: 'read' },
      { Resource: 'service', Segment: 'web', Access: 'read', Namespace: 'other' },
    ];
    const { json, status } = await authorize(questions, secret);
    expect(status).toBe(200);
    const Allow = [true, false, true, true, false, false];
    expect(json).toEqual(questions.map((question, at) => ({ ...question, Allow: Allow[at] })));
    const ofRoot = await authorize(questions);
    expect(ofRoot.json.every((one: { Allow: boolean }) => one.Allow)).toBe(true);
    expect((await authorize([], null)).json).toEqual([]);
  });

  const wrong: readonly [string, unknown, RegExp][] = [
    ['more than 64 questions', Array(65).fill({ Resource: 'acl', Access: 'read' }), /at most 64/],
    ['an unknown resource', [{ Resource: 'x', Access: 'read' }], /names no resource "x"/],
    ['an unknown access', [{ Resource: 'acl', Access: 'list' }], /no access "list" to acl/],
    ['an unknown field', [{ Resource: 'acl', Access: 'read', Name: 'x' }], /Name/],
    ['no list', { Resource: 'acl', Access: 'read' }, /list|array/],
  ];
  test.each(wrong)('are refused with %s', async (_, body, fault) => {
    const { status, json } = await authorize(body);
    expect(status).toBe(400);
    const messages = json.errors.map(({ message }: { message: string }) => message);
    expect(messages.join('\n')).toMatch(fault);
  });
});

describe('an explanation', () => {
  const explain = (query: string, token?: string) =>
    api.call('GET', `/v1/acl/explain?${query}`, token === undefined ? {} : { token });

  test('names the rule, its position and the way from the token', async () => {
    const rules = 'key_prefix "" { policy = "read" }\n\nservice "web" {\n  policy = "deny"\n}';
    const { secret, accessor } = await tokenWith('why', rules);
    const { json, status } = await explain('permission=service:read&name=web', secret);
    expect(status).toBe(200);
    expect(json).toEqual({
      AccessorID: accessor,
      Permission: 'service:read on "web"',
      Allowed: false,
      Reason: 'The nearest rule denies it.',
      Rules: [
        {
          Policy: { ID: expect.any(String), Name: 'why' },
          Via: ['the token → role "role-why" → policy "why"'],
          Effect: 'deny',
          Text: 'service "web" {\n  policy = "deny"\n}',
          Line: 3,
          Column: 1,
        },
      ],
      Missing: 'service "web" { policy = "read" }',
    });
    expect((await explain(`permission=key:read&name=a&accessor=${accessor}`)).json).toMatchObject({
      AccessorID: accessor,
      Allowed: true,
      Rules: [{ Effect: 'allow', Line: 1 }],
    });
  });

  test('names the missing rule', async () => {
    const { secret } = await tokenWith('missing', '');
    const { json } = await explain('permission=namespace:submit-job', secret);
    expect(json).toMatchObject({
      Allowed: false,
      Reason: 'No rule of its policies speaks of it, so the default policy decides: deny.',
      Missing: 'namespace "default" { capabilities = ["submit-job"] }',
    });
  });

  test('of another token needs acl:read; an unknown token is a 404', async () => {
    const { secret, accessor } = await tokenWith('other', 'acl = "read"');
    const { secret: stranger } = await tokenWith('stranger', '');
    const query = `permission=acl:write&accessor=${accessor}`;
    expect((await explain(query, stranger)).status).toBe(403);
    expect((await explain(query, secret)).status).toBe(200);
    const missing = 'permission=acl:write&accessor=99999999-9999-4999-8999-999999999999';
    expect((await explain(missing, stranger)).status).toBe(403);
    expect((await explain(missing, secret)).json.code).toBe('accessor-not-found');
    expect((await explain('permission=acl:x', secret)).json.code).toBe('invalid-query');
    expect((await explain('', secret)).json.code).toBe('invalid-query');
  });

  test('is not available with access control off', async () => {
    const off = await startApi({ aclEnabled: false });
    const ask = await off.call('GET', '/v1/acl/explain?permission=acl:read', { token: null });
    expect([ask.status, ask.json.code]).toEqual([401, 'acl-disabled']);
    const authorizing = await off.call('POST', '/v1/internal/acl/authorize', { body: [] });
    expect([authorizing.status, authorizing.json.code]).toEqual([401, 'acl-disabled']);
  });
});

describe('permissions', () => {
  test('to nodes show the nodes in the rules only', async () => {
    await api.call('PUT', '/v1/node/register', { body: nodeBody(), token: introduction });
    const ID = '55555555-5555-4555-8555-555555555555';
    const other = { ...nodeBody({ ID, Name: 'node-2' }), SecretID: ID };
    expect((await api.call('PUT', '/v1/node/register', { body: other })).status).toBe(200);
    const { secret: token } = await tokenWith('one-node', 'node "node-1" { policy = "read" }');
    const { json } = await api.call('GET', '/v1/nodes', { token });
    expect(json.map(({ Name }: { Name: string }) => Name)).toEqual(['node-1']);
    const read = async (id: string) => (await api.call('GET', `/v1/node/${id}`, { token })).status;
    expect([await read(nodeBody().Node.ID), await read(ID)]).toEqual([200, 403]);
    const denied = await api.call('GET', `/v1/node/${ID}`, { token });
    expect(denied.json.detail).not.toContain('node-2');
    expect((await api.call('GET', '/v1/nodes')).json).toHaveLength(2);
  });

  test('to a node show its allocations in namespaces whose jobs the caller may read', async () => {
    await api.call('POST', '/v1/jobs', { body: jobBody() });
    await api.settle();
    const url = `/v1/allocations`;
    const [placed] = (await api.call('GET', url)).json;
    const list = async (token?: string) => {
      const options = token === undefined ? {} : { token };
      return (await api.call('GET', `/v1/node/${placed.NodeID}/allocations`, options)).json;
    };
    const { secret } = await tokenWith('nodes-only', 'node_prefix "" { policy = "read" }');
    expect((await list()).length).toBeGreaterThan(0);
    expect(await list(secret)).toEqual([]);
  });

  test('may be a part of submit-job', async () => {
    const rules = 'namespace "default" { capabilities = ["register-job", "deregister-job"] }';
    const { secret: token } = await tokenWith('parts', rules);
    const statusOf = async (method: string, path: string, body?: unknown) =>
      (await api.call(method, path, { token, body })).status;
    expect(await statusOf('POST', '/v1/jobs', jobBody())).toBe(200);
    expect(await statusOf('GET', '/v1/job/web')).toBe(403);
    expect(await statusOf('DELETE', '/v1/job/web?purge=true')).toBe(403);
    expect(await statusOf('DELETE', '/v1/job/web')).toBe(200);
  });

  test("of a namespace's policy give nothing outside it", async () => {
    expect((await api.call('PUT', '/v1/namespace', { body: { Name: 'team' } })).status).toBe(200);
    const body = { Name: 'all', Rules: 'namespace "*" { policy = "write" }\noperator = "write"' };
    await api.call('PUT', '/v1/acl/policy?ns=team', { body });
    const links = { Policies: [{ Name: 'all' }] };
    const { json } = await api.call('PUT', '/v1/acl/token?ns=team', { body: links });
    const token = json.SecretID;
    const statusIn = async (path: string) => (await api.call('GET', path, { token })).status;
    expect(await statusIn('/v1/jobs?namespace=team')).toBe(200);
    expect(await statusIn('/v1/jobs?namespace=default')).toBe(403);
    expect(await statusIn('/v1/partitions')).toBe(403);
  });

  describe('write access to the access control of one namespace', () => {
    const management = [{ Name: 'global-management' }];
    const put = (path: string, body: object, token?: string) =>
      api.call('PUT', path, { body, ...(token !== undefined && { token }) });
    let token: string;
    beforeAll(async () => {
      await put('/v1/namespace', { Name: 'guild' });
      await put('/v1/acl/policy?ns=guild', { Name: 'own', Rules: 'operator = "write"' });
      const rules = 'namespace "guild" { acl = "write" }\noperator = "write"';
      token = (await tokenWith('guild', rules)).secret;
    });

    const links: readonly [string, string, object][] = [
      ['a token', '/v1/acl/token?ns=guild', { Policies: management }],
      ['a role', '/v1/acl/role?ns=guild', { Name: 'all', Policies: management }],
      ['a namespace', '/v1/namespace', { Name: 'guild', ACLs: { PolicyDefaults: management } }],
    ];
    test.each(links)('does not lead to more permissions: by %s', async (_, path, body) => {
      const { status, json } = await put(path, body, token);
      expect([status, json.code]).toEqual([403, 'permission-denied']);
      expect(json.detail).toContain('acl:write, which linking "global-management" takes');
      expect((await put(path, body)).status).toBe(200);
    });

    test('includes linking its own policies, and keeps links made by others', async () => {
      const own = { Name: 'own' };
      const made = await put('/v1/acl/token?ns=guild', { Policies: [own] }, token);
      expect(made.status).toBe(200);
      const url = `/v1/acl/token/${made.json.AccessorID}?ns=guild`;
      const both = { Policies: [own, ...management] };
      expect((await put(url, both, token)).status).toBe(403);
      expect((await put(url, both)).status).toBe(200);
      expect((await put(url, { ...both, Description: 'mine' }, token)).status).toBe(200);
    });
  });

  test('revoking a permission ends waiting blocking queries', async () => {
    const { secret: token, accessor } = await tokenWith(
      'waits',
      'namespace "*" { policy = "read" }',
    );
    await api.settle();
    const { headers } = await api.call('GET', '/v1/jobs', { token });
    const waiting = api.call('GET', `/v1/jobs?index=${headers['x-scheduler-index']}`, { token });
    await api.settle();
    expect((await api.call('DELETE', `/v1/acl/token/${accessor}`)).json).toBe(true);
    await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'wakes' }) });
    await api.settle();
    expect((await waiting).status).toBe(403);
  });
});
