import { beforeEach, describe, expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type {
  AllocationExplanation,
  JobProspect,
  NodeVerdict,
} from '../../src/model/explanation/explanation.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';
import { withoutReferences } from '../support/openapi-references.ts';

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
});

/** The part of the node that jobs can use. */
const sized = (CpuShares: number) => ({
  NodeResources: {
    Cpu: { CpuShares, TotalCpuCores: 2 },
    Memory: { MemoryMB: 8192 },
    Disk: { DiskMB: 100_000 },
    Networks: [{ Mode: 'host', Device: 'lo', IP: '127.0.0.1' }],
  },
});

async function run(changes: object = {}, group: object = {}, task: object = {}) {
  const { status, text } = await api.call('POST', '/v1/jobs', {
    body: jobBody(changes, group, task),
  });
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  await api.settle();
}

const get = async (url: string, token?: string) => {
  const called = await reach(url, token);
  expect([called.status, called.status === 200 ? '' : called.text]).toEqual([200, '']);
  return called.json;
};

/** Explanations are computed in slices, between which time has to pass. */
async function reach(url: string, token?: string) {
  const calling = api.call('GET', url, token === undefined ? {} : { token });
  await api.settle();
  return calling;
}

const allocationsOf = async (job = 'web') =>
  (await get(`/v1/job/${job}/allocations`)) as [Allocation];
const why = async (id: string, token?: string): Promise<AllocationExplanation> =>
  get(`/v1/allocation/${id}/why`, token);
const whyNot = async (query = '', job = 'web'): Promise<JobProspect> =>
  get(`/v1/job/${job}/why-not${query}`);

async function tokenWith(...rules: string[]): Promise<string> {
  const Name = `p${rules.join('').length}`;
  await api.call('PUT', '/v1/acl/policy', { body: { Name, Rules: rules.join('\n') } });
  const { json } = await api.call('PUT', '/v1/acl/token', { body: { Policies: [{ Name }] } });
  return json.SecretID;
}

