import { beforeEach, describe, expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Evaluation } from '../../src/model/evaluation/evaluation.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';

// Jobs with one allocation on every node.

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
  await fleet.join(3);
});

const second = 1000;
const atOnce = { MaxParallel: 0 };

async function submit(group: object = {}, task: object = {}, job: object = {}) {
  const Update = (job as { Type?: string }).Type === 'sysbatch' ? null : atOnce;
  const body = jobBody(
    { ID: 'daemon', Type: 'system', ...job },
    { Count: 1, Update, ReschedulePolicy: null, ...group },
    task,
  );
  const { status, text } = await api.call('POST', '/v1/jobs', { body });
  expect(status, text).toBe(200);
  await api.settle();
  await fleet.obey();
  await api.settle();
}

const get = async <T>(url: string): Promise<T> => (await api.call('GET', url)).json;
const all = () => get<Allocation[]>('/v1/job/daemon/allocations');
const evaluations = () => get<Evaluation[]>('/v1/job/daemon/evaluations');
const waiting = async () =>
  (await evaluations())
    .filter(({ Status }) => Status === 'blocked')
    .map(({ NodeID }) => NodeID)
    .sort();
/** The names of the nodes that run it. */
const runsOn = async (version?: number) =>
  (await all())
    .filter(({ DesiredStatus, ClientStatus, JobVersion }) => {
      const runs = DesiredStatus === 'run' && ClientStatus === 'running';
      return runs && (version === undefined || JobVersion === version);
    })
    .map(({ NodeName }) => NodeName)
    .sort();
/** More than half of a node. */
const large = { Resources: { CPU: 2400, MemoryMB: 64 } };

test('a system job runs on every node, also on new ones', async () => {
  await submit();
  expect(await runsOn()).toEqual(['n1', 'n2', 'n3']);
  const [one] = await all();
  expect(one).toMatchObject({ Name: 'daemon.web[0]', JobVersion: 0 });
  await fleet.join(1);
  await fleet.pass(second);
  expect(await runsOn()).toEqual(['n1', 'n2', 'n3', 'n4']);
  expect((await get<{ Status: string }>('/v1/job/daemon')).Status).toBe('running');
});

test('lost allocations are replaced when their node is back', async () => {
  await submit();
  fleet.cut(2);
  await fleet.pass(60 * second);
  expect(await runsOn()).toEqual(['n1', 'n3']);
  expect((await all()).map(({ ClientStatus }) => ClientStatus).sort()).toEqual([
    'lost',
    'running',
    'running',
  ]);
  await fleet.restore(2);
  await fleet.pass(2 * second);
  expect(await runsOn()).toEqual(['n1', 'n2', 'n3']);
});

test('a stop ends a system job on every node', async () => {
  await submit();
  await api.call('DELETE', '/v1/job/daemon');
  await api.settle();
  await fleet.obey();
  expect(await runsOn()).toEqual([]);
});

