/** Plans from outside: what registering a job would do, told without doing it. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { JobPlan } from '../../src/model/job-plan/job-plan.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet } from '../support/fleet.ts';

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
});

/** Plans are made in slices, and time has to pass between them. */
async function call(method: string, url: string, body: object, token?: string) {
  const calling = api.call(method, url, { body, ...(token !== undefined && { token }) });
  await api.settle();
  return calling;
}

type Changes = readonly [job?: object, group?: object, task?: object];

async function plan(changes: Changes = [], more: object = {}): Promise<JobPlan> {
  const body = { ...jobBody(...changes), Diff: true, ...more };
  const { status, json, text } = await call('POST', `/v1/job/${body.Job.ID}/plan`, body);
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  return json;
}

async function run(changes: Changes = [], more: object = {}) {
  const { status, json, text } = await call('POST', '/v1/jobs', {
    ...jobBody(...changes),
    ...more,
  });
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  await fleet.obey();
  return json;
}

const allocations = async (job = 'web'): Promise<Allocation[]> =>
  (await api.call('GET', `/v1/job/${job}/allocations`)).json;

const none = {
  ...{ Ignore: 0, Place: 0, Migrate: 0, Stop: 0, InPlaceUpdate: 0, DestructiveUpdate: 0 },
  ...{ Canary: 0, Preemptions: 0, Disconnect: 0, Reconnect: 0, RescheduleNow: 0 },
  RescheduleLater: 0,
};
const sized = (CpuShares: number) => ({
  NodeResources: {
    Cpu: { CpuShares, TotalCpuCores: 2 },
    Memory: { MemoryMB: 8192 },
    Disk: { DiskMB: 100_000 },
    Networks: [{ Mode: 'host', Device: 'lo', IP: '127.0.0.1' }],
  },
});
const told = ({ Changes }: JobPlan) =>
  Changes.map(({ Action, Name, NodeName }) => `${Action} ${Name} ${NodeName}`);
/** All at once. */
const atOnce = { Update: { MaxParallel: 0 } };

