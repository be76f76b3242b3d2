/** Deployments over HTTP, with a node whose reports each test decides. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { inNamespace, jobSubmissions, numberPart } from '../../src/state/tables.ts';
import { Rollout } from '../support/rollout.ts';

let rollout: Rollout;
beforeEach(async () => {
  rollout = await Rollout.start();
});

const second = 1000;
const minute = 60 * second;
const isBad = ({ JobVersion }: Allocation) => JobVersion === 1;
const unhealthyOf = (all: readonly Allocation[], version: number) =>
  all.filter(
    (one) =>
      one.JobVersion === version &&
      one.DesiredStatus === 'run' &&
      one.DeploymentStatus?.Healthy !== true,
  ).length;

describe('a first registration', () => {
  test('is deployed at once, and the version becomes stable when all allocations are healthy', async () => {
    rollout.fate = () => 'running';
    const { JobModifyIndex } = await rollout.register('0');
    await rollout.pass(3 * second);
    const placed = await rollout.deployment();
    expect(placed).toMatchObject({
      JobID: 'web',
      JobVersion: 0,
      JobSpecModifyIndex: JobModifyIndex,
      Namespace: 'default',
      Status: 'running',
      StatusDescription: 'Deployment is running',
      TaskGroups: {
        web: {
          DesiredTotal: 3,
          DesiredCanaries: 0,
          PlacedAllocs: 3,
          HealthyAllocs: 0,
          UnhealthyAllocs: 0,
          Promoted: false,
          RequireProgressBy: '2026-01-01T00:10:00Z',
        },
      },
    });
    expect(await rollout.get('/v1/job/web')).toMatchObject({ Status: 'running', Stable: false });
    rollout.fate = () => 'healthy';
    await rollout.pass(2 * second);
    expect(await rollout.deployment()).toMatchObject({
      ID: placed.ID,
      Status: 'successful',
      StatusDescription: 'Deployment completed successfully',
      TaskGroups: { web: { HealthyAllocs: 3, UnhealthyAllocs: 0 } },
    });
    expect(await rollout.get('/v1/job/web')).toMatchObject({ Version: 0, Stable: true });
    const all = await rollout.get<Allocation[]>(`/v1/deployment/allocations/${placed.ID}`);
    expect(all.map(({ Name }) => Name).sort()).toEqual(['web.web[0]', 'web.web[1]', 'web.web[2]']);
  });

  test('is not delayed by failures from before the id was purged', async () => {
    const policy = { ReschedulePolicy: { Unlimited: true, Delay: '600s', Attempts: 0 } };
    rollout.fate = ({ Name }) => (Name.endsWith('[0]') ? 'failed' : 'healthy');
    await rollout.register('0', {}, policy);
    await rollout.pass(2 * second);
    await rollout.api.call('DELETE', '/v1/job/web?purge=true');
    await rollout.api.settle();
    await rollout.obey();
    rollout.fate = () => 'silent';
    await rollout.register('0', {}, policy);
    expect((await rollout.deployment()).TaskGroups.web).toMatchObject({
      DesiredTotal: 3,
      PlacedAllocs: 3,
    });
    const placed = await rollout.of(0);
    expect(placed.map(({ PreviousAllocation }) => PreviousAllocation)).toEqual(['', '', '']);
  });

  test('without an update strategy has none', async () => {
    await rollout.register('0', { MaxParallel: 0 });
    await rollout.pass(2 * second);
    expect(await rollout.of(0)).toHaveLength(3);
    expect([await rollout.deployment(), await rollout.deployments()]).toEqual([null, []]);
  });
});

describe('a rolling update', () => {
  test('replaces MaxParallel allocations at a time and waits for their health', async () => {
    await rollout.stable({ MaxParallel: 2 }, { Count: 5 });
    const before = await rollout.of(0);
    rollout.fate = (one) => (one.JobVersion === 1 ? 'running' : 'healthy');
    await rollout.register('1', { MaxParallel: 2 }, { Count: 5 });
    await rollout.pass(20 * second);
    expect([(await rollout.of(0)).length, (await rollout.of(1)).length]).toEqual([3, 2]);
    rollout.fate = () => 'healthy';
    const steps: number[] = [];
    await rollout.pass(10 * second, (all) => steps.push(unhealthyOf(all, 1)));
    expect(Math.max(...steps)).toBeLessThanOrEqual(2);
    expect(await rollout.deployment()).toMatchObject({
      JobVersion: 1,
      Status: 'successful',
      TaskGroups: { web: { DesiredTotal: 5, PlacedAllocs: 5, HealthyAllocs: 5 } },
    });
    const after = await rollout.of(1);
    expect(after.map(({ Name }) => Name).sort()).toEqual(before.map(({ Name }) => Name).sort());
    expect(await rollout.of(0)).toEqual([]);
    expect(await rollout.get('/v1/job/web')).toMatchObject({ Version: 1, Stable: true });
  });

  test('places nothing while it is paused, and continues when it is resumed', async () => {
    await rollout.stable();
    await rollout.register('1');
    expect((await rollout.act('pause', { Pause: true })).json).toMatchObject({
      EvalID: '',
      EvalCreateIndex: 0,
      RevertedJobVersion: null,
    });
    const atPause = (await rollout.of(1)).length;
    expect(atPause).toBeLessThanOrEqual(1);
    await rollout.pass(30 * minute);
    expect((await rollout.of(1)).length).toBe(atPause);
    expect(await rollout.deployment()).toMatchObject({
      Status: 'paused',
      StatusDescription: 'Deployment is paused',
    });
    expect((await rollout.act('pause', { Pause: true })).status).toBe(200);
    const { status, json } = await rollout.act('pause', { Pause: false });
    expect([status, json.EvalID]).toEqual([200, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(await rollout.get(`/v1/evaluation/${json.EvalID}`)).toMatchObject({
      TriggeredBy: 'deployment-watcher',
      DeploymentID: (await rollout.deployment()).ID,
    });
    await rollout.pass(10 * second);
    expect((await rollout.of(1)).length).toBe(3);
    expect((await rollout.deployment()).Status).toBe('successful');
  });

  test('of a bad version reverts to the stable one with its source', async () => {
    await rollout.stable({ AutoRevert: true });
    rollout.fate = (one) => (isBad(one) ? 'failed' : 'healthy');
    await rollout.register('1', { AutoRevert: true });
    const steps: number[] = [];
    await rollout.pass(15 * second, (all) =>
      steps.push(
        all.filter((one) => one.ClientStatus === 'running' && one.DesiredStatus === 'run').length,
      ),
    );
    expect(Math.min(...steps)).toBeGreaterThanOrEqual(2);
    const [first, failed, reverted] = await byCreation();
    expect(first).toMatchObject({ JobVersion: 0, Status: 'successful' });
    expect(failed).toMatchObject({
      JobVersion: 1,
      Status: 'failed',
      StatusDescription: 'Failed due to unhealthy allocations - rolling back to job version 0',
      TaskGroups: { web: { PlacedAllocs: 1, HealthyAllocs: 0, UnhealthyAllocs: 1 } },
    });
    expect(reverted).toMatchObject({ JobVersion: 2, Status: 'successful' });
    const job = await rollout.get<{ TaskGroups: { Tasks: { Env: object }[] }[] }>('/v1/job/web');
    expect(job).toMatchObject({ Version: 2, Stable: true, Status: 'running' });
    expect(job.TaskGroups[0]!.Tasks[0]!.Env).toEqual({ v: '0' });
    const key = inNamespace('default', 'web', numberPart(2));
    expect(
      rollout.api.state
        .read()
        .table(jobSubmissions)
        .get(...key),
    ).toMatchObject({
      Source: 'source 0',
      Version: 2,
    });
    const live = (await rollout.allocations()).filter((one) => one.DesiredStatus === 'run');
    expect(live.filter((one) => one.ClientStatus === 'running')).toHaveLength(3);
    expect(live.filter(isBad)).toEqual([]);
  });

  test('without progress reverts at its deadline', async () => {
    await rollout.stable({ AutoRevert: true });
    rollout.fate = (one) => (isBad(one) ? 'running' : 'healthy');
    await rollout.register('1', { AutoRevert: true });
    await rollout.pass(9 * minute);
    expect((await rollout.deployment()).Status).toBe('running');
    await rollout.pass(2 * minute);
    const [, failed, reverted] = await byCreation();
    expect(failed).toMatchObject({
      StatusDescription: 'Failed due to progress deadline - rolling back to job version 0',
    });
    expect(reverted).toMatchObject({ JobVersion: 2, Status: 'successful' });
  });

  test('without AutoRevert stays at the failed version', async () => {
    await rollout.stable();
    rollout.fate = (one) => (isBad(one) ? 'unhealthy' : 'healthy');
    await rollout.register('1');
    await rollout.pass(10 * second);
    expect(await rollout.deployment()).toMatchObject({
      JobVersion: 1,
      Status: 'failed',
      StatusDescription: 'Failed due to unhealthy allocations',
    });
    expect((await rollout.of(0)).length).toBe(2);
    expect(await rollout.get('/v1/job/web')).toMatchObject({ Version: 1, Stable: false });
  });

  test('replaces failures as the reschedule policy allows, then fails', async () => {
    const ReschedulePolicy = {
      Attempts: 1,
      Interval: '1h',
      Unlimited: false,
      Delay: '5s',
      DelayFunction: 'constant',
    };
    await rollout.stable({}, { ReschedulePolicy });
    rollout.fate = (one) => (isBad(one) ? 'failed' : 'healthy');
    await rollout.register('1', {}, { ReschedulePolicy });
    await rollout.pass(4 * second);
    const [once] = (await rollout.allocations()).filter(isBad);
    expect(once).toMatchObject({ DesiredTransition: { Reschedule: true }, NextAllocation: '' });
    expect((await rollout.deployment()).Status).toBe('running');
    await rollout.pass(10 * second);
    expect((await rollout.allocations()).filter(isBad)).toHaveLength(2);
    expect(await rollout.deployment()).toMatchObject({
      Status: 'failed',
      StatusDescription: 'Failed due to unhealthy allocations',
      TaskGroups: { web: { UnhealthyAllocs: 2 } },
    });
  });

  test('ends when a newer version is registered, which is deployed instead', async () => {
    await rollout.stable();
    rollout.fate = (one) => (isBad(one) ? 'running' : 'healthy');
    await rollout.register('1');
    await rollout.pass(2 * second);
    await rollout.register('2');
    await rollout.pass(10 * second);
    const [, cancelled, last] = await byCreation();
    expect(cancelled).toMatchObject({
      JobVersion: 1,
      Status: 'cancelled',
      StatusDescription: 'Cancelled due to newer version of job',
    });
    expect(last).toMatchObject({ JobVersion: 2, Status: 'successful' });
    expect((await rollout.of(2)).length).toBe(3);
  });

  test('ends when the job is stopped', async () => {
    await rollout.stable();
    await rollout.register('1');
    await rollout.api.call('DELETE', '/v1/job/web');
    await rollout.pass(3 * second);
    expect(await rollout.deployment()).toMatchObject({
      JobVersion: 1,
      Status: 'cancelled',
      StatusDescription: 'Cancelled because job is stopped',
    });
    expect(await rollout.get('/v1/job/web')).toMatchObject({ Status: 'dead', Stable: false });
  });
});

describe('canaries', () => {
  const canary = { Canary: 1 };

  test('run beside the other allocations until they are promoted', async () => {
    await rollout.stable();
    rollout.fate = (one) => (isBad(one) ? 'running' : 'healthy');
    await rollout.register('1', canary);
    await rollout.pass(3 * second);
    const [one, ...others] = await rollout.of(1);
    expect(others).toEqual([]);
    expect(one!.DeploymentStatus).toMatchObject({ Canary: true, Healthy: null });
    expect(await rollout.of(0)).toHaveLength(3);
    expect(await rollout.deployment()).toMatchObject({
      StatusDescription: 'Deployment is running but requires manual promotion',
      TaskGroups: { web: { DesiredCanaries: 1, PlacedCanaries: [one!.ID], Promoted: false } },
    });
    const early = await rollout.act('promote', { All: true });
    expect([early.status, early.json.code]).toEqual([400, 'deployment-refused']);
    expect(early.json.detail).toMatch(
      /cannot be promoted: not all of its canaries are healthy: group "web" has 0\/1\.$/,
    );
    rollout.fate = () => 'healthy';
    // It can wait for any time.
    await rollout.pass(30 * minute);
    expect(await rollout.of(0)).toHaveLength(3);
    expect((await rollout.deployment()).Status).toBe('running');

    const { status, json } = await rollout.act('promote', { Groups: ['web'] });
    expect([status, json.EvalID]).toEqual([200, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    const promoted = await rollout.deployment();
    expect(promoted).toMatchObject({ StatusDescription: 'Deployment is running' });
    expect(promoted.TaskGroups.web!.Promoted).toBe(true);
    expect(json.DeploymentModifyIndex).toBeLessThanOrEqual(promoted.ModifyIndex);
    await rollout.pass(10 * second);
    expect((await rollout.deployment()).Status).toBe('successful');
    const after = await rollout.of(1);
    expect(after.map(({ Name }) => Name).sort()).toEqual([
      'web.web[0]',
      'web.web[1]',
      'web.web[2]',
    ]);
    expect(after.filter(({ DeploymentStatus }) => DeploymentStatus?.Canary)).toEqual([]);
    expect(after.map(({ ID }) => ID)).toContain(one!.ID);
    expect(await rollout.of(0)).toEqual([]);
    const again = await rollout.act('promote', { All: true });
    expect([again.status, again.json.detail]).toEqual([
      400,
      expect.stringMatching(/cannot be promoted: it is over: its status is successful\.$/),
    ]);
  });

  test('are promoted automatically with AutoPromote', async () => {
    const update = { Canary: 2, AutoPromote: true };
    await rollout.stable();
    rollout.fate = (one) => (isBad(one) ? 'running' : 'healthy');
    await rollout.register('1', update);
    await rollout.pass(2 * second);
    expect((await rollout.deployment()).StatusDescription).toBe(
      'Deployment is running pending automatic promotion',
    );
    expect((await rollout.of(1)).length).toBe(2);
    rollout.fate = () => 'healthy';
    await rollout.pass(10 * second);
    expect(await rollout.deployment()).toMatchObject({
      Status: 'successful',
      TaskGroups: { web: { Promoted: true, HealthyAllocs: 3 } },
    });
    expect([(await rollout.of(0)).length, (await rollout.of(1)).length]).toEqual([0, 3]);
  });

  test('are stopped when they fail, and the other allocations are unchanged', async () => {
    await rollout.stable({ AutoRevert: true });
    const before = (await rollout.of(0)).map(({ ID }) => ID).sort();
    rollout.fate = (one) => (isBad(one) ? 'failed' : 'healthy');
    await rollout.register('1', { ...canary, AutoRevert: true });
    await rollout.pass(10 * second);
    const live = (await rollout.allocations()).filter(
      (one) => one.DesiredStatus === 'run' && one.ClientStatus === 'running',
    );
    expect(live.map(({ ID }) => ID).sort()).toEqual(before);
    expect(await rollout.get('/v1/job/web')).toMatchObject({ Version: 2, Status: 'running' });
    expect(await rollout.deployment()).toMatchObject({
      JobVersion: 2,
      Status: 'successful',
      TaskGroups: { web: { DesiredTotal: 3, HealthyAllocs: 3 } },
    });
    expect(await rollout.get('/v1/job/web')).toMatchObject({ Stable: true });
  });

  test('are not used in the first registration', async () => {
    await rollout.stable(canary);
    expect(await rollout.deployment()).toMatchObject({
      Status: 'successful',
      JobVersion: 0,
      TaskGroups: { web: { DesiredCanaries: 0, HealthyAllocs: 3 } },
    });
  });

  test.each<[string, object, string]>([
    ['no group named', {}, 'malformed-request'],
    ['an unknown group', { Groups: ['nope', 'web'] }, 'deployment-refused'],
    ['a group without canaries', { Groups: ['web'] }, 'deployment-refused'],
    ['all, where nothing waits', { All: true }, 'deployment-refused'],
  ])('promotion with %s is refused', async (_name, body, code) => {
    rollout.fate = () => 'running';
    await rollout.register('0');
    const { status, json } = await rollout.act('promote', body);
    expect([status, json.code]).toEqual([400, code]);
  });
});

const byCreation = async () =>
  (await rollout.deployments()).sort((left, right) => left.CreateIndex - right.CreateIndex);
