import { beforeEach, describe, expect, test } from 'vitest';
import { aclOf, anonymousId, managementId, nobody, readOnlyId, uuid } from '../support/acl.ts';
import { rootToken, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let acl: ReturnType<typeof aclOf>;
beforeEach(async () => {
  api = await startApi();
  acl = aclOf(api);
});

const put = (path: string, body: unknown, token: string | null = rootToken) =>
  api.call('PUT', `/v1/acl/${path}`, { body, token });
const get = (path: string, token: string | null = rootToken) =>
  api.call('GET', `/v1/acl/${path}`, { token });
const later = (ms: number) => new Date(api.world.clock.nowMs() + ms).toISOString();
const minute = 60_000;
const hour = 60 * minute;

test('a new token has everything that the contract lists', async () => {
  const { status, json, headers } = await put('token', { Description: 'ci' });
  expect(status).toBe(200);
  expect(json).toEqual({
    AccessorID: expect.stringMatching(uuid),
    SecretID: expect.stringMatching(uuid),
    Description: 'ci',
    ...{ Policies: [], Roles: [], TemplatedPolicies: [] },
    ...{ ServiceIdentities: [], NodeIdentities: [], Local: false },
    ...{ AuthMethod: '', AuthMethodNamespace: '', ExpirationTime: null },
    CreateTime: '2026-01-01T00:00:00Z',
    Hash: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
    ...{ Namespace: 'default', Partition: 'default' },
    CreateIndex: json.CreateIndex,
    ModifyIndex: json.CreateIndex,
  });
  expect(headers['x-registry-index']).toBe(String(json.CreateIndex));
  expect((await get('token/self', json.SecretID)).json).toEqual(json);
  expect((await get(`token/${json.AccessorID.toUpperCase()}`)).json).toEqual(json);
});

test('ids of the caller’s own making are taken', async () => {
  const ids = { AccessorID: nobody, SecretID: '88888888-8888-4888-8888-888888888888' };
  expect((await put('token', ids)).json).toMatchObject(ids);
  expect((await get('token/self', ids.SecretID)).json.AccessorID).toBe(nobody);
});

test('links are by id or name, once each, and show both; a rename goes along', async () => {
  const { ID } = await acl.policy('ops');
  const role = await acl.role('dev');
  const { json } = await put('token', {
    Policies: [{ Name: 'ops' }, { ID }, { ID, Name: 'other' }],
    Roles: [{ Name: 'dev' }],
  });
  expect(json.Policies).toEqual([{ ID, Name: 'ops' }]);
  expect(json.Roles).toEqual([{ ID: role.ID, Name: 'dev' }]);
  await put(`policy/${ID}`, { Name: 'operators' });
  expect((await get(`token/${json.AccessorID}`)).json.Policies).toEqual([
    { ID, Name: 'operators' },
  ]);
  await api.call('DELETE', `/v1/acl/policy/${ID}`);
  expect((await get(`token/${json.AccessorID}`)).json.Policies).toEqual([]);
});

test('identities are merged and sorted, templates get their id', async () => {
  const { json } = await put('token', {
    ServiceIdentities: [
      { ServiceName: 'web', Datacenters: ['b'] },
      { ServiceName: 'web', Datacenters: ['a', 'b'] },
      { ServiceName: 'api', Datacenters: ['a'] },
      { ServiceName: 'api' },
    ],
    NodeIdentities: [
      { NodeName: 'n', Datacenter: 'a' },
      { NodeName: 'n', Datacenter: 'a' },
    ],
    TemplatedPolicies: [
      { TemplateName: 'builtin/service', TemplateVariables: { name: 'web' } },
      { TemplateName: 'builtin/dns' },
      { TemplateName: 'builtin/dns' },
    ],
  });
  expect(json.ServiceIdentities).toEqual([
    { ServiceName: 'api', Datacenters: [] },
    { ServiceName: 'web', Datacenters: ['a', 'b'] },
  ]);
  expect(json.NodeIdentities).toEqual([{ NodeName: 'n', Datacenter: 'a' }]);
  expect(json.TemplatedPolicies).toEqual([
    {
      TemplateID: '00000000-0000-0000-0000-000000000005',
      TemplateName: 'builtin/dns',
      ...{ TemplateVariables: {}, Datacenters: [] },
    },
    {
      TemplateID: '00000000-0000-0000-0000-000000000003',
      TemplateName: 'builtin/service',
      ...{ TemplateVariables: { name: 'web' }, Datacenters: [] },
    },
  ]);
});

const long = 'x'.repeat(257);

describe('a new token is refused with', () => {
  test.each([
    ['an accessor that is no UUID', { AccessorID: 'x' }, '/AccessorID'],
    ['a reserved accessor', { AccessorID: anonymousId }, '/AccessorID'],
    ['a secret that is no UUID', { SecretID: 'x' }, '/SecretID'],
    ['a reserved secret', { SecretID: managementId }, '/SecretID'],
    ['a negative time to live', { ExpirationTTL: '-1m' }, '/ExpirationTTL'],
    ['a time to live that is short', { ExpirationTTL: '59s' }, '/ExpirationTTL'],
    ['a time to live that is long', { ExpirationTTL: '24h1s' }, '/ExpirationTTL'],
    ['a time that is none', { ExpirationTime: 'tomorrow' }, '/ExpirationTime'],
    ['a time in the past', { ExpirationTime: '2020-01-01T00:00:00Z' }, '/ExpirationTime'],
    ['a time that is near', { ExpirationTime: '2026-01-01T00:00:59Z' }, '/ExpirationTime'],
    ['a time that is far', { ExpirationTime: '2026-01-02T00:00:01Z' }, '/ExpirationTime'],
    [
      'both time and time to live',
      { ExpirationTime: '2026-01-01T01:00:00Z', ExpirationTTL: '1h' },
      '/ExpirationTime',
    ],
    ['an auth method', { AuthMethod: 'x' }, '/AuthMethod'],
    ['a policy that is not there', { Policies: [{ Name: 'x' }] }, '/Policies/0'],
    ['a policy id that is not there', { Policies: [{ ID: nobody }] }, '/Policies/0'],
    ['a link to nothing', { Policies: [{}] }, '/Policies/0'],
    ['a role that is not there', { Roles: [{ Name: 'x' }] }, '/Roles/0'],
    ['a service without a name', { ServiceIdentities: [{}] }, '/ServiceIdentities/0/ServiceName'],
    [
      'a service in capitals',
      { ServiceIdentities: [{ ServiceName: 'Web' }] },
      '/ServiceIdentities/0/ServiceName',
    ],
    [
      'a service with a long name',
      { ServiceIdentities: [{ ServiceName: long }] },
      '/ServiceIdentities/0/ServiceName',
    ],
    [
      'a service that ends in a dash',
      { ServiceIdentities: [{ ServiceName: 'web-' }] },
      '/ServiceIdentities/0/ServiceName',
    ],
    [
      'datacenters on a local token',
      { Local: true, ServiceIdentities: [{ ServiceName: 'web', Datacenters: ['a'] }] },
      '/ServiceIdentities/0/Datacenters',
    ],
    [
      'a node without a name',
      { NodeIdentities: [{ Datacenter: 'a' }] },
      '/NodeIdentities/0/NodeName',
    ],
    [
      'a node without a datacenter',
      { NodeIdentities: [{ NodeName: 'n' }] },
      '/NodeIdentities/0/Datacenter',
    ],
    [
      'a node in capitals',
      { NodeIdentities: [{ NodeName: 'N', Datacenter: 'a' }] },
      '/NodeIdentities/0/NodeName',
    ],
    ['a template without a name', { TemplatedPolicies: [{}] }, '/TemplatedPolicies/0/TemplateName'],
    [
      'a template that is not there',
      { TemplatedPolicies: [{ TemplateName: 'builtin/x' }] },
      '/TemplatedPolicies/0/TemplateName',
    ],
    [
      'a template without its variable',
      { TemplatedPolicies: [{ TemplateName: 'builtin/service' }] },
      '/TemplatedPolicies/0/TemplateVariables/name',
    ],
    [
      'a variable that ends the rule',
      {
        TemplatedPolicies: [
          { TemplateName: 'builtin/service', TemplateVariables: { name: 'a" {} acl = "' } },
        ],
      },
      '/TemplatedPolicies/0/TemplateVariables/name',
    ],
    ['an unknown field', { Colour: 'red' }, '/Colour'],
    ['a wrong type', { Local: 'yes' }, '/Local'],
    ['a long description', { Description: 'x'.repeat(1001) }, '/Description'],
  ])('%s', async (_title, body, pointer) => {
    const { status, json } = await put('token', body);
    expect([status, json.code, json.errors[0].pointer]).toEqual([400, 'invalid-body', pointer]);
  });

  test('an accessor or secret that any token has, as either', async () => {
    const { AccessorID, SecretID } = await acl.token();
    for (const [body, field] of [
      [{ AccessorID }, 'AccessorID'],
      [{ AccessorID: SecretID }, 'AccessorID'],
      [{ SecretID }, 'SecretID'],
      [{ SecretID: AccessorID }, 'SecretID'],
      [{ AccessorID: nobody, SecretID: nobody }, 'SecretID'],
    ] as const) {
      const { status, json, text } = await put('token', body);
      expect([status, json.code]).toEqual([409, 'id-taken']);
      expect(json.detail).toContain(field);
      expect(text).not.toContain(SecretID);
    }
  });

  test('a body that is none, and no body', async () => {
    expect((await put('token', '{')).json.code).toBe('malformed-json');
    expect((await put('token', undefined)).json.code).toBe('body-required');
  });
});

describe('expiry', () => {
  test.each([
    ['a time to live', () => ({ ExpirationTTL: '10m' })],
    ['a time to live in nanoseconds', () => ({ ExpirationTTL: 10 * minute * 1e6 })],
    ['a time', () => ({ ExpirationTime: later(10 * minute) })],
    ['a time elsewhere', () => ({ ExpirationTime: '2026-01-01T02:10:00+02:00' })],
  ])('by %s', async (_title, body) => {
    const { json } = await put('token', body());
    expect(json.ExpirationTime).toBe('2026-01-01T00:10:00Z');
    expect(json).not.toHaveProperty('ExpirationTTL');
  });

  test('an expired token is dead at once, even before its row is gone', async () => {
    const { AccessorID, SecretID } = await acl.token({ ExpirationTTL: '1m' });
    // The clock jumps, and no timer runs: only the checks themselves can tell.
    api.world.jumpWallClock(minute);
    expect(api.state.read().index).toBeGreaterThan(0);
    expect((await get('token/self', SecretID)).json.code).toBe('token-not-found');
    expect((await get(`token/${AccessorID}`)).status).toBe(404);
    expect((await put(`token/${AccessorID}`, {})).status).toBe(404);
    expect((await put(`token/${AccessorID}/clone`, {})).status).toBe(404);
    expect((await api.call('DELETE', `/v1/acl/token/${AccessorID}`)).json).toBe(false);
    const { json } = await get('tokens');
    expect(json.map((one: { AccessorID: string }) => one.AccessorID)).not.toContain(AccessorID);
  });

  test('the reaper removes the rows when they are due, the next one first', async () => {
    await acl.token({ ExpirationTTL: '2h' });
    await acl.token({ ExpirationTTL: '1h' });
    const before = api.state.read().index;
    await api.world.advance(hour - 1);
    expect(api.state.read().index).toBe(before);
    await api.world.advance(1);
    expect(api.state.read().index).toBe(before + 1);
    await api.world.advance(hour);
    expect(api.state.read().index).toBe(before + 2);
    expect((await get('tokens')).json).toHaveLength(2);
  });

  test('whoever waits under a token that expires is refused', async () => {
    const { ID } = await acl.policy('p', { Rules: 'acl = "read"' });
    const { SecretID } = await acl.token({ ExpirationTTL: '1m', Policies: [{ ID }] });
    const index = (await get('roles', SecretID)).headers['x-registry-index'];
    const waiting = get(`roles?index=${index}&wait=10m`, SecretID);
    await api.world.advance(minute);
    expect((await waiting).status).toBe(403);
  });

  test('whoever waits under a token that is deleted or loses its policies is refused at once', async () => {
    const { ID } = await acl.policy('p', { Rules: 'acl = "read"' });
    const changes = [
      (path: string) => api.call('DELETE', `/v1/acl/${path}`),
      (path: string) => put(path, {}),
    ];
    for (const change of changes) {
      const { SecretID, AccessorID } = await acl.token({ Policies: [{ ID }] });
      const index = (await get('roles', SecretID)).headers['x-registry-index'];
      const waiting = get(`roles?index=${index}`, SecretID);
      await api.settle();
      await change(`token/${AccessorID}`);
      expect((await waiting).status).toBe(403);
    }
  });
});

describe('an update', () => {
  test('replaces what may change; absent is cleared, but for what stands fast', async () => {
    const { ID } = await acl.policy('ops');
    const before = await acl.token({
      Description: 'one',
      ExpirationTTL: '1h',
      Policies: [{ ID }],
      ServiceIdentities: [{ ServiceName: 'web' }],
    });
    await api.world.advance(1000);
    const { json } = await put(`token/${before.AccessorID}`, { Description: 'two' });
    expect(json).toEqual({
      ...before,
      Description: 'two',
      ...{ Policies: [], ServiceIdentities: [] },
      Hash: json.Hash,
      ModifyIndex: json.ModifyIndex,
    });
    expect(json.Hash).not.toBe(before.Hash);
    expect(json.ModifyIndex).toBeGreaterThan(before.ModifyIndex);
  });

  test('takes back what was read, expanded or not', async () => {
    const token = await acl.token({ ExpirationTTL: '1h', Description: 'x' });
    for (const query of ['', '?expanded']) {
      const { json } = await get(`token/${token.AccessorID}${query}`);
      const { status, json: written } = await put(`token/${token.AccessorID}`, json);
      expect(status).toBe(200);
      expect(written.Hash).toBe(token.Hash);
    }
  });

  test.each([
    ['another SecretID', { SecretID: nobody }, 'SecretID'],
    ['an AuthMethod', { AuthMethod: 'x' }, 'AuthMethod'],
    ['another ExpirationTime', { ExpirationTime: '2026-01-01T05:00:00Z' }, 'ExpirationTime'],
    ['an ExpirationTime that is none', { ExpirationTime: 'x' }, 'ExpirationTime'],
    ['any ExpirationTTL', { ExpirationTTL: '1h' }, 'ExpirationTime'],
    ['another Local', { Local: true }, 'Local'],
  ])('is refused with %s', async (_title, body, field) => {
    const { AccessorID } = await acl.token({ ExpirationTTL: '1h' });
    const { status, json } = await put(`token/${AccessorID}`, body);
    expect([status, json.code]).toEqual([400, 'immutable-field']);
    expect(json.detail).toMatch(new RegExp(`^${field} `));
  });

  test('of a local token without Local means to change it', async () => {
    const { AccessorID } = await acl.token({ Local: true });
    expect((await put(`token/${AccessorID}`, {})).json.code).toBe('immutable-field');
    expect((await put(`token/${AccessorID}`, { Local: true })).status).toBe(200);
  });

  test('is refused under another accessor, of none, and of what is not there', async () => {
    const { AccessorID } = await acl.token();
    const body = { AccessorID: nobody };
    expect((await put(`token/${AccessorID}`, body)).json.code).toBe('id-mismatch');
    expect((await put('token/x', {})).json.code).toBe('invalid-path');
    expect((await put(`token/${nobody}`, body)).json.code).toBe('accessor-not-found');
  });

  test('of the anonymous token gives everybody what it links', async () => {
    const { ID } = await acl.policy('p', { Rules: 'acl = "read"' });
    expect((await get('tokens', null)).status).toBe(403);
    expect((await put(`token/${anonymousId}`, { Policies: [{ ID }] })).status).toBe(200);
    expect((await get('tokens', null)).status).toBe(200);
  });
});

describe('reading', () => {
  test('self needs no permission, shows the secret, and is anonymous without a token', async () => {
    const { AccessorID, SecretID } = await acl.token();
    expect((await get('token/self', SecretID)).json).toMatchObject({ AccessorID, SecretID });
    const anonymous = (await get('token/self', null)).json;
    expect(anonymous).toMatchObject({ AccessorID: anonymousId, SecretID: 'anonymous' });
    expect((await get('token/self', nobody)).status).toBe(403);
  });

  test('secrets are hidden from who may only read', async () => {
    const reader = await acl.holder('acl = "read"');
    const writer = await acl.holder('acl = "write"');
    const { AccessorID, SecretID } = await acl.token();
    const seen = (rows: { SecretID: string }[]) => new Set(rows.map((row) => row.SecretID));
    expect((await get(`token/${AccessorID}`, reader)).json.SecretID).toBe('<hidden>');
    expect((await get(`token/${AccessorID}?expanded`, reader)).text).not.toContain(SecretID);
    expect(seen((await get('tokens', reader)).json)).toEqual(new Set(['<hidden>']));
    expect((await get(`token/${AccessorID}`, writer)).json.SecretID).toBe(SecretID);
    expect(seen((await get('tokens', writer)).json)).toContain(SecretID);
    // Nor can one be guessed by a filter.
    const filter = encodeURIComponent(`SecretID == "${SecretID}"`);
    expect((await get(`tokens?filter=${filter}`, reader)).json.code).toBe('invalid-filter');
  });

  test('what is not there is 404', async () => {
    for (const path of [`token/${nobody}`, 'token/x']) {
      const { status, json } = await get(path);
      expect([status, json.code]).toEqual([404, 'accessor-not-found']);
    }
  });

  test('expanded shows all that affects the token, and expanded=false does not', async () => {
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
      ...{ NamespaceDefaultPolicies: null, NamespaceDefaultRoles: null },
      ...{ AgentACLDefaultPolicy: 'deny', AgentACLDownPolicy: 'extend-cache' },
      ResolvedByAgent: 'test',
    });
    const plain = (await get(`token/${token.AccessorID}?expanded=false`)).json;
    expect(plain).toEqual(token);
    const bare = await acl.token();
    const nothing = (await get(`token/${bare.AccessorID}?expanded`)).json;
    expect([nothing.ExpandedPolicies, nothing.ExpandedRoles]).toEqual([null, null]);
  });
});