describe('what a plan says', () => {
  test('of a new job', async () => {
    await fleet.join(2, sized(250));
    const index = api.state.read().index;
    const made = await plan([{}, { Count: 3, ...atOnce }]);
    expect(made).toMatchObject({
      PlanID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      Annotations: { DesiredTGUpdates: { web: { ...none, Place: 3 } }, PreemptedAllocs: null },
      ...{ FailedTGAllocs: null, CreatedEvals: null, JobModifyIndex: 0, Index: 0, Warnings: '' },
      ...{ NextPeriodicLaunch: '0001-01-01T00:00:00Z', ChangesHidden: 0 },
    });
    expect(told(made)).toEqual([
      'place web.web[0] n1',
      'place web.web[1] n2',
      'place web.web[2] n1',
    ]);
    expect(made.Diff).toMatchObject({
      ...{ Type: 'Added', ID: 'web' },
      TaskGroups: [
        {
          ...{ Type: 'Added', Name: 'web', Updates: { create: 3 } },
          Tasks: [{ Type: 'Added', Name: 'server', Annotations: ['forces create'] }],
        },
      ],
    });
    expect(made.Diff!.TaskGroups![0]!.Fields).toEqual([
      { Type: 'Added', Name: 'Count', Old: '', New: '3', Annotations: ['forces create'] },
    ]);
    // Nothing is written.
    expect(api.state.read().index).toBe(index);
    expect((await api.call('GET', '/v1/job/web')).status).toBe(404);
    expect((await api.call('GET', '/v1/evaluations')).json).toEqual([]);
  });

  test('of a job that is as it was', async () => {
    await fleet.join(1);
    const { JobModifyIndex } = await run([{}, { Count: 2, ...atOnce }]);
    const made = await plan([{}, { Count: 2, ...atOnce }]);
    expect(made).toMatchObject({
      Annotations: { DesiredTGUpdates: { web: { ...none, Ignore: 2 } } },
      ...{ JobModifyIndex, Index: JobModifyIndex, Changes: [], FailedTGAllocs: null },
      Diff: {
        ...{ Type: 'None', Fields: null, Objects: null },
        TaskGroups: [
          {
            ...{ Type: 'None', Fields: null, Objects: null, Updates: { ignore: 2 } },
            Tasks: [{ Type: 'None', Fields: null, Objects: null, Annotations: null }],
          },
        ],
      },
    });
  });

  test('of a change that goes in place', async () => {
    await fleet.join(1);
    await run([{}, { Count: 2, ...atOnce }]);
    const made = await plan([{}, { Count: 2, ...atOnce }, { KillTimeout: '9s' }]);
    expect(made.Annotations.DesiredTGUpdates).toEqual({ web: { ...none, InPlaceUpdate: 2 } });
    expect(told(made)).toEqual(['update web.web[0] n1', 'update web.web[1] n1']);
    expect(made.Diff).toMatchObject({
      Type: 'Edited',
      TaskGroups: [
        {
          Updates: { 'in-place update': 2 },
          Tasks: [
            {
              Fields: [
                { Type: 'Edited', Name: 'KillTimeout', Old: '5000000000', New: '9000000000' },
              ],
              Annotations: ['forces in-place update'],
            },
          ],
        },
      ],
    });
  });

  test('of a change that replaces, all at once and step by step', async () => {
    await fleet.join(1);
    await run([{}, { Count: 3, ...atOnce }]);
    const all = await plan([{}, { Count: 3, ...atOnce }, { Env: { A: 'b' } }]);
    expect(all.Annotations.DesiredTGUpdates).toEqual({ web: { ...none, DestructiveUpdate: 3 } });
    expect(told(all)).toEqual(
      [0, 1, 2].flatMap((n) => [`place web.web[${n}] n1`, `stop web.web[${n}] n1`]),
    );
    expect(all.Changes[0]!.PreviousAllocation).toBe(all.Changes[1]!.AllocID);
    expect(all.Diff!.TaskGroups![0]).toMatchObject({
      Updates: { 'create/destroy update': 3 },
      Tasks: [
        {
          Fields: [{ Type: 'Added', Name: 'Env[A]', Old: '', New: 'b' }],
          Annotations: ['forces create/destroy update'],
        },
      ],
    });
    const steps = await plan([{}, { Count: 3, Update: { MaxParallel: 1 } }, { Env: { A: 'b' } }]);
    expect(steps.Annotations.DesiredTGUpdates).toEqual({
      web: { ...none, DestructiveUpdate: 1, Ignore: 2 },
    });
    expect(told(steps)).toEqual(['place web.web[0] n1', 'stop web.web[0] n1']);
  });

  test('of the meta of the job, which its tasks have as well', async () => {
    await fleet.join(1);
    await run([{}, atOnce]);
    const made = await plan([{ Meta: { a: 'b' } }, atOnce]);
    expect(made.Annotations.DesiredTGUpdates).toEqual({ web: { ...none, DestructiveUpdate: 1 } });
    expect(made.Diff).toMatchObject({
      Fields: [{ Type: 'Added', Name: 'Meta[a]', New: 'b' }],
      TaskGroups: [
        { Type: 'None', Tasks: [{ Type: 'None', Annotations: ['forces create/destroy update'] }] },
      ],
    });
  });

  test.each([
    [4, { Place: 2, Ignore: 2 }, 'forces create', { create: 2, ignore: 2 }],
    [1, { Stop: 1, Ignore: 1 }, 'forces destroy', { destroy: 1, ignore: 1 }],
    [0, { Stop: 2 }, 'forces destroy', { destroy: 2 }],
  ])('of a count of %i instead of 2', async (Count, updates, annotation, words) => {
    await fleet.join(1);
    await run([{}, { Count: 2, ...atOnce }]);
    const made = await plan([{}, { Count, ...atOnce }]);
    // Those that stay take the version up.
    const desired = made.Annotations.DesiredTGUpdates.web!;
    const { Ignore, InPlaceUpdate } = desired;
    expect({ ...desired, Ignore: Ignore + InPlaceUpdate, InPlaceUpdate: 0 }).toEqual({
      ...none,
      ...updates,
    });
    const [group] = made.Diff!.TaskGroups!;
    expect(group!.Fields).toEqual([
      { Type: 'Edited', Name: 'Count', Old: '2', New: String(Count), Annotations: [annotation] },
    ]);
    const {
      ignore = 0,
      'in-place update': inPlace = 0,
      ...others
    } = group!.Updates as Record<string, number>;
    expect({ ...others, ...(ignore + inPlace > 0 && { ignore: ignore + inPlace }) }).toEqual(words);
  });

  test('of canaries', async () => {
    await fleet.join(1);
    const canaries = { Count: 2, Update: { MaxParallel: 1, Canary: 1 } };
    await run([{}, canaries]);
    await fleet.pass(20_000);
    const made = await plan([{}, canaries, { Env: { A: 'b' } }]);
    expect(made.Annotations.DesiredTGUpdates).toEqual({ web: { ...none, Canary: 1, Ignore: 2 } });
    expect(made.Changes).toMatchObject([{ Action: 'place', Name: 'web.web[0]', Canary: true }]);
    expect(made.Diff!.TaskGroups![0]!.Updates).toEqual({ canary: 1, ignore: 2 });
  });

  test('of what finds no node, with the numbers', async () => {
    await fleet.join(1, sized(150));
    const made = await plan([{}, { Count: 3, ...atOnce }]);
    expect(told(made)).toEqual(['place web.web[0] n1']);
    expect(made.FailedTGAllocs).toMatchObject({
      web: {
        ...{ NodesEvaluated: 1, NodesFiltered: 0, NodesExhausted: 1, NodesInPool: 1 },
        ...{ NodesAvailable: { dc1: 1 }, DimensionExhausted: { cpu: 1 }, CoalescedFailures: 1 },
      },
    });
    expect(made.CreatedEvals).toMatchObject([
      { Status: 'blocked', JobID: 'web', TriggeredBy: 'queued-allocs', CreateIndex: 0 },
    ]);
    const filtered = await plan([
      { Constraints: [{ LTarget: '${attr.kernel.name}', Operand: '=', RTarget: 'plan9' }] },
    ]);
    expect(filtered.FailedTGAllocs).toMatchObject({
      web: { NodesFiltered: 1, ConstraintFiltered: { '${attr.kernel.name} = plan9': 1 } },
    });
  });

  test('of a system job', async () => {
    await fleet.join(3);
    const made = await plan([{ Type: 'system' }]);
    expect(made.Annotations.DesiredTGUpdates).toEqual({ web: { ...none, Place: 3 } });
    expect(told(made)).toEqual([1, 2, 3].map((n) => `place web.web[0] n${n}`));
  });

  test('of a job that was stopped, and of one that is to be', async () => {
    await fleet.join(1);
    await run([{}, atOnce]);
    const stop = await plan([{ Stop: true }, atOnce]);
    expect(stop.Annotations.DesiredTGUpdates).toEqual({ web: { ...none, Stop: 1 } });
    await api.call('DELETE', '/v1/job/web');
    await fleet.obey();
    const again = await plan([{}, atOnce]);
    expect(again.Annotations.DesiredTGUpdates).toEqual({ web: { ...none, Place: 1 } });
    expect(again.Diff!.Fields).toEqual([
      { Type: 'Edited', Name: 'Stop', Old: 'true', New: 'false', Annotations: null },
    ]);
  });

  test('of a group that is new and one that goes', async () => {
    await fleet.join(1);
    await run([{}, atOnce]);
    const made = await plan([{}, { ...atOnce, Name: 'api' }]);
    expect(made.Annotations.DesiredTGUpdates).toEqual({
      api: { ...none, Place: 1 },
      web: { ...none, Stop: 1 },
    });
    expect(made.Diff!.TaskGroups).toMatchObject([
      {
        Type: 'Added',
        Name: 'api',
        Updates: { create: 1 },
        Tasks: [{ Annotations: ['forces create'] }],
      },
      {
        Type: 'Deleted',
        Name: 'web',
        Updates: { destroy: 1 },
        Tasks: [{ Annotations: ['forces destroy'] }],
      },
    ]);
  });

  test('of what makes way for it, as far as the caller may know', async () => {
    await fleet.join(1, sized(100));
    await api.call('PUT', '/v1/namespace/other', { body: { Name: 'other' } });
    const { status } = await call(
      'POST',
      '/v1/jobs',
      jobBody({ ID: 'low', Namespace: 'other', Priority: 10 }),
    );
    expect(status).toBe(200);
    await fleet.obey();
    const made = await plan([{ Type: 'system', Priority: 90 }]);
    expect(told(made)).toEqual(['place web.web[0] n1', 'evict low.web[0] n1']);
    expect(made.Annotations).toMatchObject({
      DesiredTGUpdates: { web: { Place: 1, Preemptions: 1 } },
      PreemptedAllocs: [{ JobID: 'low', Namespace: 'other', Name: 'low.web[0]' }],
    });
    const Rules = 'namespace "default" { capabilities = ["submit-job"] }';
    await api.call('PUT', '/v1/acl/policy', { body: { Name: 'p', Rules } });
    const { json } = await api.call('PUT', '/v1/acl/token', {
      body: { Policies: [{ Name: 'p' }] },
    });
    const body = jobBody({ Type: 'system', Priority: 90 });
    const seen = (await call('POST', '/v1/job/web/plan', body, json.SecretID)).json;
    expect(told(seen)).toEqual(['place web.web[0] n1']);
    expect(seen).toMatchObject({
      ...{ Diff: null, ChangesHidden: 1 },
      Annotations: { DesiredTGUpdates: { web: { Preemptions: 1 } }, PreemptedAllocs: null },
    });
  });

  test('of a periodic job: when it is launched', async () => {
    const Periodic = { Specs: ['30 4 * * *', '0 12 * * *'], TimeZone: 'Europe/Berlin' };
    const made = await plan([{ Type: 'batch', Periodic }]);
    expect(made).toMatchObject({
      ...{ NextPeriodicLaunch: '2026-01-01T03:30:00Z', Changes: [] },
      Annotations: { DesiredTGUpdates: {} },
    });
    const off = await plan([{ Type: 'batch', Periodic: { ...Periodic, Enabled: false } }]);
    expect(off.NextPeriodicLaunch).toBe('0001-01-01T00:00:00Z');
  });

  test('with the counts that are there, when they are to be preserved', async () => {
    await fleet.join(1);
    await run([{}, { Count: 3, ...atOnce }]);
    const made = await plan([{}, { Count: 1, ...atOnce }], { PreserveCounts: true });
    expect(made.Diff!.Type).toBe('None');
    expect(made.Annotations.DesiredTGUpdates).toEqual({ web: { ...none, Ignore: 3 } });
  });

  test('with warnings: what is unknown, what is unwise, and that it would be refused', async () => {
    await run();
    const made = await plan([{ Type: 'batch', Colour: 'red' }]);
    expect(made.Warnings.split('\n').slice(2)).toEqual([
      '* registering the job would be refused: its type is service and cannot become batch',
      '* unknown field /Job/Colour is ignored',
    ]);
  });
});