describe('an explanation of an allocation', () => {
  test('has a verdict on every node, and the margin between winner and runner-up', async () => {
    await fleet.join(1, sized(1000));
    await fleet.join(1, sized(2000));
    await fleet.join(1, sized(60));
    await fleet.join(1, { ...sized(1000), Drivers: {} });
    await fleet.join(1, { ...sized(1000), Datacenter: 'dc2' });
    await run({ Datacenters: ['dc1'] });
    const [{ ID, EvalID }] = await allocationsOf();
    const { Metrics } = await get(`/v1/allocation/${ID}`);
    const told = await why(ID);
    expect(told).toMatchObject({
      AllocID: ID,
      Name: 'web.web[0]',
      Namespace: 'default',
      JobID: 'web',
      EvalID,
      NodeID: idOf(1),
      NodeName: 'n1',
      TaskGroup: 'web',
      JobVersion: 0,
      Basis: 'decision',
      Note: '',
      Algorithm: 'binpack',
      Manner: 'best',
      NodesHidden: 0,
      Counts: { open: 2, exhausted: 1, filtered: 1, unasked: 0, excluded: 1 },
    });
    expect(told.Nodes.map((one) => [one.NodeName, one.Verdict, one.Reason])).toEqual([
      ['n1', 'open', ''],
      ['n2', 'open', ''],
      ['n3', 'exhausted', ''],
      ['n4', 'filtered', 'missing driver mock'],
      ['n5', 'excluded', 'datacenter is not one of dc1'],
    ]);
    const [winner, second, short] = told.Nodes as [NodeVerdict, NodeVerdict, NodeVerdict];
    expect(winner.Scores).toEqual({ binpack: winner.NormScore });
    expect(told.NormScore).toBe(winner.NormScore);
    const { NormScore } = second;
    expect(told.RunnerUp).toEqual({ NodeID: idOf(2), NodeName: 'n2', NormScore });
    expect(told.Margin).toBe(winner.NormScore! - NormScore!);
    expect(told.Margin).toBeGreaterThan(0);
    expect(short.Lacks).toEqual([{ Dimension: 'cpu', Asked: 100, Free: 60, Total: 60 }]);
    // The decision recorded the same.
    expect(told.Recorded).toEqual(Metrics);
    expect(Metrics).toMatchObject({
      NodesEvaluated: 4,
      NodesFiltered: 1,
      NodesExhausted: 1,
      NodesInPool: 5,
      ScoreMetaData: [
        { NodeID: idOf(1), NormScore: told.NormScore },
        { NodeID: idOf(2), NormScore },
      ],
    });
  });

  test('of a group shows each allocation at its own turn', async () => {
    await fleet.join(2, sized(250));
    await run({}, { Count: 4 });
    const told = await Promise.all((await allocationsOf()).map(({ ID }) => why(ID)));
    // Two fit on each node, which is then full.
    const turns = told
      .map(({ Counts, NodeName, Nodes }) => [Counts.exhausted, NodeName, Nodes[0]!.NodeName])
      .sort();
    expect(turns.map(([exhausted]) => exhausted)).toEqual([0, 0, 0, 1]);
    for (const [, chosen, best] of turns) expect(chosen).toBe(best);
    expect(told.every(({ Basis }) => Basis === 'decision')).toBe(true);
  });

  test('is not changed by later events', async () => {
    await fleet.join(2, sized(1000));
    await run();
    const [{ ID }] = await allocationsOf();
    const before = await why(ID);
    await run({ ID: 'other' }, { Count: 9 });
    await api.call('PUT', `/v1/node/${idOf(2)}/eligibility`, {
      body: { Eligibility: 'ineligible' },
    });
    expect(await why(ID)).toEqual(before);
  });

  test('of an older allocation uses the current state and says so', async () => {
    await fleet.join(2, sized(100_000));
    await run();
    const [{ ID }] = await allocationsOf();
    for (let n = 0; n < 64; n++) await run({ ID: `later-${n}` });
    const told = await why(ID);
    expect(told).toMatchObject({ Basis: 'now', Manner: 'best', NodeName: 'n1' });
    expect(told.Note).toContain('not kept any more');
    expect(told.Nodes.map((one) => one.Verdict)).toEqual(['open', 'open']);
    // The allocation's own presence does not count against it.
    expect(told.Nodes[0]!.Scores).toEqual({ binpack: told.NormScore });
    await api.call('DELETE', '/v1/job/web?purge=true');
    await api.settle();
    expect(await why(ID)).toMatchObject({ Basis: 'none', Nodes: [], RunnerUp: null });
  });

  test('of a system job covers its node only', async () => {
    await fleet.join(2, sized(1000));
    await run({ Type: 'system' });
    const [{ ID }] = await allocationsOf();
    expect(await why(ID)).toMatchObject({ Manner: 'own-node', RunnerUp: null, Margin: null });
  });

  test('is refused for an unknown id, and without the permission', async () => {
    const { status, json } = await reach('/v1/allocation/none/why');
    expect([status, json.code]).toEqual([404, 'allocation-not-found']);
    await fleet.join(1);
    await run();
    const [{ ID }] = await allocationsOf();
    const nodeReader = await tokenWith('node_prefix "" { policy = "read" }');
    expect((await reach(`/v1/allocation/${ID}/why`, nodeReader)).status).toBe(403);
  });

  test('counts unreadable nodes without showing them', async () => {
    await fleet.join(3, sized(1000));
    await run();
    const [{ ID }] = await allocationsOf();
    const readsJobs = 'namespace "default" { capabilities = ["read-job"] }';
    const told = await why(ID, await tokenWith(readsJobs));
    expect(told).toMatchObject({ NodesHidden: 2, Counts: { open: 3 } });
    expect(told.Nodes.map((one) => one.NodeName)).toEqual(['n1']);
    expect(told.RunnerUp).toMatchObject({ NodeID: idOf(2), NodeName: '' });
    const some = await why(ID, await tokenWith(readsJobs, 'node "n2" { policy = "read" }'));
    expect(some.Nodes.map((one) => one.NodeName)).toEqual(['n1', 'n2']);
    expect(some).toMatchObject({ NodesHidden: 1, RunnerUp: { NodeName: 'n2' } });
  });
});

