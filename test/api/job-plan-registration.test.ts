/** Refused plans, and registrations that carry out a plan. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { JobPlan } from '../../src/model/job-plan/job-plan.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet } from '../support/fleet.ts';
import { atOnce, changesOf, type PlanChanges, plansOf, sized } from '../support/plans.ts';

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
});

const { call, plan, run, allocations } = plansOf(() => ({ api, fleet }));

describe('a plan is refused', () => {
  const refused = async (url: string, body: object, token?: string) => {
    const { status, json } = await call('POST', url, body, token);
    return [
      status,
      json.code,
      ...(json.errors ?? []).map((fault: { message: string }) => fault.message),
    ];
  };

  test('for the same reasons as a registration', async () => {
    const url = '/v1/job/web/plan';
    expect(await refused(url, {})).toEqual([400, 'invalid-body', 'Job is required']);
    expect(await refused(url, { Job: { ID: '' }, Region: 'mars' })).toEqual([
      400,
      'invalid-job',
      'Job.ID is required',
      'Job.TaskGroups must hold at least one group',
      'Job.Region must be "global", got "mars"',
    ]);
    expect(await refused(url, jobBody({ ID: 'other' }))).toEqual([400, 'job-id-mismatch']);
    expect(await refused(url, { ...jobBody(), Diff: 1 })).toEqual([
      400,
      'invalid-body',
      'Diff must be a boolean, got the number 1',
    ]);
    expect(await refused(url, jobBody({ Priority: 200 }, { Count: -1 }))).toEqual([
      400,
      'invalid-job',
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

  test('by mandatory job policies; advisory policies warn', async () => {
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

  test('without the permission, also the permission to override policies', async () => {
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

describe('a registration with a plan', () => {
  const register = async (made: JobPlan, changes: PlanChanges = [], more: object = {}) =>
    call('POST', '/v1/jobs', { ...jobBody(...changes), PlanID: made.PlanID, ...more });
  const differences = async (made: JobPlan, changes: PlanChanges = [], more: object = {}) => {
    const { status, json } = await register(made, changes, more);
    return [
      status,
      json.code,
      ...(json.errors ?? []).map((fault: { message: string }) => fault.message),
    ];
  };

  test('carries out the plan exactly, with its ids, in one transaction', async () => {
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
      Status: 'complete',
      TriggeredBy: 'job-register',
      JobModifyIndex: before + 1,
    });
    expect((await api.call('GET', '/v1/job/web/deployment')).json).toMatchObject({
      Status: 'running',
      JobSpecModifyIndex: before + 1,
      JobCreateIndex: before + 1,
      TaskGroups: { web: { PlacedAllocs: 4 } },
    });
    expect((await api.call('GET', '/v1/job/web')).json).toMatchObject({
      Status: 'running',
      Version: 0,
    });
    // The scheduler finds nothing left to do, and the deployment proceeds.
    await fleet.pass(20_000);
    expect((await api.call('GET', '/v1/job/web/deployment')).json.Status).toBe('successful');
    expect(await allocations()).toHaveLength(4);
    // Explanations work as usual.
    const why = api.call('GET', `/v1/allocation/${made.Changes[0]!.AllocID}/why`);
    await api.settle();
    expect((await why).json.Basis).toBe('decision');
  });

  test('of a change, of an unchanged job, and of one without placements', async () => {
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

  test('waits for room as planned', async () => {
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

  test('is refused with every difference when the cluster has changed', async () => {
    await fleet.join(2, sized(150));
    const made = await plan([{}, { Count: 2, ...atOnce }]);
    expect(changesOf(made)).toEqual(['place web.web[0] n1', 'place web.web[1] n2']);
    await run([{ ID: 'other' }, atOnce]);
    const index = api.state.read().index;
    expect(await differences(made, [{}, { Count: 2, ...atOnce }])).toEqual([
      409,
      'plan-outdated',
      'web.web[0] was to be placed on node "n1", and would be on node "n2" now.',
      'web.web[1] was to be placed on node "n2", and would not be now.',
      'the plan left 0 of the group "web" without a node, and now 1 would find none.',
    ]);
    // The plan notes the refusal, and nothing else is written.
    expect([api.state.read().index, (await api.call('GET', '/v1/job/web')).status]).toEqual([
      index + 1,
      404,
    ]);
    // The plan applies again when the cluster is as before.
    await api.call('DELETE', '/v1/job/other');
    await api.settle();
    await fleet.obey();
    expect(await differences(made, [{}, { Count: 2, ...atOnce }])).toEqual([200, undefined]);
  });

  test('is refused when the job differs or has been changed meanwhile', async () => {
    await fleet.join(1);
    const { JobModifyIndex } = await run([{}, atOnce]);
    const made = await plan([{}, { ...atOnce, Count: 2 }]);
    expect(await differences(made, [{ Priority: 60 }, { ...atOnce, Count: 2 }])).toEqual([
      409,
      'plan-outdated',
      'Priority of the job was "50" in the plan, and is "60".',
    ]);
    expect(await differences(made, [{ Datacenters: ['dc1'] }, { ...atOnce, Count: 3 }])).toEqual([
      409,
      'plan-outdated',
      'Datacenters.Datacenters of the job was "" in the plan, and is "dc1".',
      'Datacenters.Datacenters of the job was "*" in the plan, and is "".',
      'TaskGroups[web].Count of the job was "2" in the plan, and is "3".',
      'web.web[2] would be placed on node "n1" now, which was not planned.',
    ]);
    const { JobModifyIndex: later } = await run([{}, { ...atOnce, Count: 2 }]);
    expect(await differences(made, [{}, { ...atOnce, Count: 2 }])).toEqual([
      409,
      'plan-outdated',
      `the plan was made for JobModifyIndex ${JobModifyIndex}, and the job has ${later} now.`,
      'web.web[0] (' +
        `${made.Changes.find(({ Action }) => Action === 'update')?.AllocID}) was to be updated in place on node "n1", and would not be now.`,
      'web.web[1] was to be placed on node "n1", and would not be now.',
    ]);
  });

  test('is refused for the plan of another job, a used plan and an expired plan', async () => {
    await fleet.join(1);
    const made = await plan([{}, atOnce]);
    expect(await differences(made, [{ ID: 'other' }, atOnce])).toEqual([404, 'plan-not-found']);
    expect((await register(made, [{}, atOnce])).status).toBe(200);
    expect(await differences(made, [{}, atOnce])).toEqual([404, 'plan-not-found']);
    const old = await plan([{}, { Count: 2, ...atOnce }]);
    await fleet.pass(30 * 60_000);
    expect(await differences(old, [{}, { Count: 2, ...atOnce }])).toEqual([404, 'plan-not-found']);
  });

  test('respects other guards', async () => {
    await fleet.join(1);
    const made = await plan([{}, atOnce]);
    const guarded = { EnforceIndex: true, JobModifyIndex: 7 };
    expect(await differences(made, [{}, atOnce], guarded)).toEqual([409, 'job-missing-for-index']);
    expect((await register(made, [{}, atOnce], { EnforceIndex: true })).status).toBe(200);
  });

  test('is carried out once of two at the same time', async () => {
    await fleet.join(1);
    const made = await plan([{}, atOnce]);
    const both = [register(made, [{}, atOnce]), register(made, [{}, atOnce])];
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(await allocations()).toHaveLength(1);
  });
});