describe('a plan is refused', () => {
  const refused = async (url: string, body: object, token?: string) => {
    const { status, json } = await call('POST', url, body, token);
    return [
      status,
      json.code,
      ...(json.errors ?? []).map((fault: { message: string }) => fault.message),
    ];
  };

  test('as registering the job would be', async () => {
    const url = '/v1/job/web/plan';
    expect(await refused(url, {})).toEqual([400, 'invalid-body', 'Job is required']);
    expect(await refused(url, { Job: { ID: '' }, Region: 'mars' })).toEqual([
      ...[400, 'invalid-job', 'Job.ID is required'],
      ...['Job.TaskGroups must hold at least one group', 'Job.Region must be "global", got "mars"'],
    ]);
    expect(await refused(url, jobBody({ ID: 'other' }))).toEqual([400, 'job-id-mismatch']);
    expect(await refused(url, { ...jobBody(), Diff: 1 })).toEqual([
      ...[400, 'invalid-body', 'Diff must be a boolean, got the number 1'],
    ]);
    expect(await refused(url, jobBody({ Priority: 200 }, { Count: -1 }))).toEqual([
      ...[400, 'invalid-job'],
      'Job.Priority must be from 1 to 100, got 200',
      'Job.TaskGroups[0].Count must be at least 0, got -1',
    ]);
    expect(await refused(`${url}?namespace=nowhere`, jobBody())).toEqual([
      404,
      'namespace-not-found',
    ]);
    expect(await refused(url, jobBody({ NodePool: 'nowhere' }))).toEqual([
      404,
      'node-pool-not-found',
    ]);
  });

  test('by job policies, and warns where they only advise', async () => {
    const { status, text } = await api.call('PUT', '/v1/job-policy/calm', {
      body: { EnforcementLevel: 'soft-mandatory', Rule: 'Priority != 70' },
    });
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
    const url = '/v1/job/web/plan';
    const loud = jobBody({ Priority: 70 });
    expect((await refused(url, loud)).slice(0, 2)).toEqual([400, 'job-policy-violated']);
    const passed = await call('POST', url, { ...loud, PolicyOverride: true });
    expect([passed.status, passed.json.Warnings]).toEqual([200, expect.stringContaining('calm')]);
    expect((await call('POST', url, jobBody())).json.Warnings).toBe('');
  });

  test('where the permission is missing, that to override policies as well', async () => {
    const Rules = 'namespace "default" { capabilities = ["plan-job"] }';
    await api.call('PUT', '/v1/acl/policy', { body: { Name: 'p', Rules } });
    const { json } = await api.call('PUT', '/v1/acl/token', {
      body: { Policies: [{ Name: 'p' }] },
    });
    const ask = (body: object, token: string) => refused('/v1/job/web/plan', body, token);
    expect(await ask({ ...jobBody(), PolicyOverride: true }, json.SecretID)).toEqual([
      403,
      'permission-denied',
    ]);
    expect((await call('POST', '/v1/job/web/plan', jobBody(), json.SecretID)).status).toBe(200);
    expect(await ask(jobBody(), 'nobody')).toEqual([403, 'token-not-found']);
  });
});

