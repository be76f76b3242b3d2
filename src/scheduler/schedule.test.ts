import { describe, expect, test } from 'vitest';
import { instantFromMs } from '../base/instant.ts';
import { noTransition } from '../model/allocation/allocation.ts';
import { makeEvaluation, makeNode, makeTask, startMs, TestCluster } from './cluster.test-helper.ts';
import { schedule } from './schedule.ts';
import { descriptions, schedulerDefaults } from './view.ts';
import { changedTask, names, nodes, running, web } from './web-job.test-helper.ts';

describe('failures', () => {
  const policy = (fields: object) => ({
    Count: 1,
    ReschedulePolicy: { Unlimited: true, Delay: 30e9, DelayFunction: 'constant', ...fields },
  });

  test('waits for its delay once, and is then placed on another node', () => {
    const cluster = running(policy({}), {}, 2);
    const [failed] = cluster.live();
    cluster.fail(failed!.ID);
    const { plan } = cluster.run();
    expect(plan.placements).toEqual([]);
    const [followUp] = plan.evaluations;
    expect(followUp).toMatchObject({
      TriggeredBy: 'alloc-reschedule',
      Status: 'pending',
      WaitUntil: instantFromMs(startMs + 30_000),
      PreviousEval: 'evaluation-1',
    });
    expect(plan.stops).toEqual([
      {
        allocationId: failed!.ID,
        nodeId: failed!.NodeID,
        desiredStatus: 'run',
        desiredDescription: '',
        followupEvaluationId: followUp!.ID,
      },
    ]);
    expect(cluster.decide().isEmpty).toBe(true);

    cluster.nowMs += 20_000;
    const second = cluster.run({ ID: followUp!.ID }).plan;
    expect(second.stops).toMatchObject([{ desiredDescription: descriptions.rescheduled }]);
    expect(cluster.live()).toMatchObject([
      {
        Name: 'job.web[0]',
        NodeID: 'n1',
        PreviousAllocation: failed!.ID,
        RescheduleTracker: {
          LastReschedule: 'ok',
          Events: [
            {
              PrevAllocID: failed!.ID,
              PrevNodeID: 'n0',
              Delay: 30e9,
              RescheduleTime: instantFromMs(cluster.nowMs),
            },
          ],
        },
      },
    ]);
  });

  test('failures within five seconds share an evaluation', () => {
    const cluster = running({ ...policy({}), Count: 3 });
    const [first, second, third] = cluster.live();
    cluster.fail(first!.ID, startMs);
    cluster.fail(second!.ID, startMs + 5000);
    cluster.fail(third!.ID, startMs + 5001);
    const { plan } = cluster.run();
    expect(plan.evaluations.map((one) => [one.TriggeredBy, one.WaitUntil])).toEqual([
      ['alloc-reschedule', instantFromMs(startMs + 35_000)],
      ['alloc-failure', instantFromMs(startMs + 35_001)],
    ]);
    const [one, two] = plan.evaluations.map((evaluation) => evaluation.ID);
    expect(plan.stops.map((stop) => stop.followupEvaluationId)).toEqual([one, one, two]);
  });

  test('an allocation that failed for good counts and stays', () => {
    const cluster = running(policy({ Unlimited: false, Attempts: 0 }));
    cluster.fail(cluster.live()[0]!.ID);
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('a new specification does not wait for the delays of the old specification', () => {
    const cluster = running(policy({}));
    cluster.fail(cluster.live()[0]!.ID);
    cluster.putJob(web({ ...policy({}), ...changedTask }, 1));
    cluster.run();
    expect(cluster.live()).toMatchObject([{ JobVersion: 1, RescheduleTracker: null }]);
  });

  test('a failed allocation without a new node stays as it was, and is noted once', () => {
    const cluster = running(policy({}), {}, 1);
    cluster.fail(cluster.live()[0]!.ID);
    cluster.putNode(makeNode('n0', { SchedulingEligibility: 'ineligible' }));
    cluster.nowMs += 30_000;
    const { plan } = cluster.run();
    expect(plan.stops).toMatchObject([{ desiredStatus: 'run', lastReschedule: 'no placement' }]);
    expect(plan.queued).toEqual({ web: 1 });
    const again = cluster.decide({ Status: 'blocked' });
    expect(again.isEmpty).toBe(true);
    expect(again.plan.queued).toEqual({ web: 1 });
  });

  test('a forced reschedule needs no policy', () => {
    const cluster = running(policy({ Unlimited: false, Attempts: 0 }));
    const [failed] = cluster.live();
    cluster.fail(failed!.ID);
    cluster.change(failed!.ID, { DesiredTransition: { ...noTransition, ForceReschedule: true } });
    cluster.run();
    expect(cluster.live()).toHaveLength(1);
  });
});

describe('requests without a node', () => {
  const half = { Tasks: [makeTask({ Resources: { CPU: 500 } })] };

  test('the other requests wait in a blocked evaluation, and the metrics are complete', () => {
    const cluster = new TestCluster([
      makeNode('n0', { NodeClass: 'small' }),
      makeNode('n1', { Datacenter: 'dc2' }),
      makeNode('n2', { NodePool: 'other' }),
      makeNode('n3', { Status: 'down' }),
      makeNode('n4', { NodeClass: 'odd', Attributes: { arch: 'arm64' } }),
    ]);
    cluster.putJob(
      web({ Count: 7, ...half }, 0, {
        Datacenters: ['dc1'],
        Constraints: [{ LTarget: '${attr.arch}', Operand: '!=', RTarget: 'arm64' }],
      }),
    );
    const { plan, outcome, isEmpty } = cluster.decide();
    expect(isEmpty).toBe(false);
    expect(plan.placements.map((one) => one.NodeID)).toEqual(['n0', 'n0']);
    expect(plan.failures.web).toEqual({
      NodesEvaluated: 2,
      NodesFiltered: 1,
      NodesInPool: 3,
      NodePool: 'default',
      NodesAvailable: { dc1: 2 },
      ClassFiltered: { odd: 1 },
      ConstraintFiltered: { '${attr.arch} != arm64': 1 },
      NodesExhausted: 1,
      ClassExhausted: { small: 1 },
      DimensionExhausted: { cpu: 1 },
      QuotaExhausted: null,
      ResourcesExhausted: { server: { CPU: 500, MemoryMB: 100, DiskMB: 0 } },
      Scores: null,
      ScoreMetaData: null,
      AllocationTime: 0,
      CoalescedFailures: 4,
    });
    const eligibility = {
      [cluster.node('n0')!.ComputedClass]: true,
      [cluster.node('n4')!.ComputedClass]: false,
    };
    const blocked = plan.evaluations[0]!;
    expect(blocked).toMatchObject({
      Status: 'blocked',
      TriggeredBy: 'queued-allocs',
      StatusDescription: descriptions.blocked,
      PreviousEval: 'evaluation-1',
      SnapshotIndex: 100,
      ClassEligibility: eligibility,
      EscapedComputedClass: false,
    });
    expect(outcome).toMatchObject({
      status: 'complete',
      blockedEvaluationId: blocked.ID,
      queued: { web: 5 },
      failures: { web: { CoalescedFailures: 4 } },
    });
  });

  test('a blocked evaluation stays blocked until every request is placed', () => {
    const cluster = new TestCluster(nodes(1));
    cluster.putJob(web({ Count: 3, ...half }));
    cluster.run();
    const again = cluster.run({ Status: 'blocked' });
    expect(again.isEmpty).toBe(true);
    expect(again.plan.evaluations).toEqual([]);
    expect(again.outcome).toMatchObject({ status: 'blocked', queued: { web: 1 } });
    cluster.putNode(makeNode('n1'));
    const last = cluster.run({ Status: 'blocked' });
    expect(last.outcome).toMatchObject({ status: 'complete', queued: { web: 0 }, failures: null });
    expect(cluster.liveNames()).toEqual(names(0, 1, 2));
  });

  test('a cluster without nodes', () => {
    const cluster = new TestCluster();
    cluster.putJob(web());
    const { plan } = cluster.decide();
    expect(plan.failures.web).toMatchObject({ NodesEvaluated: 0, NodesAvailable: {} });
    // The blocked evaluation itself has the metrics: the evaluation before it may be collected.
    expect(plan.evaluations).toMatchObject([
      { Status: 'blocked', ClassEligibility: null, FailedTGAllocs: plan.failures },
    ]);
  });

  test('with unique attributes the blocked evaluation waits for any node', () => {
    const cluster = new TestCluster(nodes(1));
    const Constraints = [{ LTarget: '${node.unique.id}', Operand: '=', RTarget: 'x' }];
    cluster.putJob(web({ Constraints }));
    expect(cluster.decide().plan.evaluations).toMatchObject([{ EscapedComputedClass: true }]);
  });

  test('a stopped allocation that still runs holds its resources', () => {
    const cluster = running({ Count: 2, ...half }, {}, 1);
    for (const one of cluster.live()) cluster.change(one.ID, { DesiredStatus: 'stop' });
    expect(cluster.decide().plan.queued).toEqual({ web: 2 });
    cluster.settle();
    expect(cluster.decide().plan.queued).toEqual({ web: 0 });
  });
});

describe('choice of nodes', () => {
  test('equal scores go to the lower id; then the fuller node wins, unless it has neighbours', () => {
    const cluster = running({ Count: 2 });
    expect(cluster.live().map((one) => one.NodeID)).toEqual(['n0', 'n1']);
    const { ScoreMetaData } = cluster.live()[0]!.Metrics!;
    expect(ScoreMetaData?.map((entry) => entry.NodeID)).toEqual(['n0', 'n1', 'n2']);
    expect(cluster.live()[1]!.Metrics).toBe(cluster.live()[0]!.Metrics);
  });

  test('a sticky disk goes back to its node', () => {
    const cluster = running({ Count: 1, EphemeralDisk: { Sticky: true, SizeMB: 10 } });
    cluster.putNode(makeNode('a-better-one', { cpu: 250, memory: 250 }));
    cluster.putJob(
      web({ Count: 1, EphemeralDisk: { Sticky: true, SizeMB: 10 }, ...changedTask }, 1),
    );
    cluster.run();
    expect(cluster.live().map((one) => one.NodeID)).toEqual(['n0']);
  });

  test('the spread algorithm prefers the emptier node', () => {
    const cluster = new TestCluster([makeNode('n0', { cpu: 500 }), makeNode('n1')]);
    cluster.putJob(web());
    expect(cluster.decide().plan.placements[0]!.NodeID).toBe('n0');
    cluster.configuration = { ...schedulerDefaults, algorithm: 'spread' };
    expect(cluster.decide().plan.placements[0]!.NodeID).toBe('n1');
  });
});

test('the ids of a group after its first sixteen are neighbours', () => {
  const cluster = new TestCluster([makeNode('n0', { cpu: 10_000, memory: 10_000 })]);
  cluster.putJob(web({ Count: 20 }));
  const asked: (string | undefined)[] = [];
  const ids = { uuid: (near?: string) => `id-${asked.push(near)}` };
  const { plan } = schedule(cluster, makeEvaluation(), { nowMs: startMs, ids });
  const placed = plan.placements.map(({ ID }) => ID);
  const first = asked.indexOf(placed[15]);
  expect(asked.slice(0, first).every((near) => near === undefined)).toBe(true);
  expect(asked.slice(first, first + 4)).toEqual(placed.slice(15, 19));
});