describe('a node without room', () => {
  const filler = () =>
    api.call('POST', '/v1/jobs', {
      body: jobBody(
        { ID: 'filler', Type: 'batch' },
        { Count: 2, Update: null, Constraints: [{ Operand: 'distinct_hosts' }] },
        large,
      ),
    });

  test('has its own blocked evaluation, which wakes when the node has room', async () => {
    await filler();
    await api.settle();
    await fleet.obey();
    const full = (await get<Allocation[]>('/v1/job/filler/allocations')).map((one) => one.NodeID);
    await submit({}, large);
    expect(await waiting()).toEqual([...full].sort());
    expect(await runsOn()).toHaveLength(1);
    const [last] = (await evaluations()).filter(({ Status }) => Status === 'complete');
    expect(last!.FailedTGAllocs!.web).toMatchObject({
      NodesExhausted: 2,
      DimensionExhausted: { cpu: 2 },
    });
    const summary = await get<{ Summary: object }>('/v1/job/daemon/summary');
    expect(summary.Summary).toMatchObject({ web: { Queued: 2, Running: 1 } });

    // An allocation ends on one of the two nodes, and only that one is replaced.
    await fleet.obey(({ JobID, NodeID }) =>
      JobID === 'filler' && NodeID === full[0] ? 'complete' : 'running',
    );
    await fleet.pass(second, ({ JobID, NodeID }) =>
      JobID === 'filler' && NodeID === full[0] ? 'complete' : 'running',
    );
    expect(await runsOn()).toHaveLength(2);
    expect(await waiting()).toEqual([full[1]]);

    await fleet.pass(2 * second, ({ JobID }) => (JobID === 'filler' ? 'complete' : 'running'));
    expect(await runsOn()).toEqual(['n1', 'n2', 'n3']);
    expect(await waiting()).toEqual([]);
    const after = await get<{ Summary: object }>('/v1/job/daemon/summary');
    expect(after.Summary).toMatchObject({ web: { Queued: 0, Running: 3 } });
  });

  test('is still waited for after a failure on another node', async () => {
    const failsOn =
      (name: string) =>
      ({ JobID, NodeName }: Allocation) =>
        JobID === 'daemon' && NodeName === name ? 'failed' : 'running';
    await submit();
    await fleet.pass(second, failsOn('n1'));
    expect(await runsOn()).toEqual(['n2', 'n3']);
    const Constraints = [{ LTarget: '${node.unique.name}', Operand: '=', RTarget: 'n1' }];
    const changes = { ID: 'filler', Type: 'batch' };
    const body = jobBody(changes, { Count: 1, Update: null, Constraints }, large);
    await api.call('POST', '/v1/jobs', { body });
    await api.settle();
    await fleet.obey();
    await submit({}, large);
    const [full, ...others] = await waiting();
    expect(others).toEqual([]);

    await fleet.pass(second, failsOn('n2'));
    expect(await runsOn()).toEqual(['n3']);
    expect(await waiting()).toEqual([full]);
    await fleet.pass(2 * second, ({ JobID }) => (JobID === 'filler' ? 'complete' : 'running'));
    expect(await runsOn()).toContain('n1');
  });

  test('is waited for with the priority that the job has by now', async () => {
    const Constraints = [{ LTarget: '${node.unique.name}', Operand: '=', RTarget: 'n1' }];
    const batch = (ID: string, Priority: number) => {
      const changes = { ID, Type: 'batch', Priority };
      const body = jobBody(changes, { Count: 1, Update: null, Constraints }, large);
      return api.call('POST', '/v1/jobs', { body });
    };
    await batch('filler', 90);
    await api.settle();
    await fleet.obey();
    await submit({}, large, { Priority: 10 });
    await batch('other', 40);
    await submit({}, large, { Priority: 70 });
    expect(await runsOn()).toEqual(['n2', 'n3']);
    await fleet.pass(2 * second, ({ JobID }) => (JobID === 'filler' ? 'complete' : 'running'));
    expect(await runsOn()).toEqual(['n1', 'n2', 'n3']);
  });

  test('is not waited for after it is lost or the job is stopped', async () => {
    await filler();
    await api.settle();
    await fleet.obey();
    await submit({}, large);
    const [first] = await waiting();
    const url = `/v1/node/${first}/eligibility`;
    await api.call('PUT', url, { body: { Eligibility: 'ineligible' } });
    await submit({}, { ...large, Env: { A: 'b' } });
    expect(await waiting()).toHaveLength(1);
    await api.call('DELETE', '/v1/job/daemon');
    await api.settle();
    expect(await waiting()).toEqual([]);
  });
});

test('a new version is rolled out in steps, and can be rolled back', async () => {
  const steps = { Update: { MaxParallel: 1, MinHealthyTime: 0 } };
  await submit(steps, { Env: { v: '1' } });
  await fleet.pass(3 * second);
  const first = await get<{ Status: string; TaskGroups: object }>('/v1/job/daemon/deployment');
  expect(first).toMatchObject({
    Status: 'successful',
    TaskGroups: { web: { DesiredTotal: 3, PlacedAllocs: 3, HealthyAllocs: 3 } },
  });
  expect(await get('/v1/job/daemon')).toMatchObject({ Stable: true });
  await submit(steps, { Env: { v: '2' } });
  const seen = new Set([(await runsOn(1)).length]);
  for (let step = 0; step < 8; step++) {
    await fleet.pass(second);
    seen.add((await runsOn(1)).length);
  }
  expect([...seen]).toEqual([1, 2, 3]);
  expect(await get('/v1/job/daemon/deployment')).toMatchObject({ Status: 'successful' });
});

test('a sysbatch job runs once on each node, and again for a new version', async () => {
  await submit({}, { Env: { v: '1' } }, { Type: 'sysbatch' });
  await fleet.pass(second, ({ NodeName }) => (NodeName === 'n1' ? 'failed' : 'complete'));
  expect((await all()).map(({ ClientStatus }) => ClientStatus).sort()).toEqual([
    'complete',
    'complete',
    'failed',
  ]);
  await fleet.join(1);
  await fleet.pass(2 * second, () => 'complete');
  expect(await all()).toHaveLength(4);
  expect(await get('/v1/job/daemon')).toMatchObject({ Status: 'dead' });
  await submit({}, { Env: { v: '2' } }, { Type: 'sysbatch' });
  expect(await runsOn(1)).toEqual(['n1', 'n2', 'n3', 'n4']);
});

test('on a drained node a system job is stopped last, and it comes back', async () => {
  await submit();
  const drain = (body: object) => api.call('PUT', `/v1/node/${idOf(1)}/drain`, { body });
  await drain({ DrainSpec: { Deadline: 0, IgnoreSystemJobs: false } });
  await fleet.pass(10 * second);
  expect(await runsOn()).toEqual(['n2', 'n3']);
  await drain({ DrainSpec: null, MarkEligible: true });
  await fleet.pass(2 * second);
  expect(await runsOn()).toEqual(['n1', 'n2', 'n3']);
});
