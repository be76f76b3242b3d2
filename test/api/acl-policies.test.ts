import { beforeEach, describe, expect, test } from 'vitest';
import { aclOf, managementId, nobody, readOnlyId, uuid } from '../support/acl.ts';
import { rootToken, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let acl: ReturnType<typeof aclOf>;
beforeEach(async () => {
  api = await startApi();
  acl = aclOf(api);
});

const put = (path: string, body: unknown) => api.call('PUT', `/v1/acl/${path}`, { body });
const get = (path: string, token = rootToken) => api.call('GET', `/v1/acl/${path}`, { token });
const remove = (path: string) => api.call('DELETE', `/v1/acl/${path}`);

/** Starts a blocking read of the path, makes the change, and returns the answer. */
async function waits(path: string, change: () => Promise<unknown>) {
  const index = (await get(path)).headers['x-registry-index'];
  let answered = false;
  const waiting = get(`${path}?index=${index}`).finally(() => {
    answered = true;
  });
  await acl.token();
  await api.settle();
  expect(answered).toBe(false);
  await change();
  await api.settle();
  expect(answered).toBe(true);
  return waiting;
}

describe('policies', () => {
  test('are created, read by id and name, replaced, renamed and deleted', async () => {
    const Rules = 'service "web" { policy = "write" }';
    const body = { Name: 'team/web', Description: 'd', Rules, Datacenters: ['dc1'] };
    const { status, json, headers } = await put('policy', body);
    expect(status).toBe(200);
    expect(json).toEqual({
      ...body,
      JobACL: null,
      ID: expect.stringMatching(uuid),
      Hash: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
      Namespace: 'default',
      Partition: 'default',
      CreateIndex: json.CreateIndex,
      ModifyIndex: json.CreateIndex,
    });
    expect(headers['x-registry-index']).toBe(String(json.CreateIndex));
    for (const path of [json.ID, 'name/team/web', 'name/team%2Fweb']) {
      expect((await get(`policy/${path}`)).json).toEqual(json);
    }
    const replaced = (await put(`policy/${json.ID}`, { ID: json.ID, Name: 'new' })).json;
    expect(replaced).toMatchObject({ Name: 'new', Description: '', Rules: '', Datacenters: null });
    expect(replaced.CreateIndex).toBe(json.CreateIndex);
    expect(replaced.ModifyIndex).toBeGreaterThan(json.ModifyIndex);
    expect(replaced.Hash).not.toBe(json.Hash);
    expect((await get('policy/name/team/web')).status).toBe(404);
    expect((await put(`policy/${json.ID}`, (await get(`policy/${json.ID}`)).json)).status).toBe(
      200,
    );
    expect((await remove(`policy/${json.ID}`)).json).toBe(true);
    expect((await remove(`policy/${json.ID}`)).json).toBe(false);
  });

  test('include the builtin ones, whose rules can also be written by hand', async () => {
    const { json } = await get('policies');
    expect(json.map((one: { ID: string; Name: string }) => [one.ID, one.Name])).toEqual([
      [managementId, 'global-management'],
      [readOnlyId, 'builtin/global-read-only'],
    ]);
    expect(json[0]).not.toHaveProperty('Rules');
    expect(json[0].Datacenters).toBe(null);
    for (const ID of [managementId, readOnlyId]) {
      const { Rules } = (await get(`policy/${ID}`)).json;
      expect((await put('policy', { Name: `copy-${ID.slice(-1)}`, Rules })).status).toBe(200);
    }
  });

  test('may be renamed if builtin, and not changed otherwise', async () => {
    const { json: before } = await get(`policy/${managementId}`);
    const renamed = await put(`policy/${managementId}`, { Name: 'root', Description: 'all' });
    expect(renamed.json).toMatchObject({ Name: 'root', Description: 'all', Rules: before.Rules });
    expect((await get('policies')).status).toBe(200);
    for (const change of [{ Rules: 'acl = "read"' }, { Datacenters: ['dc1'] }]) {
      const { status, json } = await put(`policy/${managementId}`, { Name: 'root', ...change });
      expect([status, json.code]).toEqual([400, 'builtin-protected']);
    }
    for (const ID of [managementId, readOnlyId]) {
      const { status, json } = await remove(`policy/${ID}`);
      expect([status, json.code]).toEqual([400, 'builtin-protected']);
    }
  });

  test('stop to apply when they are deleted', async () => {
    const { ID } = await acl.policy('p', { Rules: 'acl = "read"' });
    const { SecretID } = await acl.token({ Policies: [{ ID }] });
    expect((await get('roles', SecretID)).status).toBe(200);
    await remove(`policy/${ID}`);
    expect((await get('roles', SecretID)).status).toBe(403);
  });

  test.each([
    ['no name', {}, 400, 'invalid-body', '/Name'],
    ['a space in its name', { Name: 'a b' }, 400, 'invalid-body', '/Name'],
    ['two slashes', { Name: 'a/b/c' }, 400, 'invalid-body', '/Name'],
    ['a slash first', { Name: '/a' }, 400, 'invalid-body', '/Name'],
    ['a long name', { Name: 'x'.repeat(129) }, 400, 'invalid-body', '/Name'],
    ['a builtin name', { Name: 'builtin/x' }, 400, 'invalid-body', '/Name'],
    ['an id', { ID: nobody, Name: 'a' }, 400, 'invalid-body', '/ID'],
    ['an invalid datacenter', { Name: 'a', Datacenters: ['a b'] }, 400, 'invalid-body'],
    ['invalid rules', { Name: 'a', Rules: 'acl = "all"' }, 400, 'invalid-body', '/Rules'],
    ['rules that break off', { Name: 'a', Rules: 'node "' }, 400, 'invalid-body', '/Rules'],
    ['no job', { Name: 'a', JobACL: { Group: 'g' } }, 400, 'invalid-body', '/JobACL/JobID'],
    [
      'a task of no group',
      { Name: 'a', JobACL: { JobID: 'j', Task: 't' } },
      400,
      'invalid-body',
      '/JobACL/Group',
    ],
    ['an unknown field', { Name: 'a', Colour: 1 }, 400, 'invalid-body', '/Colour'],
    ['a wrong type', { Name: 1 }, 400, 'invalid-body', '/Name'],
    ['a name that is taken', { Name: 'global-management' }, 409, 'name-taken'],
    ['a namespace that is not', { Name: 'a', Namespace: 'x' }, 404, 'namespace-not-found'],
    ['a partition that is not', { Name: 'a', Partition: 'x' }, 404, 'partition-not-found'],
  ])('with %s is refused', async (_title, body, status, code, pointer = undefined) => {
    const answer = await put('policy', body);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    if (pointer !== undefined) expect(answer.json.errors[0].pointer).toBe(pointer);
  });

  test('report all faults at once', async () => {
    const Description = 'x'.repeat(1001);
    const pointers = async (path: string, body: object) =>
      (await put(path, body)).json.errors.map((one: { pointer: string }) => one.pointer);
    const body = { Name: 'a b', Description, Rules: 'x' };
    expect(await pointers('policy', body)).toEqual(['/Description', '/Name', '/Rules']);
    const role = { Name: '', Description, NodeIdentities: [{ NodeName: 'n' }] };
    expect(await pointers('role', role)).toEqual([
      '/Description',
      '/Name',
      '/NodeIdentities/0/Datacenter',
    ]);
  });

  test('report line and column of every fault in their rules', async () => {
    const { json } = await put('policy', {
      Name: 'a',
      Rules: 'acl = "x"\nnode "n" { policy = "y" }',
    });
    const messages = json.errors.map((one: { message: string }) => one.message);
    expect(messages).toHaveLength(2);
    expect(messages[0]).toMatch(/^Rules, line 1, column \d+: /);
    expect(messages[1]).toMatch(/^Rules, line 2, column \d+: /);
  });

  test('are updated under their own id and a free name', async () => {
    const [one] = [await acl.policy('one'), await acl.policy('two')];
    const update = async (id: string, body: object) => (await put(`policy/${id}`, body)).json.code;
    expect(await update(one.ID, { ID: nobody, Name: 'one' })).toBe('id-mismatch');
    expect(await update(one.ID, { Name: 'two' })).toBe('name-taken');
    expect(await update(one.ID, {})).toBe('invalid-body');
    expect(await update(nobody, { Name: 'x' })).toBe('policy-not-found');
    expect(await update('x', { Name: 'x' })).toBe('invalid-path');
    expect((await remove('policy/x')).json.code).toBe('invalid-path');
    expect((await get(`policy/${nobody}`)).status).toBe(404);
    expect((await get('policy/name/x')).status).toBe(404);
  });

  test('wake blocking queries', async () => {
    const { ID } = await acl.policy('one');
    const change = () => put(`policy/${ID}`, { Name: 'one', Description: 'new' });
    expect((await waits(`policy/${ID}`, change)).json.Description).toBe('new');
    expect((await waits('policies', () => acl.policy('two'))).json).toHaveLength(4);
    const missing = await waits('policy/name/three', () => acl.policy('three'));
    expect(missing.status).toBe(200);
  });
});

describe('roles', () => {
  test('are created, read by id and name, replaced and deleted', async () => {
    const policy = await acl.policy('p');
    const body = {
      Name: 'dev_1-A',
      Description: 'd',
      Policies: [{ Name: 'p' }],
      ServiceIdentities: [{ ServiceName: 'web', Datacenters: [] }],
      NodeIdentities: [{ NodeName: 'n', Datacenter: 'dc1' }],
      TemplatedPolicies: [{ TemplateName: 'builtin/node', TemplateVariables: { name: 'n' } }],
    };
    const { status, json } = await put('role', body);
    expect(status).toBe(200);
    expect(json).toEqual({
      ...body,
      ID: expect.stringMatching(uuid),
      Policies: [{ ID: policy.ID, Name: 'p' }],
      TemplatedPolicies: [
        {
          ...body.TemplatedPolicies[0],
          TemplateID: '00000000-0000-0000-0000-000000000004',
          Datacenters: [],
        },
      ],
      Hash: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
      Namespace: 'default',
      Partition: 'default',
      CreateIndex: json.CreateIndex,
      ModifyIndex: json.CreateIndex,
    });
    expect((await get(`role/${json.ID}`)).json).toEqual(json);
    expect((await get('role/name/dev_1-A')).json).toEqual(json);
    const { AccessorID } = await acl.token({ Roles: [{ ID: json.ID }] });
    const renamed = (await put(`role/${json.ID}`, { ID: json.ID, Name: 'ops' })).json;
    expect(renamed).toMatchObject({ Name: 'ops', Policies: [], ServiceIdentities: [] });
    const links = async () => (await get(`token/${AccessorID}`)).json.Roles;
    expect(await links()).toEqual([{ ID: json.ID, Name: 'ops' }]);
    expect((await remove(`role/${json.ID}`)).json).toBe(true);
    expect((await remove(`role/${json.ID}`)).json).toBe(false);
    expect(await links()).toEqual([]);
  });

  test('give a token the permissions of their policies and identities', async () => {
    const { ID } = await acl.policy('p', { Rules: 'acl = "read"' });
    const role = await acl.role('r', { Policies: [{ ID }] });
    const { SecretID } = await acl.token({ Roles: [{ ID: role.ID }] });
    expect((await get('roles', SecretID)).status).toBe(200);
    await put(`role/${role.ID}`, { Name: 'r' });
    expect((await get('roles', SecretID)).status).toBe(403);
  });

  test.each([
    ['no name', {}, 400, 'invalid-body', '/Name'],
    ['a slash in its name', { Name: 'a/b' }, 400, 'invalid-body', '/Name'],
    ['a long name', { Name: 'x'.repeat(257) }, 400, 'invalid-body', '/Name'],
    ['an id', { ID: nobody, Name: 'a' }, 400, 'invalid-body', '/ID'],
    ['a dangling policy', { Name: 'a', Policies: [{ ID: nobody }] }, 400, 'invalid-body'],
    [
      'a template without its name',
      { Name: 'a', TemplatedPolicies: [{}] },
      400,
      'invalid-body',
      '/TemplatedPolicies/0/TemplateName',
    ],
    ['an unknown field', { Name: 'a', Colour: 1 }, 400, 'invalid-body', '/Colour'],
    ['a name that is taken', { Name: 'taken' }, 409, 'name-taken'],
  ] as const)('with %s are refused', async (_title, body, status, code, pointer?: string) => {
    await acl.role('taken');
    const answer = await put('role', body);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    if (pointer !== undefined) expect(answer.json.errors[0].pointer).toBe(pointer);
  });

  test('are updated under their own id and a free name', async () => {
    const [one] = [await acl.role('one'), await acl.role('two')];
    const update = async (id: string, body: object) => (await put(`role/${id}`, body)).json.code;
    expect(await update(one.ID, { ID: nobody, Name: 'one' })).toBe('id-mismatch');
    expect(await update(one.ID, { Name: 'two' })).toBe('name-taken');
    expect(await update(nobody, { Name: 'x' })).toBe('role-not-found');
    expect(await update('x', { Name: 'x' })).toBe('invalid-path');
    for (const path of [`role/${nobody}`, 'role/x', 'role/name/x']) {
      const { status, json } = await get(path);
      expect([status, json.code]).toEqual([404, 'role-not-found']);
    }
  });

  test('are listed without empty fields, and filtered by policy', async () => {
    expect((await get('roles')).json).toEqual([]);
    const { ID } = await acl.policy('p');
    await acl.role('with', {
      Policies: [{ ID }],
      ServiceIdentities: [{ ServiceName: 's' }],
      TemplatedPolicies: [{ TemplateName: 'builtin/dns' }],
    });
    await acl.role('without');
    const { json } = await get('roles');
    const byName = Object.fromEntries(json.map((one: { Name: string }) => [one.Name, one]));
    expect(byName.with).toMatchObject({ ServiceIdentities: [{ ServiceName: 's' }] });
    expect(byName.with.TemplatedPolicies).toHaveLength(1);
    for (const field of ['ServiceIdentities', 'NodeIdentities', 'TemplatedPolicies']) {
      expect(byName.without).not.toHaveProperty(field);
    }
    expect((await get(`roles?policy=${ID}`)).json).toEqual([byName.with]);
    const filter = encodeURIComponent('TemplatedPolicies is not empty');
    expect((await get(`roles?filter=${filter}`)).json).toEqual([byName.with]);
    expect((await get(`roles?policy=${nobody}`)).json).toEqual([]);
  });

  test('wake blocking queries', async () => {
    const { ID } = await acl.role('one');
    const change = () => put(`role/${ID}`, { Name: 'one', Description: 'new' });
    expect((await waits(`role/${ID}`, change)).json.Description).toBe('new');
    expect((await waits('roles', () => acl.role('two'))).json).toHaveLength(2);
    const missing = await waits('role/name/three', () => acl.role('three'));
    expect(missing.status).toBe(200);
  });
});

test('every route needs its permission, and is disabled when access control is off', async () => {
  const reader = await acl.holder('acl = "read"');
  const role = await acl.role('r');
  const off = await startApi({ aclEnabled: false });
  const routes: [string, string, string][] = [
    ...['policies', 'roles', 'templated-policies', `policy/${managementId}`, `role/${role.ID}`]
      .concat(['policy/name/global-management', 'role/name/r'])
      .concat(['templated-policy/name/builtin/dns'])
      .map((path): [string, string, string] => ['GET', path, 'acl:read']),
    ['POST', 'templated-policy/preview/builtin/dns', 'acl:read'],
    ...['policy', `policy/${nobody}`, 'role', `role/${nobody}`].map(
      (path): [string, string, string] => ['PUT', path, 'acl:write'],
    ),
    ...[`policy/${nobody}`, `role/${nobody}`].map((path): [string, string, string] => [
      'DELETE',
      path,
      'acl:write',
    ]),
  ];
  for (const [method, path, permission] of routes) {
    const body = method === 'PUT' ? { body: { Name: 'x' } } : {};
    const url = `/v1/acl/${path}`;
    const denied = await api.call(method, url, { ...body, token: null });
    expect([denied.status, denied.json.code], url).toEqual([403, 'permission-denied']);
    expect(denied.json.detail).toContain(permission);
    const asReader = await api.call(method, url, { ...body, token: reader });
    expect(asReader.status, url).toBe(permission === 'acl:read' ? 200 : 403);
    const disabled = await off.call(method, url, body);
    expect([disabled.status, disabled.json.code], url).toEqual([401, 'acl-disabled']);
  }
});
