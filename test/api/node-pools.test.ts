import { beforeEach, describe, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const put = (name: string, body: object, token?: string) =>
  api.call('PUT', `/v1/node/pool/${name}`, { body, ...(token && { token }) });
const names = async (query = '') =>
  (await api.call('GET', `/v1/node/pools${query}`)).json.map(({ Name }: { Name: string }) => Name);
const submit = (changes: object = {}) => api.call('POST', '/v1/jobs', { body: jobBody(changes) });

test('there are two builtin pools', async () => {
  expect(await names()).toEqual(['all', 'default']);
  expect((await api.call('GET', '/v1/node/pool/all')).json.Description).not.toBe('');
});

describe('a pool', () => {
  const gpu = { Description: 'accelerators', Meta: { owner: 'research' } };

  test('is created, read, replaced, listed and deleted', async () => {
    const SchedulerConfiguration = { SchedulerAlgorithm: 'spread' };
    const made = await put('gpu', { ...gpu, SchedulerConfiguration });
    expect(made.status).toBe(200);
    expect((await api.call('GET', '/v1/node/pool/gpu')).json).toEqual({
      Name: 'gpu',
      ...gpu,
      SchedulerConfiguration,
      CreateIndex: made.json.CreateIndex,
      ModifyIndex: made.json.ModifyIndex,
    });
    const body = { Name: 'gpu', Description: 'others' };
    const replaced = await api.call('POST', '/v1/node/pools', { body });
    expect(replaced.json).toMatchObject({ ...body, Meta: null, SchedulerConfiguration: null });
    expect(replaced.json.CreateIndex).toBe(made.json.CreateIndex);
    expect(await names('?prefix=g')).toEqual(['gpu']);
    expect((await api.call('DELETE', '/v1/node/pool/gpu')).json).toBe(true);
    expect((await api.call('GET', '/v1/node/pool/gpu')).status).toBe(404);
  });

  test.each([
    ['an invalid name', 'a%20b', {}, 400, 'invalid-body'],
    ['a name too long', 'x'.repeat(129), {}, 400, 'invalid-body'],
    ['another name in the path', 'gpu', { Name: 'cpu' }, 400, 'id-mismatch'],
    ['a description too long', 'gpu', { Description: 'x'.repeat(257) }, 400, 'invalid-body'],
    ['a label too long', 'gpu', { Meta: { a: 'x'.repeat(513) } }, 400, 'invalid-body'],
    [
      'an algorithm there is not',
      'gpu',
      { SchedulerConfiguration: { SchedulerAlgorithm: 'best' } },
      400,
      'invalid-body',
    ],
    ['an unknown field', 'gpu', { Colour: 'red' }, 400, 'invalid-body'],
    ['the name of a builtin one', 'default', {}, 400, 'builtin-protected'],
    ['the name of every node', 'all', {}, 400, 'builtin-protected'],
  ])('with %s is refused', async (_title, name, body, status, code) => {
    const answer = await put(name, body);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(await names()).toEqual(['all', 'default']);
  });

  test('that is builtin or unknown cannot be deleted', async () => {
    const codes = ['default', 'all', 'gone'].map(async (name) => {
      const { status, json } = await api.call('DELETE', `/v1/node/pool/${name}`);
      return [status, json.code];
    });
    expect(await Promise.all(codes)).toEqual([
      [400, 'builtin-protected'],
      [400, 'builtin-protected'],
      [404, 'node-pool-not-found'],
    ]);
  });

  test('cannot be deleted while it has nodes or jobs', async () => {
    const fleet = new Fleet(api);
    await put('gpu', gpu);
    await submit({ NodePool: 'gpu' });
    await fleet.join(1, { NodePool: 'gpu' });
    await api.settle();
    const refused = async () => (await api.call('DELETE', '/v1/node/pool/gpu')).json.detail;
    expect(await refused()).toContain('nodes and jobs');
    await api.call('PUT', `/v1/node/${idOf(1)}/purge`);
    expect(await refused()).toContain('jobs');
    await api.call('DELETE', '/v1/job/web');
    await api.settle();
    expect((await api.call('DELETE', '/v1/node/pool/gpu')).json).toBe(true);
  });

  test('that a job names has to exist', async () => {
    const answer = await submit({ NodePool: 'gone' });
    expect([answer.status, answer.json.code]).toEqual([404, 'node-pool-not-found']);
    expect((await api.call('GET', '/v1/jobs')).json).toEqual([]);
    expect((await submit({ NodePool: 'all' })).status).toBe(200);
  });

  test('that a node names is created', async () => {
    const fleet = new Fleet(api);
    await fleet.join(1, { NodePool: 'edge' });
    expect(await names()).toEqual(['all', 'default', 'edge']);
    expect((await put('edge', gpu)).json.Description).toBe('accelerators');
  });
});

describe('nodes and jobs of a pool', () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = new Fleet(api);
    await fleet.join(2);
    await put('gpu', {});
    await fleet.join(1, { NodePool: 'gpu' });
    await submit({ ID: 'plain' });
    await submit({ ID: 'special', NodePool: 'gpu' });
    await api.settle();
  });
  const listed = async (path: string) =>
    (await api.call('GET', `/v1/node/pool/${path}`)).json.map(
      (one: { Name?: string; ID: string }) => one.Name ?? one.ID,
    );

  test.each([
    ['gpu/nodes', ['n3']],
    ['default/nodes', ['n1', 'n2']],
    ['all/nodes', ['n1', 'n2', 'n3']],
    ['all/nodes?per_page=2', ['n1', 'n2']],
    ['gpu/jobs', ['special']],
    ['default/jobs', ['plain']],
    ['all/jobs', []],
    ['gpu/jobs?namespace=*', ['special']],
  ])('%s', async (path, expected) => {
    expect(await listed(path)).toEqual(expected);
  });

  test('are paged to the end', async () => {
    const first = await api.call('GET', '/v1/node/pool/all/nodes?per_page=2');
    const token = encodeURIComponent(first.headers['x-scheduler-nexttoken']!);
    expect(await listed(`all/nodes?per_page=2&next_token=${token}`)).toEqual(['n3']);
  });

  test('determine placements', async () => {
    const at = async (job: string) => (await api.call('GET', `/v1/job/${job}/allocations`)).json;
    expect((await at('special')).map((one: { NodeID: string }) => one.NodeID)).toEqual([idOf(3)]);
    expect((await at('plain')).map((one: { NodeID: string }) => one.NodeID)).not.toContain(idOf(3));
  });

  test('of an unknown pool are a 404', async () => {
    for (const rest of ['nodes', 'jobs']) {
      const { status, json } = await api.call('GET', `/v1/node/pool/gone/${rest}`);
      expect([status, json.code]).toEqual([404, 'node-pool-not-found']);
    }
  });

  test('wake blocking queries', async () => {
    const { headers } = await api.call('GET', '/v1/node/pool/gpu/nodes');
    const index = headers['x-scheduler-index'];
    const waiting = api.call('GET', `/v1/node/pool/gpu/nodes?index=${index}`);
    await fleet.join(1, { NodePool: 'gpu' });
    expect((await waiting).json).toHaveLength(2);
  });
});

