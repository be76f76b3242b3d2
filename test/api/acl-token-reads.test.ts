import { beforeEach, describe, expect, test } from 'vitest';
import { aclOf, anonymousId, callsTo, managementId, nobody } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let acl: ReturnType<typeof aclOf>;
beforeEach(async () => {
  api = await startApi();
  acl = aclOf(api);
});
const { put, get, remove } = callsTo(() => api);

describe('reading', () => {
  test('of self needs no permission, shows the secret, and is anonymous without a token', async () => {
    const { AccessorID, SecretID } = await acl.token();
    expect((await get('token/self', SecretID)).json).toMatchObject({ AccessorID, SecretID });
    const anonymous = (await get('token/self', null)).json;
    expect(anonymous).toMatchObject({ AccessorID: anonymousId, SecretID: 'anonymous' });
    expect((await get('token/self', nobody)).status).toBe(403);
  });

  test('hides secrets without write permission', async () => {
    const reader = await acl.holder('acl = "read"');
    const writer = await acl.holder('acl = "write"');
    const { AccessorID, SecretID } = await acl.token();
    const seen = (rows: { SecretID: string }[]) => new Set(rows.map((row) => row.SecretID));
    expect((await get(`token/${AccessorID}`, reader)).json.SecretID).toBe('<hidden>');
    expect((await get(`token/${AccessorID}?expanded`, reader)).text).not.toContain(SecretID);
    expect(seen((await get('tokens', reader)).json)).toEqual(new Set(['<hidden>']));
    expect((await get(`token/${AccessorID}`, writer)).json.SecretID).toBe(SecretID);
    expect(seen((await get('tokens', writer)).json)).toContain(SecretID);
    // A filter must not help to guess a secret.
    const filter = encodeURIComponent(`SecretID == "${SecretID}"`);
    expect((await get(`tokens?filter=${filter}`, reader)).json.code).toBe('invalid-filter');
  });

  test('of an unknown token is a 404', async () => {
    for (const path of [`token/${nobody}`, 'token/x']) {
      const { status, json } = await get(path);
      expect([status, json.code]).toEqual([404, 'accessor-not-found']);
    }
  });

  test('expanded shows everything that affects the token, and expanded=false does not', async () => {
    const [direct, through] = [await acl.policy('direct'), await acl.policy('through')];
    const role = await acl.role('dev', {
      Policies: [{ ID: through.ID }],
      NodeIdentities: [{ NodeName: 'n', Datacenter: 'dc1' }],
    });
    const token = await acl.token({
      Policies: [{ ID: direct.ID }],
      Roles: [{ ID: role.ID }],
      ServiceIdentities: [{ ServiceName: 'web', Datacenters: ['dc1'] }],
      TemplatedPolicies: [{ TemplateName: 'builtin/dns' }],
    });
    const { json } = await get(`token/${token.AccessorID}?expanded=true`);
    expect(json).toMatchObject(token);
    expect(json.ExpandedPolicies.slice(0, 1)).toEqual([direct]);
    expect(json.ExpandedPolicies).toContainEqual(through);
    const synthetic = json.ExpandedPolicies.filter((one: { Name: string }) =>
      one.Name.startsWith('synthetic-policy-'),
    );
    expect(synthetic.map((one: { Description: string }) => one.Description)).toEqual([
      'synthetic policy for service identity "web"',
      'synthetic policy generated from templated policy: builtin/dns',
      'synthetic policy for node identity "n"',
    ]);
    expect(synthetic[0]).toMatchObject({ Datacenters: ['dc1'], CreateIndex: 0, ModifyIndex: 0 });
    expect(json.ExpandedRoles).toEqual([role]);
    expect(json).toMatchObject({
      NamespaceDefaultPolicies: null,
      NamespaceDefaultRoles: null,
      AgentACLDefaultPolicy: 'deny',
      AgentACLDownPolicy: 'extend-cache',
      ResolvedByAgent: 'test',
    });
    const plain = (await get(`token/${token.AccessorID}?expanded=false`)).json;
    expect(plain).toEqual(token);
    const bare = await acl.token();
    const nothing = (await get(`token/${bare.AccessorID}?expanded`)).json;
    expect([nothing.ExpandedPolicies, nothing.ExpandedRoles]).toEqual([[], []]);
  });
});

test('permissions of a role apply in the namespace of the role', async () => {
  await api.call('PUT', '/v1/namespace/dev', { body: {} });
  const role = await acl.role('r', { ServiceIdentities: [{ ServiceName: 'web' }] });
  const token = await acl.token(
    { Roles: [{ ID: role.ID }], ServiceIdentities: [{ ServiceName: 'api' }] },
    '?ns=dev',
  );
  const { json } = await get(`token/${token.AccessorID}?ns=dev&expanded`);
  const places = json.ExpandedPolicies.map((one: { Description: string; Namespace: string }) => [
    /"(.*)"/.exec(one.Description)![1],
    one.Namespace,
  ]);
  expect(places).toEqual([
    ['api', 'dev'],
    ['web', 'default'],
  ]);
  const body = ['api', 'web'].flatMap((Segment) =>
    ['dev', 'default'].map((Namespace) => ({
      Resource: 'service',
      Access: 'write',
      Segment,
      Namespace,
    })),
  );
  const asked = { token: token.SecretID, body };
  const decided = (await api.call('POST', '/v1/internal/acl/authorize', asked)).json;
  expect(decided.map((one: { Allow: boolean }) => one.Allow)).toEqual([true, false, false, true]);
});

