import { beforeEach, expect, test } from 'vitest';
import { introduction, jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const { SecretID, Node } = nodeBody();
const self = `/v1/node/${Node.ID}`;
const join = (body: object = nodeBody(), token: string | null = introduction) =>
  api.call('PUT', '/v1/node/register', { body, token });

test('a node joins with an introduction token, is ready, and its secret is never shown', async () => {
  const { status, json } = await join();
  expect(status).toBe(200);
  expect(json.HeartbeatTTL).toBeGreaterThanOrEqual(10e9);
  const node = (await api.call('GET', self)).json;
  expect(node).toMatchObject({
    Name: 'node-1',
    Status: 'ready',
    SchedulingEligibility: 'eligible',
  });
  const list = await api.call('GET', '/v1/nodes?resources=true');
  for (const text of [JSON.stringify(node), list.text]) {
    expect(text).not.toContain('SecretHash');
    expect(text).not.toContain(SecretID);
    expect(text).not.toContain(api.world.secrets.hash(SecretID));
  }
});

test('a repeated registration changes nothing', async () => {
  await join();
  const before = api.state.read().index;
  await join(nodeBody(), SecretID);
  expect(api.state.read().index).toBe(before);
});

test.each([
  ['no token', {}, null, 403, 'permission-denied'],
  ['no body', undefined, introduction, 400, 'body-required'],
  ['no node', { SecretID }, introduction, 400, 'malformed-request'],
  ['an invalid id', nodeBody({ ID: 'x' }), introduction, 400, 'invalid-body'],
  ['no name', nodeBody({ Name: '' }), introduction, 400, 'invalid-body'],
  ['an invalid secret', { ...nodeBody(), SecretID: 'x' }, introduction, 400, 'invalid-body'],
  [
    'negative resources',
    nodeBody({ NodeResources: { Memory: { MemoryMB: -1 } } }),
    introduction,
    400,
    'invalid-body',
  ],
  [
    'more reserved than there is',
    nodeBody({ ReservedResources: { Cpu: { CpuShares: 9999 } } }),
    introduction,
    400,
    'invalid-body',
  ],
] as const)('%s is refused', async (_title, body, token, status, code) => {
  const answer = await api.call('PUT', '/v1/node/register', { body, token });
  expect([answer.status, answer.json.code]).toEqual([status, code]);
});

test('the id of another node is refused', async () => {
  await join();
  const stolen = { ...nodeBody(), SecretID: '55555555-5555-4555-8555-555555555555' };
  const answer = await join(stolen);
  expect([answer.status, answer.json.code]).toEqual([403, 'node-secret-mismatch']);
});

test('a node acts for itself only', async () => {
  await join();
  const other = '/v1/node/66666666-6666-4666-8666-666666666666';
  const as = (method: string, url: string, body?: object) =>
    api.call(method, url, { token: SecretID, ...(body && { body }) });
  expect((await as('PUT', `${self}/heartbeat`)).status).toBe(200);
  expect((await as('PUT', `${other}/heartbeat`)).status).toBe(403);
  expect((await as('GET', `${self}/assignments`)).json).toEqual([]);
  expect((await as('GET', `${other}/assignments`)).status).toBe(403);
  expect((await as('GET', '/v1/jobs')).status).toBe(403);
  expect((await as('POST', '/v1/jobs', jobBody())).status).toBe(403);
  expect((await as('GET', self)).status).toBe(200);
});

test('assignments include the job, and wake on changes by servers only', async () => {
  await join();
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
  const assigned = await api.call('GET', `${self}/assignments`, { token: SecretID });
  const [{ Allocation, Job }] = assigned.json;
  expect(Job).toMatchObject({ ID: 'web', Version: 0 });
  const index = assigned.headers['x-scheduler-index'];
  let answered = false;
  const parked = api
    .call('GET', `${self}/assignments?index=${index}`, { token: SecretID })
    .then((answer) => {
      answered = true;
      return answer.json;
    });
  const report = { ID: Allocation.ID, ClientStatus: 'running' };
  await api.call('PUT', `${self}/status`, { token: SecretID, body: { Allocations: [report] } });
  await api.settle();
  expect(answered).toBe(false);
  await api.call('DELETE', '/v1/job/web');
  await api.settle();
  expect((await parked)[0].Allocation).toMatchObject({
    ClientStatus: 'running',
    DesiredStatus: 'stop',
  });
});

test("reports about other nodes' allocations are refused, and about unknown ones dropped", async () => {
  await join();
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
  const [{ ID }] = (await api.call('GET', '/v1/allocations')).json;
  const other = {
    SecretID: '77777777-7777-4777-8777-777777777777',
    Node: { ...Node, ID: '88888888-8888-4888-8888-888888888888', Name: 'node-2' },
  };
  await join(other);
  const lie = await api.call('PUT', `/v1/node/${other.Node.ID}/status`, {
    token: other.SecretID,
    body: { Allocations: [{ ID, ClientStatus: 'failed' }] },
  });
  expect([lie.status, lie.json.code]).toEqual([400, 'invalid-body']);
  expect(lie.json.errors[0].pointer).toBe('/Allocations/0/ID');
  const unknown = await api.call('PUT', `${self}/status`, {
    token: SecretID,
    body: { Allocations: [{ ID: 'gone', ClientStatus: 'failed' }] },
  });
  expect(unknown.status).toBe(200);
});

test('a silent node is down and its work is replaced; then it comes back', async () => {
  await join();
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
  await api.world.advance(60_000);
  expect((await api.call('GET', self)).json.Status).toBe('down');
  const [lost] = (await api.call('GET', '/v1/job/web/allocations')).json;
  expect(lost).toMatchObject({ ClientStatus: 'lost', DesiredStatus: 'stop' });
  expect((await api.call('GET', '/v1/job/web/summary')).json.Summary.web).toMatchObject({
    Lost: 1,
    Queued: 1,
    Starting: 0,
  });
  const refused = await api.call('PUT', `${self}/heartbeat`, { token: SecretID });
  expect(refused.status).toBe(404);
  await join(nodeBody(), SecretID);
  await api.settle();
  expect((await api.call('GET', self)).json.Status).toBe('ready');
  const live = (await api.call('GET', '/v1/job/web/allocations')).json.filter(
    (one: { DesiredStatus: string }) => one.DesiredStatus === 'run',
  );
  expect(live).toHaveLength(1);
});

test('heartbeats keep a node ready', async () => {
  await join();
  for (let beat = 0; beat < 20; beat++) {
    await api.world.advance(9_000);
    await api.call('PUT', `${self}/heartbeat`, { token: SecretID });
  }
  expect((await api.call('GET', self)).json.Status).toBe('ready');
});