describe('a registration by a plan', () => {
  const register = async (made: JobPlan, changes: Changes = [], more: object = {}) =>
    call('POST', '/v1/jobs', { ...jobBody(...changes), PlanID: made.PlanID, ...more });
  const differences = async (made: JobPlan, changes: Changes = [], more: object = {}) => {
    const { status, json } = await register(made, changes, more);
    return [
      status,
      json.code,
      ...(json.errors ?? []).map((fault: { message: string }) => fault.message),
    ];
  };

  test('does just what was shown, ids included, in one transaction', async () => {
    await fleet.join(3, sized(250));
    const made = await plan([{}, { Count: 4 }]);
    const before = api.state.read().index;
    const { status, json } = await register(made, [{}, { Count: 4 }]);
    expect([status, json.JobModifyIndex, json.EvalCreateIndex]).toEqual([
      200,
      before + 1,
      before + 1,
    ]);
    const shown = made.Changes.map(({ AllocID, Name, NodeID }) => [AllocID, Name, NodeID]);
    expect((await allocations()).map(({ ID, Name, NodeID }) => [ID, Name, NodeID]).sort()).toEqual(
      shown.sort(),
    );
    expect((await allocations()).map(({ CreateIndex }) => CreateIndex)).toEqual(
      Array(4).fill(before + 1),
    );
    expect((await api.call('GET', `/v1/evaluation/${json.EvalID}`)).json).toMatchObject({
      ...{ Status: 'complete', TriggeredBy: 'job-register', JobModifyIndex: before + 1 },
    });
    expect((await api.call('GET', '/v1/job/web/deployment')).json).toMatchObject({
      ...{ Status: 'running', JobSpecModifyIndex: before + 1, JobCreateIndex: before + 1 },
      TaskGroups: { web: { PlacedAllocs: 4 } },
    });
    expect((await api.call('GET', '/v1/job/web')).json).toMatchObject({
      Status: 'running',
      Version: 0,
    });
    // The scheduler finds nothing left to do, and the deployment goes its way.
    await fleet.pass(20_000);
    expect((await api.call('GET', '/v1/job/web/deployment')).json.Status).toBe('successful');
    expect(await allocations()).toHaveLength(4);
    // It is explained as any other is.
    const why = api.call('GET', `/v1/allocation/${made.Changes[0]!.AllocID}/why`);
    await api.settle();
    expect((await why).json.Basis).toBe('decision');
  });

  test('of a change, a job that is as it was and one that nothing is placed of', async () => {
    await fleet.join(1);
    await run([{}, { Count: 2, ...atOnce }]);
    const env = [{}, { Count: 2, ...atOnce }, { Env: { A: 'b' } }] as const;
    const change = await plan(env);
    expect((await register(change, env)).status).toBe(200);
    const running = (await allocations()).filter(({ DesiredStatus }) => DesiredStatus === 'run');
    expect(running.map(({ ID }) => ID).sort()).toEqual(
      change.Changes.filter(({ Action }) => Action === 'place')
        .map(({ AllocID }) => AllocID)
        .sort(),
    );
    await fleet.obey();
    const same = await plan(env);
    const { JobModifyIndex } = (await api.call('GET', '/v1/job/web')).json;
    const registered = await register(same, env);
    expect([registered.status, registered.json.JobModifyIndex]).toEqual([200, JobModifyIndex]);
    const periodic = [{ ID: 'cron', Type: 'batch', Periodic: { Specs: ['@daily'] } }] as const;
    const launched = await register(await plan(periodic), periodic);
    expect([launched.status, launched.json.EvalID]).toEqual([200, '']);
  });

  test('waits for room as was shown', async () => {
    await fleet.join(1, sized(150));
    const made = await plan([{}, { Count: 3, ...atOnce }]);
    const { json } = await register(made, [{}, { Count: 3, ...atOnce }]);
    const { json: evaluation } = await api.call('GET', `/v1/evaluation/${json.EvalID}`);
    expect([evaluation.BlockedEval, evaluation.QueuedAllocations]).toEqual([
      made.CreatedEvals![0]!.ID,
      { web: 2 },
    ]);
    await fleet.join(1, sized(1000));
    await api.settle();
    expect(await allocations()).toHaveLength(3);
  });

  test('is refused, with every difference, when the cluster is another', async () => {
    await fleet.join(2, sized(150));
    const made = await plan([{}, { Count: 2, ...atOnce }]);
    expect(told(made)).toEqual(['place web.web[0] n1', 'place web.web[1] n2']);
    await run([{ ID: 'other' }, atOnce]);
    const index = api.state.read().index;
    expect(await differences(made, [{}, { Count: 2, ...atOnce }])).toEqual([
      ...[409, 'plan-outdated'],
      'web.web[0] was to be placed on node "n1", and would be on node "n2" now.',
      'web.web[1] was to be placed on node "n2", and would not be now.',
      'of the group "web" 0 were to find no node, and 1 would find none now.',
    ]);
    expect([api.state.read().index, (await api.call('GET', '/v1/job/web')).status]).toEqual([
      index,
      404,
    ]);
    // It holds again as soon as the cluster is as it was.
    await api.call('DELETE', '/v1/job/other');
    await api.settle();
    await fleet.obey();
    expect(await differences(made, [{}, { Count: 2, ...atOnce }])).toEqual([200, undefined]);
  });

  test('is refused when the job is another, or was changed meanwhile', async () => {
    await fleet.join(1);
    const { JobModifyIndex } = await run([{}, atOnce]);
    const made = await plan([{}, { ...atOnce, Count: 2 }]);
    expect(await differences(made, [{ Priority: 60 }, { ...atOnce, Count: 2 }])).toEqual([
      ...[409, 'plan-outdated', 'Priority of the job was "50" in the plan, and is "60".'],
    ]);
    expect(await differences(made, [{ Datacenters: ['dc1'] }, { ...atOnce, Count: 3 }])).toEqual([
      ...[409, 'plan-outdated'],
      'Datacenters.Datacenters of the job was "" in the plan, and is "dc1".',
      'Datacenters.Datacenters of the job was "*" in the plan, and is "".',
      'TaskGroups[web].Count of the job was "2" in the plan, and is "3".',
      'web.web[2] would be placed on node "n1" now, which was not planned.',
    ]);
    const { JobModifyIndex: later } = await run([{}, { ...atOnce, Count: 2 }]);
    expect(await differences(made, [{}, { ...atOnce, Count: 2 }])).toEqual([
      ...[409, 'plan-outdated'],
      `the plan was made for JobModifyIndex ${JobModifyIndex}, and the job has ${later} now.`,
      'web.web[0] (' +
        `${made.Changes.find(({ Action }) => Action === 'update')?.AllocID}) was to be updated in place on node "n1", and would not be now.`,
      'web.web[1] was to be placed on node "n1", and would not be now.',
    ]);
  });

  test('is refused for a plan of another job, one that was carried out, and one too old', async () => {
    await fleet.join(1);
    const made = await plan([{}, atOnce]);
    expect(await differences(made, [{ ID: 'other' }, atOnce])).toEqual([404, 'plan-not-found']);
    expect((await register(made, [{}, atOnce])).status).toBe(200);
    expect(await differences(made, [{}, atOnce])).toEqual([404, 'plan-not-found']);
    const old = await plan([{}, { Count: 2, ...atOnce }]);
    await fleet.pass(30 * 60_000);
    expect(await differences(old, [{}, { Count: 2, ...atOnce }])).toEqual([404, 'plan-not-found']);
  });

  test('keeps the other guards', async () => {
    await fleet.join(1);
    const made = await plan([{}, atOnce]);
    const guarded = { EnforceIndex: true, JobModifyIndex: 7 };
    expect(await differences(made, [{}, atOnce], guarded)).toEqual([409, 'job-missing-for-index']);
    expect((await register(made, [{}, atOnce], { EnforceIndex: true })).status).toBe(200);
  });

  test('of two at a time, one is carried out', async () => {
    await fleet.join(1);
    const made = await plan([{}, atOnce]);
    const both = [register(made, [{}, atOnce]), register(made, [{}, atOnce])];
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(await allocations()).toHaveLength(1);
  });
});