describe('permissions', () => {
  const tokenFor = async (Rules: string): Promise<string> => {
    await api.call('PUT', '/v1/acl/policy', { body: { Name: 'p', Rules } });
    const body = { Policies: [{ Name: 'p' }] };
    return (await api.call('PUT', '/v1/acl/token', { body })).json.SecretID;
  };
  beforeEach(async () => {
    await put('gpu', {});
    await put('web', {});
  });

  test.each([
    ['nothing', 'agent_prefix "" { policy = "read" }', [], 403, 403, 403],
    ['read', 'node_pool "gpu" { policy = "read" }', ['gpu'], 200, 403, 403],
    ['capabilities', 'node_pool "gpu" { capabilities = ["write"] }', [], 403, 200, 403],
    ['write', 'node_pool "g*" { policy = "write" }', ['gpu'], 200, 200, 200],
  ])('by %s', async (_title, rules, seen, reads, writes, deletes) => {
    const token = await tokenFor(rules);
    const list = await api.call('GET', '/v1/node/pools', { token });
    expect(list.json.map(({ Name }: { Name: string }) => Name)).toEqual(seen);
    expect((await api.call('GET', '/v1/node/pool/gpu', { token })).status).toBe(reads);
    expect((await put('gpu', {}, token)).status).toBe(writes);
    expect((await api.call('DELETE', '/v1/node/pool/gpu', { token })).status).toBe(deletes);
    expect((await put('web', {}, token)).status).toBe(403);
  });

  test('for nodes and jobs of a pool include those for nodes and jobs', async () => {
    const rules = 'node_pool "gpu" { policy = "read" }';
    const token = await tokenFor(rules);
    for (const rest of ['nodes', 'jobs']) {
      const url = `/v1/node/pool/gpu/${rest}`;
      expect((await api.call('GET', url, { token })).status).toBe(403);
    }
    const more = 'node_prefix "" { policy = "read" } namespace "default" { policy = "read" }';
    const body = { Name: 'p', Rules: `${rules} ${more}` };
    const { ID } = (await api.call('GET', '/v1/acl/policy/name/p')).json;
    await api.call('PUT', `/v1/acl/policy/${ID}`, { body });
    for (const rest of ['nodes', 'jobs']) {
      const url = `/v1/node/pool/gpu/${rest}`;
      expect((await api.call('GET', url, { token })).status).toBe(200);
    }
  });
});