describe('a clone', () => {
  test('has the same links and end, and ids of its own', async () => {
    const source = await acl.token({
      Description: 'source',
      Policies: [{ ID: readOnlyId }],
      ServiceIdentities: [{ ServiceName: 'web' }],
      Local: true,
      ExpirationTTL: '1h',
    });
    const { json: clone } = await put(`token/${source.AccessorID}/clone`, { Description: 'two' });
    expect(clone).toEqual({
      ...source,
      Description: 'two',
      AccessorID: expect.stringMatching(uuid),
      SecretID: expect.stringMatching(uuid),
      ...{ Hash: clone.Hash, CreateIndex: clone.CreateIndex, ModifyIndex: clone.CreateIndex },
    });
    expect(clone.AccessorID).not.toBe(source.AccessorID);
    expect(clone.SecretID).not.toBe(source.SecretID);
    const { json: same } = await put(`token/${source.AccessorID}/clone`, undefined);
    expect(same.Description).toBe('source');
  });

  test('is refused where the source is gone or nearly so', async () => {
    const source = await acl.token({ ExpirationTTL: '2m' });
    await api.world.advance(minute + 1);
    const near = await put(`token/${source.AccessorID}/clone`, {});
    expect([near.status, near.json.code]).toEqual([400, 'invalid-body']);
    expect((await put(`token/${nobody}/clone`, {})).status).toBe(404);
    expect((await put(`token/${nobody}/clone`, { Policies: [] })).status).toBe(400);
  });
});

