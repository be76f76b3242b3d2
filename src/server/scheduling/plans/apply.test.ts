import { describe, expect, test } from 'vitest';
import { instantFromMs } from '../../../base/instant.ts';
import { type Allocation, noTransition } from '../../../model/allocation/allocation.ts';
import { makeNode, makeTask } from '../../../scheduler/cluster.test-helper.ts';
import { changed, healthy, jobOf, setUp } from './apply.test-helper.ts';

describe('a plan that fits, wholly or in part', () => {
  const closed = makeNode('n2', { SchedulingEligibility: 'ineligible' });
  const refusals = [{ nodeId: 'n2', reason: 'node is not ready and eligible' }];

  /** Two of three allocations fit, one on each node; an evaluation waits for the third. */
  async function planned(AllAtOnce = false) {
    const set = await setUp();
    const Tasks = [makeTask({ Resources: { CPU: 600 } })];
    await set.putJob(jobOf({ Count: 3, Tasks }, 0, { AllAtOnce }));
    const plan = set.decide();
    expect(plan).toMatchObject({ placements: [{}, {}], evaluations: [{ Status: 'blocked' }] });
    const counts = () => ({
      allocations: set.all.allocations().length,
      evaluations: set.all.evaluations().length,
    });
    return { ...set, plan, counts };
  }

  test('a plan that fits is applied whole, with the evaluations that follow from it', async () => {
    const { apply, plan, counts } = await planned();
    expect(await apply(plan)).toEqual([]);
    expect(counts()).toEqual({ allocations: 2, evaluations: 1 });
  });

  test('a plan that fits in part makes no evaluations: the next attempt makes them', async () => {
    const { putNode, apply, plan, counts, all } = await planned();
    await putNode(closed);
    expect(await apply(plan)).toEqual(refusals);
    expect(counts()).toEqual({ allocations: 1, evaluations: 0 });
    expect(all.deployments()[0]!.TaskGroups.web).toMatchObject({
      DesiredTotal: 3,
      PlacedAllocs: 1,
    });
  });

  test('a plan that is all or nothing and fits in part changes nothing', async () => {
    const { putNode, apply, plan, counts, all } = await planned(true);
    await putNode(closed);
    expect(await apply(plan)).toEqual(refusals);
    expect(counts()).toEqual({ allocations: 0, evaluations: 0 });
    expect(all.deployments()).toEqual([]);
  });
});

