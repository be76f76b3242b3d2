import { beforeEach, describe, expect, test } from 'vitest';
import { signingPair } from '../../src/server/login/login.test-helper.ts';
import { allTables } from '../../src/state/tables.ts';
import { aclOf, managementId, nobody } from '../support/acl.ts';
import { jobBody, nodeBody, rootToken, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let acl: ReturnType<typeof aclOf>;
beforeEach(async () => {
  api = await startApi();
  acl = aclOf(api);
});

const put = (path: string, body: unknown = {}, token = rootToken) =>
  api.call('PUT', `/v1/${path}`, { body, token });
const get = (path: string, options: object = {}) => api.call('GET', `/v1/${path}`, options);
const remove = (path: string) => api.call('DELETE', `/v1/${path}`);
const names = (rows: { Name: string }[]) => rows.map(({ Name }) => Name);

describe('namespaces', () => {
  test('are created and changed by PUT or POST, with the name in the body, the path, or both', async () => {
    const { json } = await put('namespace', { Name: 'one', Description: 'd', Meta: { a: 'b' } });
    expect(json).toEqual({
      Name: 'one',
      Description: 'd',
      Partition: 'default',
      Meta: { a: 'b' },
      Capabilities: null,
      ACLs: null,
      CreateIndex: json.CreateIndex,
      ModifyIndex: json.CreateIndex,
    });
    expect((await api.call('POST', '/v1/namespace/two', { body: {} })).status).toBe(200);
    expect((await put('namespace/two', { Name: 'two', Description: 'new' })).status).toBe(200);
    expect((await get('namespace/two')).json).toMatchObject({ Description: 'new' });
    expect((await get('namespace/one')).json).toEqual(json);
    expect(names((await get('namespaces')).json)).toEqual(['default', 'one', 'two']);
    expect(names((await get('namespaces?prefix=o')).json)).toEqual(['one']);
    expect((await remove('namespace/one')).json).toBe(true);
    expect((await remove('namespace/one')).json).toBe(false);
    expect((await get('namespace/one')).json.code).toBe('namespace-not-found');
  });

  test.each([
    ['no name', 'namespace', {}, 400, 'invalid-body'],
    ['a long text', 'namespace/a', { Description: 'x'.repeat(1001) }, 400, 'invalid-body'],
    ['a name that is no label', 'namespace', { Name: 'a_b' }, 400, 'invalid-body'],
    ['a long name', 'namespace', { Name: 'x'.repeat(64) }, 400, 'invalid-body'],
    ['a star', 'namespace', { Name: '*' }, 400, 'invalid-body'],
    ['two names', 'namespace/a', { Name: 'b' }, 400, 'id-mismatch'],
    ['an unknown field', 'namespace/a', { Colour: 1 }, 400, 'invalid-body'],
    [
      'a partition that is not there',
      'namespace/a',
      { Partition: 'x' },
      404,
      'partition-not-found',
    ],
    [
      'a default policy that is not there',
      'namespace/a',
      { ACLs: { PolicyDefaults: [{ Name: 'x' }] } },
      400,
      'invalid-body',
    ],
  ] as const)('with %s are refused', async (_title, path, body, status, code) => {
    const answer = await put(path as string, body);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
  });

  test('are deleted only when they are empty, and default never', async () => {
    expect((await remove('namespace/default')).json.code).toBe('builtin-protected');
    await put('namespace/dev');
    await acl.role('r', {}, '?ns=dev');
    await acl.token({}, '?ns=dev');
    const refused = await remove('namespace/dev');
    expect([refused.status, refused.json.code]).toEqual([409, 'in-use']);
    expect(refused.json.detail).toContain('tokens and roles');
    const job = await api.call('POST', '/v1/jobs?namespace=dev', { body: jobBody() });
    expect(job.status).toBe(200);
    expect((await remove('namespace/dev')).json.detail).toContain('jobs and tokens');
  });

  test('are not deleted while they contain auth methods or binding rules', async () => {
    await put('namespace/dev');
    const { pem } = await signingPair('ES256', 'k');
    const method = { Name: 'ci', Type: 'jwt', Config: { JWTValidationPubKeys: [pem] } };
    await put('acl/auth-method?ns=dev', method);
    const rule = { AuthMethod: 'ci', BindType: 'service', BindName: 'web' };
    const { ID } = (await put('acl/binding-rule?ns=dev', rule)).json;
    const detail = async () => (await remove('namespace/dev')).json.detail;
    expect(await detail()).toContain('it still has auth methods and binding rules');
    expect((await remove(`acl/binding-rule/${ID}?ns=dev`)).json).toBe(true);
    expect(await detail()).toContain('it still has auth methods.');
    expect((await remove('acl/auth-method/ci?ns=dev')).json).toBe(true);
    expect((await remove('namespace/dev')).json).toBe(true);
  });

  test('are not deleted while job policies name them', async () => {
    await put('namespace/dev');
    await put('namespace/dev2');
    const policy = { EnforcementLevel: 'advisory', Rule: 'Priority == 50' };
    await put('job-policy/here', { ...policy, Namespace: 'dev' });
    await put('job-policy/everywhere', policy);
    expect((await remove('namespace/dev2')).json).toBe(true);
    const refused = await remove('namespace/dev');
    expect([refused.status, refused.json.code]).toEqual([409, 'in-use']);
    expect(refused.json.detail).toContain('it still has job policies.');
    expect((await remove('job-policy/here')).json).toBe(true);
    expect((await remove('namespace/dev')).json).toBe(true);
  });

  test('are deleted without a trace of purged jobs', async () => {
    await put('namespace/dev');
    const body = {
      ...jobBody({ Periodic: { Enabled: true, Spec: '@daily', SpecType: 'cron' }, Type: 'batch' }),
      Submission: { Source: 'x' },
    };
    const { status, text } = await api.call('POST', '/v1/jobs?namespace=dev', { body });
    expect(status, text).toBe(200);
    const scaling = { Scaling: { Min: 0, Max: 5 } };
    const other = jobBody({ ID: 'scaled' }, scaling);
    await api.call('POST', '/v1/jobs?namespace=dev', { body: other });
    const said = { Target: { Group: 'web' }, Message: 'm' };
    await api.call('PUT', '/v1/job/scaled/scale?namespace=dev', { body: said });
    await api.settle();
    for (const id of ['web', 'scaled']) await remove(`job/${id}?namespace=dev&purge=true`);
    await api.settle();
    expect((await remove('namespace/dev')).json).toBe(true);
    const collecting = api.call('PUT', '/v1/system/gc');
    await api.settle();
    await collecting;
    const prefix = ['default', 'dev'];
    const left = allTables.filter(
      (table) => !api.state.read().table(table).scan({ prefix }).next().done,
    );
    expect(left.map(({ name }) => name)).toEqual([]);
  });

  test('are not deleted while allocations run in them, even of a purged job', async () => {
    const node = nodeBody();
    await api.call('PUT', '/v1/node/register', { body: node });
    await put('namespace/dev');
    await api.call('POST', '/v1/jobs?namespace=dev', { body: jobBody() });
    await api.settle();
    await remove('job/web?namespace=dev&purge=true');
    await api.settle();
    const refused = await remove('namespace/dev');
    expect([refused.status, refused.json.code]).toEqual([409, 'in-use']);
    expect(refused.json.detail).toContain('it still has running allocations.');
    const [{ ID }] = (await get('allocations?namespace=dev')).json;
    const Allocations = [{ ID, ClientStatus: 'complete' }];
    const report = { body: { Allocations }, token: node.SecretID };
    const reported = await api.call('PUT', `/v1/node/${node.Node.ID}/status`, report);
    expect(reported.status).toBe(200);
    expect((await remove('namespace/dev')).json).toBe(true);
  });

  test('need operator:write, and are listed for callers with any permission in them', async () => {
    await put('namespace/dev');
    await put('namespace/ops');
    const dev = await acl.holder('namespace "dev" { policy = "read" }');
    const operator = await acl.holder('operator = "write"');
    expect(names((await get('namespaces', { token: dev })).json)).toEqual(['dev']);
    expect((await get('namespace/dev', { token: dev })).status).toBe(200);
    expect((await get('namespace/ops', { token: dev })).status).toBe(403);
    expect((await put('namespace/x', {}, dev)).status).toBe(403);
    expect((await put('namespace/x', {}, operator)).status).toBe(200);
    expect((await get('namespaces', { token: null })).json).toEqual([]);
  });

  test('wake blocking queries', async () => {
    const index = (await get('namespaces')).headers['x-registry-index'];
    const waiting = get(`namespaces?index=${index}`);
    await put('namespace/dev');
    expect(names((await waiting).json)).toContain('dev');
  });

  test('give their tokens default policies and roles', async () => {
    const policy = await acl.policy('p');
    const role = await acl.role('r');
    const ACLs = { PolicyDefaults: [{ Name: 'p' }], RoleDefaults: [{ ID: role.ID }] };
    const { json } = await put('namespace/dev', { ACLs });
    expect(json.ACLs).toEqual({
      PolicyDefaults: [{ ID: policy.ID, Name: 'p' }],
      RoleDefaults: [{ ID: role.ID, Name: 'r' }],
    });
    const { AccessorID } = await acl.token({}, '?ns=dev');
    const expanded = (await get(`acl/token/${AccessorID}?ns=dev&expanded`)).json;
    expect(expanded).toMatchObject({
      NamespaceDefaultPolicies: [{ ID: policy.ID, Name: 'p' }],
      NamespaceDefaultRoles: [{ ID: role.ID, Name: 'r' }],
      ExpandedPolicies: [policy],
    });
  });
});

describe('the namespace of a request', () => {
  beforeEach(async () => {
    for (const name of ['body', 'query', 'header', 'own']) await put(`namespace/${name}`);
  });

  const header = { 'x-registry-namespace': 'header' };
  test.each([
    ['body', { Namespace: 'body' }, '?ns=query', header, 'body'],
    ['ns', {}, '?ns=query', header, 'query'],
    ['the other spelling of ns', {}, '?namespace=query', header, 'query'],
    ['header', {}, '', header, 'header'],
    ['the token’s own', {}, '', {}, 'own'],
    ['an empty one counts as none', { Namespace: '' }, '?ns=', {}, 'own'],
  ] as const)('is set by %s', async (_title, body, query, headers, expected) => {
    const { SecretID } = await acl.token({ Policies: [{ ID: managementId }] }, '?ns=own');
    const options = { body, headers, token: SecretID };
    const { json } = await api.call('PUT', `/v1/acl/token${query}`, options);
    expect(json.Namespace).toBe(expected);
    const read = await get(`acl/token/${json.AccessorID}?ns=${expected}`);
    expect(read.json).toEqual(json);
    expect((await get(`acl/token/${json.AccessorID}`)).status).toBe(404);
  });

  test('is default otherwise', async () => {
    expect((await acl.token()).Namespace).toBe('default');
  });

  test('names are unique in each namespace; links reach the own namespace and default', async () => {
    const inDefault = await acl.policy('p');
    const inQuery = await acl.policy('p', {}, '?ns=query');
    expect(inQuery.ID).not.toBe(inDefault.ID);
    expect((await put('acl/policy?ns=query', { Name: 'p' })).json.code).toBe('name-taken');
    const Policies = [{ Name: 'p' }];
    expect((await acl.token({ Policies }, '?ns=query')).Policies[0].ID).toBe(inQuery.ID);
    expect((await acl.token({ Policies }, '?ns=own')).Policies[0].ID).toBe(inDefault.ID);
    const elsewhere = await put('acl/token?ns=own', { Policies: [{ ID: inQuery.ID }] });
    expect(elsewhere.json.code).toBe('invalid-body');
  });

  test('ns=* lists all namespaces that the caller may read', async () => {
    await acl.role('a', {}, '?ns=query');
    await acl.role('b', {}, '?ns=own');
    await acl.role('c');
    expect(names((await get('acl/roles')).json)).toEqual(['c']);
    expect(names((await get('acl/roles?ns=*')).json).sort()).toEqual(['a', 'b', 'c']);
    const reader = await acl.holder('namespace "own" { acl = "read" }');
    const some = await get('acl/roles?ns=*', { token: reader });
    expect(names(some.json)).toEqual(['b']);
    expect(some.headers['x-registry-results-filtered-by-acls']).toBe('true');
    expect((await get('acl/roles?ns=own', { token: reader })).status).toBe(200);
    expect((await get('acl/roles', { token: reader })).status).toBe(403);
    expect((await put('acl/role?ns=*', { Name: 'd' })).json.code).toBe('namespace-not-found');
  });
});

describe('partitions', () => {
  test('are created with a namespace default, and are separate', async () => {
    const { json } = await put('partition', { Name: 'eu', Description: 'd' });
    expect(json).toMatchObject({ Name: 'eu', Description: 'd', CreateIndex: json.ModifyIndex });
    expect((await get('partition/eu')).json).toEqual(json);
    expect(names((await get('partitions')).json)).toEqual(['default', 'eu']);
    expect(names((await get('namespaces?partition=eu')).json)).toEqual(['default']);
    await acl.role('r', {}, '?partition=eu');
    expect((await put('acl/role', { Name: 'r', Partition: 'eu' })).json.code).toBe('name-taken');
    await acl.role('r');
    expect((await get('acl/roles?partition=eu')).json).toHaveLength(1);
    const { SecretID, Partition } = await acl.token(
      { Policies: [{ ID: managementId }] },
      '?partition=eu',
    );
    expect(Partition).toBe('eu');
    expect((await get('acl/token/self', { token: SecretID })).json.Partition).toBe('eu');
  });

  test.each([
    ['POST', 'peering/token', { PeerName: 'x' }],
    ['POST', 'peering/establish', { PeerName: 'x', PeeringToken: 'x' }],
    ['PUT', 'acl/policy', { Name: 'x' }],
    ['PUT', 'acl/role', { Name: 'x' }],
    ['PUT', 'acl/token', {}],
    ['PUT', 'acl/binding-rule', { AuthMethod: 'x' }],
    ['PUT', 'acl/auth-method', { Name: 'x', Type: 'jwt' }],
    ['PUT', 'namespace/x', {}],
  ])('have to agree in a request that names two: %s /v1/%s', async (method, path, body) => {
    await put('partition/eu');
    const call = async (query: string, Partition: string) => {
      const given = { body: { ...body, Partition } };
      const { status, json } = await api.call(method, `/v1/${path}${query}`, given);
      return { status, code: json.code, detail: json.detail };
    };
    expect(await call('?partition=eu', 'default')).toEqual({
      status: 400,
      code: 'invalid-query',
      detail: `The query parameter "partition" is "eu", and the Partition of the body "default": give one of them, or the same.`,
    });
    expect((await call('?partition=eu', 'eu')).code).not.toBe('invalid-query');
    expect((await call('?partition=eu', '')).code).not.toBe('invalid-query');
  });

  test.each([
    ['no name', 'partition', {}, 'invalid-body'],
    ['a long description', 'partition/a', { Description: 'x'.repeat(1001) }, 'invalid-body'],
    ['a name that is no label', 'partition/a.b', {}, 'invalid-body'],
    ['two names', 'partition/a', { Name: 'b' }, 'id-mismatch'],
  ])('with %s are refused', async (_title, path, body, code) => {
    expect((await put(path, body)).json.code).toBe(code);
  });

  test('are deleted only when they are empty, and default never', async () => {
    await put('partition/eu');
    await put('namespace/dev?partition=eu');
    expect((await remove('partition/eu')).json.code).toBe('in-use');
    await remove('namespace/dev?partition=eu');
    const { ID } = await acl.role('r', {}, '?partition=eu');
    expect((await remove('partition/eu')).json.detail).toContain('roles');
    await remove(`acl/role/${ID}?partition=eu`);
    expect((await remove('partition/eu')).json).toBe(true);
    expect((await remove('partition/eu')).json).toBe(false);
    expect((await remove('partition/default')).json.code).toBe('builtin-protected');
    expect((await get('partition/eu')).json.code).toBe('partition-not-found');
  });

  test('need permissions of operators', async () => {
    const reader = await acl.holder('operator = "read"');
    expect((await get('partitions', { token: reader })).status).toBe(200);
    expect((await put('partition/eu', {}, reader)).status).toBe(403);
    expect((await get('partitions', { token: null })).status).toBe(403);
    expect((await get(`partition/${nobody}`)).status).toBe(404);
  });
});