describe('deleting', () => {
  test('is true once and false after, and the secret is dead', async () => {
    const { AccessorID, SecretID } = await acl.token();
    const path = `/v1/acl/token/${AccessorID}`;
    const first = await api.call('DELETE', path);
    expect([first.status, first.json]).toEqual([200, true]);
    const again = await api.call('DELETE', path);
    expect([again.status, again.json]).toEqual([200, false]);
    expect((await get('token/self', SecretID)).status).toBe(403);
  });

  test.each([
    ['the anonymous token', anonymousId, 'builtin-protected'],
    ['what is no accessor', 'x', 'invalid-path'],
  ])('%s is refused', async (_title, accessor, code) => {
    const { status, json } = await api.call('DELETE', `/v1/acl/token/${accessor}`);
    expect([status, json.code]).toEqual([400, code]);
  });

  test('the token that asks is refused', async () => {
    const { AccessorID } = (await get('token/self')).json;
    const { status, json } = await api.call('DELETE', `/v1/acl/token/${AccessorID}`);
    expect([status, json.code]).toEqual([400, 'own-token']);
  });
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

  test('filters, which all have to fit', async () => {
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

  test('a rename of a linked policy is a change of the token', async () => {
    const { ID } = await acl.policy('old');
    const { AccessorID } = await acl.token({ Policies: [{ ID }] });
    const { json } = await waits(`token/${AccessorID}`, () => put(`policy/${ID}`, { Name: 'new' }));
    expect(json.Policies).toEqual([{ ID, Name: 'new' }]);
  });

  test('a delete wakes the list, and the reader of the token with 404', async () => {
    const { AccessorID } = await acl.token();
    const gone = () => api.call('DELETE', `/v1/acl/token/${AccessorID}`);
    expect((await waits(`token/${AccessorID}`, gone)).status).toBe(404);
  });

  test('stale, consistent, and not both', async () => {
    expect((await get('tokens?stale')).status).toBe(200);
    expect((await get('tokens?consistent')).status).toBe(200);
    expect((await get('tokens?stale&consistent')).status).toBe(400);
  });
});

test('every route needs its permission, and none is there with access control off', async () => {
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