describe('the list', () => {
  test('has the anonymous token and the root token, which links global-management', async () => {
    const { json } = await get('tokens');
    expect(json).toHaveLength(2);
    expect(json.map((one: { Policies: unknown }) => one.Policies)).toContainEqual([
      { ID: managementId, Name: 'global-management' },
    ]);
    expect(json[0].AccessorID).toBe(anonymousId);
  });

  test('has filters, which all have to match', async () => {
    const { ID: policy } = await acl.policy('p');
    const { ID: role } = await acl.role('r');
    const Policies = [{ ID: policy }];
    const Roles = [{ ID: role }];
    const ServiceIdentities = [{ ServiceName: 'web' }];
    await acl.token({ Description: 'a', Policies });
    await acl.token({ Description: 'b', Roles });
    await acl.token({ Description: 'c', ServiceIdentities });
    await acl.token({ Description: 'd', Policies, Roles, ServiceIdentities });
    const expectList = async (query: string, expected: string[]) => {
      const { json } = await get(`tokens?${query}`);
      const found = json.map((one: { Description: string }) => one.Description);
      expect(found.sort(), query).toEqual(expected);
    };
    await expectList(`policy=${policy}`, ['a', 'd']);
    await expectList(`role=${role}`, ['b', 'd']);
    await expectList('servicename=web', ['c', 'd']);
    await expectList(`policy=${policy}&role=${role}`, ['d']);
    await expectList(`policy=${policy}&servicename=api`, []);
    await expectList('authmethod=sso', []);
    await expectList(`policy=${nobody}`, []);
    await expectList(`filter=${encodeURIComponent('Description == "b"')}`, ['b']);
    await expectList(`filter=${encodeURIComponent('Policies is not empty')}&role=${role}`, ['d']);
  });

  test('comes in pages', async () => {
    for (let count = 0; count < 5; count++) await acl.token();
    const whole = (await get('tokens')).json;
    const found = [];
    for (let token = '', page = 0; page < 10; page++) {
      const answer = await get(`tokens?per_page=3&next_token=${token}`);
      found.push(...answer.json);
      token = answer.headers['x-registry-nexttoken'] ?? '';
      if (token === '') break;
    }
    expect(found).toEqual(whole);
  });
});

describe('blocking', () => {
  const waits = async (path: string, change: () => Promise<unknown>) => {
    const first = await get(path);
    const index = first.headers['x-registry-index'];
    let answered = false;
    const waiting = get(`${path}${path.includes('?') ? '&' : '?'}index=${index}`).then((answer) => {
      answered = true;
      return answer;
    });
    await api.settle();
    expect(answered, path).toBe(false);
    await acl.policy('unrelated');
    await api.settle();
    expect(answered, path).toBe(false);
    await change();
    await api.settle();
    expect(answered, path).toBe(true);
    const answer = await waiting;
    expect(Number(answer.headers['x-registry-index'])).toBeGreaterThan(Number(index));
    return answer;
  };

  test.each(['token/ACCESSOR', 'token/ACCESSOR?expanded', 'tokens'])('%s', async (path) => {
    const { AccessorID } = await acl.token();
    await waits(path.replace('ACCESSOR', AccessorID), () =>
      put(`token/${AccessorID}`, { Description: 'new' }),
    );
  });

  test('wakes when a linked policy is renamed', async () => {
    const { ID } = await acl.policy('old');
    const { AccessorID } = await acl.token({ Policies: [{ ID }] });
    const { json } = await waits(`token/${AccessorID}`, () => put(`policy/${ID}`, { Name: 'new' }));
    expect(json.Policies).toEqual([{ ID, Name: 'new' }]);
  });

  test('wakes on a delete: the list with its rest, the token with a 404', async () => {
    const { AccessorID } = await acl.token();
    const gone = () => remove(`token/${AccessorID}`);
    expect((await waits(`token/${AccessorID}`, gone)).status).toBe(404);
  });

  test('accepts stale or consistent, but not both', async () => {
    expect((await get('tokens?stale')).status).toBe(200);
    expect((await get('tokens?consistent')).status).toBe(200);
    expect((await get('tokens?stale&consistent')).status).toBe(400);
  });
});

test('every route needs its permission, and is disabled when access control is off', async () => {
  const reader = await acl.holder('acl = "read"');
  const { AccessorID } = await acl.token();
  const off = await startApi({ aclEnabled: false });
  const routes: [string, string, string][] = [
    ['PUT', 'token', 'acl:write'],
    ['GET', `token/${AccessorID}`, 'acl:read'],
    ['PUT', `token/${AccessorID}`, 'acl:write'],
    ['PUT', `token/${AccessorID}/clone`, 'acl:write'],
    ['DELETE', `token/${AccessorID}`, 'acl:write'],
    ['GET', 'tokens', 'acl:read'],
  ];
  for (const [method, path, permission] of routes) {
    const body = method === 'PUT' ? { body: {} } : {};
    const url = `/v1/acl/${path}`;
    const denied = await api.call(method, url, { ...body, token: null });
    expect([denied.status, denied.json.code]).toEqual([403, 'permission-denied']);
    expect(denied.json.detail).toContain(permission);
    const asReader = await api.call(method, url, { ...body, token: reader });
    expect(asReader.status, url).toBe(permission === 'acl:read' ? 200 : 403);
    const disabled = await off.call(method, url, body);
    expect([disabled.status, disabled.json.code], url).toEqual([401, 'acl-disabled']);
  }
  expect((await off.call('GET', '/v1/acl/token/self')).status).toBe(401);
});