describe('the reasons for a missing allocation', () => {
  test("are each node's shortage, in numbers and in a sentence, and the waiting evaluations", async () => {
    await fleet.join(1, sized(1000));
    await fleet.join(1, sized(1200));
    await fleet.join(1, { ...sized(9000), Drivers: {} });
    await run({}, { Count: 2 }, { Resources: { CPU: 4000, MemoryMB: 64 } });
    const told = await whyNot();
    expect(told).toMatchObject({ JobID: 'web', Type: 'service', Note: '', Version: 0 });
    const group = told.Groups[0]!;
    expect(told.Groups).toHaveLength(1);
    expect(group).toMatchObject({
      TaskGroup: 'web',
      Count: 2,
      Queued: 2,
      Placeable: 0,
      Unplaceable: 2,
      Counts: { open: 0, exhausted: 2, filtered: 1, unasked: 0, excluded: 0 },
      Recorded: { DimensionExhausted: { cpu: 2 }, CoalescedFailures: 1 },
    });
    expect(group.Summary).toBe(
      '2 allocations of the group "web" find no node. It needs 4000 MHz of CPU; the largest free is 1200 MHz, on node n2; none has so much even when it is empty. 1 more ruled out: missing driver mock (1).',
    );
    expect(group.Nodes.map((one) => [one.NodeName, one.Lacks[0]?.Free, one.Reason])).toEqual([
      ['n1', 1000, ''],
      ['n2', 1200, ''],
      ['n3', undefined, 'missing driver mock'],
    ]);
    expect(told.Evaluations).toMatchObject([{ Status: 'blocked', TriggeredBy: 'queued-allocs' }]);
    const { Groups } = await whyNot(`?node=${idOf(3)}`);
    expect(Groups[0]!.Nodes.map((one) => one.NodeName)).toEqual(['n3']);
  });

  test('distinguish ineligible nodes, missing devices, and cores from their share', async () => {
    await fleet.join(3, {
      NodeResources: {
        ...sized(4000).NodeResources,
        Cpu: { CpuShares: 4000, TotalCpuCores: 4, ReservableCpuCores: [0, 1, 2, 3] },
        Devices: [{ Type: 'gpu', Instances: [{ ID: 'a' }] }],
      },
    });
    await api.call('PUT', `/v1/node/${idOf(2)}/eligibility`, {
      body: { Eligibility: 'ineligible' },
    });
    await run({ ID: 'kept', Type: 'batch' });
    await fleet.obey();
    await api.call('PUT', `/v1/node/${idOf(1)}/drain`, { body: { DrainSpec: { Deadline: 0 } } });
    await run({}, {}, { Resources: { Cores: 9, MemoryMB: 10 } });
    const [tooMany] = (await whyNot()).Groups;
    expect(tooMany!.Reason).toBe(
      'It needs 9 cores; the largest free is 4 cores, on node n3; none has so much even when it is empty.',
    );
    expect(tooMany!.Recorded!.DimensionExhausted).toEqual({ cores: 1 });
    expect(tooMany!.Nodes.map(({ NodeName, Reason }) => [NodeName, Reason])).toEqual([
      ['n3', ''],
      ['n1', 'node is being drained'],
      ['n2', 'node is ineligible'],
    ]);
    const asks = (Name: string, Count: number) => ({
      Resources: { CPU: 10, MemoryMB: 10, Devices: [{ Name, Count }] },
    });
    await run({ ID: 'tpu' }, {}, asks('tpu', 1));
    await run({ ID: 'gpus' }, {}, asks('gpu', 2));
    const reasons = ['tpu', 'gpus'].map(async (job) => (await whyNot('', job)).Groups[0]!.Reason);
    expect(await Promise.all(reasons)).toEqual([
      'Every candidate node is ruled out: no suitable device tpu (1).',
      'Every candidate node is ruled out: too few healthy pieces of device gpu (1).',
    ]);
  });

  test('say when a node fits, or nothing is missing', async () => {
    await fleet.join(1, sized(1000));
    await run();
    expect((await whyNot()).Groups).toEqual([]);
    const one = (await whyNot('?group=web')).Groups[0]!;
    expect(one).toMatchObject({ Placeable: 0, Unplaceable: 0, Queued: 0, Counts: { open: 1 } });
    expect(one.Summary).toBe(
      'Nothing of the group "web" waits for a node. One more would go to node n1.',
    );
    await api.call('DELETE', '/v1/job/web');
    await api.settle();
    expect((await whyNot()).Groups).toEqual([]);
    const stopped = await whyNot('?group=web');
    expect(stopped.Note).toBe('The job is stopped: nothing of it is placed.');
    expect(stopped.Groups[0]!.Summary).toContain('The job is stopped');
    await run({ ID: 'nightly', Type: 'batch', Periodic: { Spec: '@daily', SpecType: 'cron' } });
    expect((await whyNot('', 'nightly')).Note).toContain('periodic');
  });

  test("of a system job show each node's own allocation", async () => {
    await fleet.join(1, sized(1000));
    await fleet.join(1, sized(50));
    await run({ Type: 'system' });
    const { Groups, Evaluations } = await whyNot();
    expect(Groups[0]!.Nodes.map((one) => [one.NodeName, one.Verdict, one.Reason])).toEqual([
      ['n2', 'exhausted', ''],
      ['n1', 'unasked', 'web.web[0] is on the node already'],
    ]);
    expect(Evaluations).toMatchObject([{ Status: 'blocked', NodeID: idOf(2) }]);
  });

  test('include new room before the scheduler has used it', async () => {
    await fleet.join(1, sized(100));
    await run({}, { Count: 2 });
    expect((await whyNot()).Groups[0]!).toMatchObject({ Unplaceable: 1, Queued: 1 });
    await fleet.join(1, sized(1000));
    await fleet.pass(1000);
    expect((await whyNot()).Groups).toEqual([]);
  });

  test.each([
    ['/v1/job/none/why-not', 404, 'job-not-found'],
    ['/v1/job/web/why-not?group=none', 404, 'group-not-found'],
    ['/v1/job/web/why-not?node=none', 404, 'node-not-found'],
  ])('GET %s', async (url, status, code) => {
    await run();
    const called = await reach(url);
    expect([called.status, called.json.code]).toEqual([status, code]);
  });

  test('of a single node need read access to it', async () => {
    await fleet.join(1, sized(50));
    await run();
    const token = await tokenWith('namespace "default" { capabilities = ["read-job"] }');
    const url = '/v1/job/web/why-not';
    const told = await get(url, token);
    expect(told.Groups[0]!).toMatchObject({ Nodes: [], NodesHidden: 1, Counts: { exhausted: 1 } });
    expect(told.Groups[0]!.Summary).toBe(
      '1 allocation of the group "web" finds no node. It needs 100 MHz of CPU; no node has that left; none has so much even when it is empty.',
    );
    const refused = await reach(`${url}?node=${idOf(1)}`, token);
    expect([refused.status, refused.json.detail]).toEqual([
      403,
      expect.stringContaining('node:read'),
    ]);
    // Without read access, an existing and an unknown node are answered alike.
    expect((await reach(`${url}?node=none`, token)).status).toBe(403);
  });
});

test('the answers conform to the OpenAPI document', async () => {
  const { paths } = withoutReferences(await get('/v1/openapi.json'));
  for (const path of ['/v1/allocation/{alloc_id}/why', '/v1/job/{job_id}/why-not']) {
    const { schema } = paths[path].get.responses[200].content['application/json'];
    expect(schema.type).toBe('object');
  }
  await fleet.join(1, sized(50));
  await run();
  const told = await whyNot();
  const { properties } =
    paths['/v1/job/{job_id}/why-not'].get.responses[200].content['application/json'].schema;
  expect(Object.keys(told).sort()).toEqual(Object.keys(properties).sort());
});