describe('an allocation that makes way', () => {
  const Tasks = [makeTask({ Resources: { CPU: 600 } })];

  /** Two nodes full of unimportant allocations, and a plan that evicts them from both. */
  async function planned(AllAtOnce = false) {
    const set = await setUp();
    const other = { ID: 'other', Priority: 20 };
    await set.putJob(jobOf({ Count: 2, Tasks }, 0, other));
    await set.apply(set.decide({ JobID: 'other' }));
    await set.putJob(jobOf({ Count: 2, Tasks }, 0, { Priority: 80, AllAtOnce }));
    const plan = set.decide({}, { service: true });
    expect(plan).toMatchObject({ placements: [{}, {}], preemptions: [{}, {}] });
    const evicted = () => set.all.allocations().filter((one) => one.DesiredStatus === 'evict');
    const triggers = () => set.all.evaluations().map((one) => [one.JobID, one.TriggeredBy]);
    const [first, second] = plan.preemptions;
    return { ...set, plan, evicted, triggers, first: first!, second: second! };
  }

  test('is evicted, and its job evaluated at once', async () => {
    const { apply, plan, evicted, triggers, world } = await planned();
    expect(await apply(plan)).toEqual([]);
    expect(evicted()).toHaveLength(2);
    for (const { allocationId, byAllocationId } of plan.preemptions) {
      expect(evicted().find(({ ID }) => ID === allocationId)).toMatchObject({
        DesiredDescription: `Preempted by alloc ID ${byAllocationId}`,
        PreemptedByAllocation: byAllocationId,
        ModifyTime: instantFromMs(world.clock.nowMs()),
      });
    }
    expect(triggers()).toEqual([['other', 'preemption']]);
  });

  test('goes on if the allocation that it was to make way for is refused', async () => {
    const { apply, plan, evicted, putNode, first, second, triggers } = await planned();
    await putNode(makeNode(first.nodeId, { SchedulingEligibility: 'ineligible' }));
    expect(await apply(plan)).toMatchObject([{ nodeId: first.nodeId }]);
    expect(evicted().map(({ ID }) => ID)).toEqual([second.allocationId]);
    expect(triggers()).toEqual([['other', 'preemption']]);
  });

  test('goes on if the plan is all or nothing and fits in part', async () => {
    const { apply, plan, evicted, putNode, first, triggers } = await planned(true);
    await putNode(makeNode(first.nodeId, { SchedulingEligibility: 'ineligible' }));
    await apply(plan);
    expect([evicted(), triggers()]).toEqual([[], []]);
  });

  test.each<[string, Partial<Allocation>]>([
    ['was stopped meanwhile', { DesiredStatus: 'stop' }],
    ['ended meanwhile', { ClientStatus: 'failed' }],
  ])('an allocation that %s makes way for no other', async (_title, fields) => {
    const { apply, plan, evicted, change, first } = await planned();
    await change(first.allocationId, fields);
    const reason = `allocation ${first.allocationId} is not there to make way any more`;
    expect(await apply(plan)).toEqual([{ nodeId: first.nodeId, reason }]);
    expect(evicted()).toHaveLength(1);
  });

  test('goes on if it became more important meanwhile', async () => {
    const { apply, plan, evicted, change, putJob, first } = await planned();
    await putJob(jobOf({ Count: 2, Tasks }, 1, { ID: 'other', Priority: 71 }));
    await change(first.allocationId, { JobVersion: 1 });
    const reason = `allocation ${first.allocationId} is too important to make way`;
    expect(await apply(plan)).toEqual([{ nodeId: first.nodeId, reason }]);
    expect(evicted()).toHaveLength(1);
  });

  test.each([
    [false, 'service jobs may not evict any more', 0],
    [true, undefined, 2],
  ])('where service jobs may evict: %s', async (ServiceSchedulerEnabled, reason, count) => {
    const { apply, plan, evicted, configure } = await planned();
    await configure({ ServiceSchedulerEnabled });
    const refused = reason === undefined ? [] : plan.preemptions;
    const refusals = refused.map(({ nodeId }) => ({ nodeId, reason }));
    expect(await apply(plan)).toEqual(expect.arrayContaining(refusals));
    expect(evicted()).toHaveLength(count);
  });

  test('is not replaced if its job is stopped', async () => {
    const { apply, plan, putJob, triggers } = await planned();
    const other = { ID: 'other', Priority: 20 };
    await putJob({ ...jobOf({ Count: 2, Tasks }, 1, other), Stop: true });
    await apply(plan);
    expect(triggers()).toEqual([]);
  });
});

describe('a plan that is too old is not applied', () => {
  test('the job has changed', async () => {
    const { putJob, decide, apply, all } = await setUp();
    await putJob(jobOf());
    const plan = decide();
    await putJob(jobOf(changed('b'), 1));
    expect(await apply(plan)).toEqual([{ nodeId: '', reason: 'the job has changed' }]);
    expect(all.allocations()).toEqual([]);
  });

  test('the deployment was paused', async () => {
    const { putJob, decide, apply, all, change, changeDeployment } = await setUp();
    await putJob(jobOf({ Count: 2, Update: { MaxParallel: 0 } }));
    await apply(decide());
    const Update = { MaxParallel: 1 };
    await putJob(jobOf({ Count: 2, Update, ...changed('b') }, 1));
    await apply(decide());
    const [deployment] = all.deployments();
    for (const one of all.allocations()) await change(one.ID, { DeploymentStatus: healthy });
    const plan = decide();
    expect(plan.placements).toHaveLength(1);
    await changeDeployment({ Status: 'paused' });
    const reason = `deployment ${deployment!.ID} is paused, and no longer running`;
    expect(await apply(plan)).toEqual([{ nodeId: '', reason }]);
  });

  test('a node that was away is back', async () => {
    const { putJob, putNode, decide, apply, all, change } = await setUp();
    await putJob(jobOf({ Update: { MaxParallel: 0 } }));
    await apply(decide());
    const [one] = all.allocations();
    await putNode(makeNode(one!.NodeID, { Status: 'down' }));
    const plan = decide();
    expect(plan.stops).toMatchObject([{ clientStatus: 'lost' }]);
    await putNode(makeNode(one!.NodeID));
    expect(await apply(plan)).toEqual([{ nodeId: '', reason: 'a node that was away is back' }]);
    // An allocation that ended meanwhile keeps its last report.
    await putNode(makeNode(one!.NodeID, { Status: 'down' }));
    await change(one!.ID, { ClientStatus: 'complete' });
    expect(await apply(plan)).toEqual([]);
    expect(all.allocations().find(({ ID }) => ID === one!.ID)).toMatchObject({
      DesiredStatus: 'stop',
      ClientStatus: 'complete',
    });
  });
});

describe('allocations', () => {
  test('keep since when they are away, their follow-up, and the record of their reschedules', async () => {
    const { world, putJob, putNode, decide, apply, all, change } = await setUp();
    const Disconnect = { LostAfter: 60e9 };
    await putJob(jobOf({ Disconnect, Update: { MaxParallel: 0 } }));
    await apply(decide());
    const [one] = all.allocations();
    await change(one!.ID, { ClientStatus: 'running' });
    await putNode(makeNode(one!.NodeID, { Status: 'disconnected' }));
    await apply({ ...decide(), placements: [] });
    expect(all.allocations()[0]).toMatchObject({
      DesiredStatus: 'run',
      ClientStatus: 'unknown',
      FollowupEvalID: all.evaluations()[0]!.ID,
      AllocStates: [
        {
          Field: 'ClientStatus',
          Value: 'unknown',
          Time: instantFromMs(world.clock.nowMs()),
        },
      ],
    });
    const stop = { allocationId: one!.ID, nodeId: one!.NodeID, desiredDescription: '' } as const;
    const back = { ...stop, desiredStatus: 'run', followupEvaluationId: '' } as const;
    await apply({ ...decide(), stops: [back], placements: [] });
    expect(all.allocations()[0]!.FollowupEvalID).toBe('');
    const mark = { ...stop, desiredStatus: 'run', lastReschedule: 'no placement' } as const;
    await apply({ ...decide(), stops: [mark], placements: [] });
    expect(all.allocations()[0]!.RescheduleTracker).toEqual({
      Events: null,
      LastReschedule: 'no placement',
    });
  });

  test('keep changes of others in an update in place', async () => {
    const { putJob, decide, apply, all, change } = await setUp();
    const Update = { MaxParallel: 1 };
    await putJob(jobOf({ Update }));
    await apply(decide());
    const [one] = all.allocations();
    await change(one!.ID, { DeploymentStatus: healthy });
    await putJob(jobOf({ Update, ShutdownDelay: 1e9 }, 1));
    const plan = decide();
    const DesiredTransition = { ...noTransition, Migrate: true };
    await change(one!.ID, { ClientStatus: 'running', DesiredTransition });
    await apply(plan);
    expect(all.allocations()[0]).toMatchObject({
      JobVersion: 1,
      ClientStatus: 'running',
      DesiredTransition,
      DeploymentID: plan.deployment!.ID,
      DeploymentStatus: null,
    });
  });
});

test('one evaluation waits for each node, however often the job is decided', async () => {
  const { putJob, putNode, decide, apply, all } = await setUp();
  await putNode(makeNode('n2', { cpu: 50 }));
  const Update = { MaxParallel: 0 };
  await putJob(jobOf({ Update }, 0, { Type: 'system' }));
  await apply(decide());
  expect(all.evaluations()).toMatchObject([{ Status: 'blocked', NodeID: 'n2' }]);
  await apply(decide());
  expect(all.evaluations()).toHaveLength(1);
  await putNode(makeNode('n3', { cpu: 50 }));
  await apply(decide());
  expect(
    all
      .evaluations()
      .map((one) => one.NodeID)
      .sort(),
  ).toEqual(['n2', 'n3']);
});

test('an evaluation that waits for a node makes way for one of the changed job', async () => {
  const { putJob, putNode, decide, apply, all } = await setUp();
  await putNode(makeNode('n2', { cpu: 50 }));
  const job = (version: number, Priority: number) =>
    jobOf({ Update: { MaxParallel: 0 } }, version, { Type: 'system', Priority });
  await putJob(job(0, 10));
  await apply(decide({ Priority: 10 }));
  const [before] = all.evaluations();
  await putJob(job(1, 40));
  await apply(decide({ Priority: 40 }));
  const byAge = all.evaluations().sort((left, right) => left.CreateIndex - right.CreateIndex);
  expect(byAge).toMatchObject([
    { ID: before!.ID, Status: 'canceled', Priority: 10 },
    { Status: 'blocked', NodeID: 'n2', Priority: 40, JobModifyIndex: 11 },
  ]);
});
