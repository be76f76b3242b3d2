import { beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { makeEvaluation, makeGroup, makeJob, makeNode, makeTask } from '../cluster.test-helper.ts';
import { schedule } from '../schedule.ts';
import { type ClusterView, schedulerDefaults } from '../view.ts';
import {
  cluster,
  everybody,
  evicted,
  idsOf,
  jobOf,
  newCluster,
  nodes,
  run,
} from './preempt.test-helper.ts';
import { distance, penalty, preemptionScore } from './preempt.ts';

beforeEach(newCluster);

describe('victims', () => {
  test('are the victims of the example in the published documentation', () => {
    nodes([makeNode('n1', { cpu: 10_000, memory: 5000, disk: 2500 })]);
    run('cache', { priority: 70, memory: 2000, disk: 500 });
    run('batch-analytics', { priority: 50, count: 2, memory: 1000, disk: 500 });
    run('email-1', { priority: 20, memory: 500, disk: 800 });
    run('email-2', { priority: 20, memory: 500, disk: 200 });
    const { plan } = run('webapp', { priority: 75, memory: 2000, disk: 1000 });
    expect(plan.placements).toHaveLength(1);
    expect(evicted()).toEqual({ 'batch-analytics': 1, 'email-1': 1, 'email-2': 1 });
  });

  test.each([
    ['10 lower', 60, 70, true],
    ['9 lower', 61, 70, false],
    ['equal', 70, 70, false],
    ['higher', 90, 70, false],
  ])('a priority that is %s', (_title, theirs, mine, makesWay) => {
    nodes([makeNode('n1')]);
    run('other', { priority: theirs, cpu: 600 });
    run('important', { priority: mine, cpu: 600 });
    expect(evicted()).toEqual(makesWay ? { other: 1 } : {});
    expect(idsOf('important')).toHaveLength(makesWay ? 1 : 0);
  });

  test('are never of the same job, whatever the priority of their version', () => {
    nodes([makeNode('n1')]);
    run('important', { priority: 20, cpu: 600 });
    const { plan } = run('important', { priority: 80, cpu: 600, count: 2 }, 1);
    expect([plan.preemptions, plan.queued]).toEqual([[], { web: 1 }]);
  });

  test('may be of a job with the same id in another namespace', () => {
    nodes([makeNode('n1')]);
    run('same', { priority: 20, cpu: 600, job: { Namespace: 'other' } });
    const there = cluster.allocations[0]!;
    cluster.putJob({ ...jobOf('same', { priority: 20, cpu: 600 }), Namespace: 'other' });
    const mine = jobOf('same', { priority: 80, cpu: 600 });
    const view: ClusterView = {
      index: 1,
      configuration: cluster.configuration,
      job: (namespace, id) => (namespace === 'default' ? mine : cluster.job(namespace, id)),
      jobVersion: (namespace, id) =>
        namespace === 'default' ? mine : cluster.jobVersion(namespace, id, 0),
      allocationsOfJob: () => [],
      deploymentsOfJob: () => [],
      isOver: () => true,
      node: (id) => cluster.node(id),
      nodes: () => cluster.nodes(),
      allocationsOnNode: (id) => cluster.allocationsOnNode(id),
    };
    const options = { nowMs: 0, ids: new SimulatedWorld(1).ids };
    const { plan } = schedule(view, makeEvaluation({ JobID: 'same' }), options);
    expect(plan.preemptions).toMatchObject([{ allocationId: there.ID, namespace: 'other' }]);
  });

  test.each<[string, Partial<Allocation>, number]>([
    ['is stopped already', { DesiredStatus: 'stop' }, 0],
    ['is being evicted already', { DesiredStatus: 'evict' }, 1],
    ['is over', { ClientStatus: 'failed' }, 1],
    ['has yet to begin', { ClientStatus: 'pending' }, 1],
  ])('an allocation that %s', (_title, fields, placed) => {
    nodes([makeNode('n1')]);
    run('other', { priority: 20, cpu: 600 });
    cluster.change(cluster.allocations[0]!.ID, fields);
    const { plan } = run('important', { priority: 80, cpu: 600 });
    expect(plan.placements).toHaveLength(placed);
    expect(plan.preemptions).toHaveLength(fields.ClientStatus === 'pending' ? 1 : 0);
  });

  test('have the priority of the version that they run, while it is kept', () => {
    nodes([makeNode('n1')]);
    run('other', { priority: 20, cpu: 600 });
    cluster.putJob(jobOf('other', { priority: 90, cpu: 600 }, 1));
    expect(run('important', { priority: 80, cpu: 600 }).plan.preemptions).toHaveLength(1);
  });

  test('have the priority of their job if their version is no longer kept', () => {
    nodes([makeNode('n1')]);
    run('other', { priority: 20, cpu: 600 });
    cluster.change(cluster.allocations[0]!.ID, { JobVersion: 7 });
    cluster.putJob(jobOf('other', { priority: 90, cpu: 600 }, 9));
    expect(run('important', { priority: 80, cpu: 600 }).plan.preemptions).toEqual([]);
    cluster.dropJob('other');
    expect(run('third', { priority: 80, cpu: 600 }).plan.preemptions).toEqual([]);
  });
});

describe('jobs that evict', () => {
  test.each([
    ['service', false],
    ['batch', false],
    ['system', true],
    ['sysbatch', false],
  ] as const)('%s: %s unless operators say otherwise', (Type, byDefault) => {
    for (const [preemption, makesWay] of [
      [schedulerDefaults.preemption, byDefault],
      [{ ...everybody, [Type]: false }, false],
      [{ system: false, sysbatch: false, batch: false, service: false, [Type]: true }, true],
    ] as const) {
      newCluster();
      nodes([makeNode('n1')], preemption);
      run('other', { priority: 20, cpu: 600 });
      run('important', { priority: 80, cpu: 600, job: { Type } });
      expect(evicted()).toEqual(makesWay ? { other: 1 } : {});
    }
  });

  test('a system job evicts on each full node', () => {
    nodes([makeNode('n1'), makeNode('n2'), makeNode('n3', { cpu: 200 })]);
    run('other', { priority: 20, cpu: 600, count: 1 });
    const { plan } = run('agent', { priority: 80, cpu: 500, job: { Type: 'system' } });
    expect(plan.placements.map((one) => one.NodeID)).toEqual(['n1', 'n2']);
    const [{ Metrics }] = plan.placements as [Allocation];
    expect(Metrics!.ScoreMetaData).toMatchObject([{ NodeID: 'n1', Scores: { preemption: {} } }]);
    expect(evicted()).toEqual({ other: 1 });
    expect(plan.failures).toMatchObject({ web: { DimensionExhausted: { cpu: 1 } } });
  });

  test('a job with an open node evicts nothing', () => {
    nodes([makeNode('n1'), makeNode('n2', { cpu: 5000 })]);
    run('other', { priority: 20, cpu: 600, count: 9, job: { Constraints: null } });
    const { plan } = run('important', { priority: 80, cpu: 300 });
    expect([plan.placements.length, plan.preemptions]).toEqual([1, []]);
  });

  test('a job evicts nothing on nodes that fail its rules', () => {
    nodes([makeNode('n1', { Datacenter: 'dc2' }), makeNode('n2', { cpu: 200 })]);
    run('other', { priority: 20, cpu: 600 });
    const Datacenters = ['dc1'];
    const { plan } = run('important', { priority: 80, cpu: 600, job: { Datacenters } });
    expect([plan.placements, plan.preemptions]).toEqual([[], []]);
  });
});

describe('consequences', () => {
  test('the plan names victims and beneficiaries', () => {
    nodes([makeNode('n1')]);
    run('other', { priority: 20, cpu: 300, count: 3 });
    const { plan, outcome } = run('important', { priority: 80, cpu: 600 });
    const [placement] = plan.placements;
    const gone = cluster.allocations.filter((one) => one.DesiredStatus === 'evict');
    expect([...placement!.PreemptedAllocations!].sort()).toEqual(gone.map((one) => one.ID).sort());
    expect(plan.preemptions).toEqual(
      placement!.PreemptedAllocations!.map((allocationId) => ({
        allocationId,
        namespace: 'default',
        nodeId: 'n1',
        byAllocationId: placement!.ID,
      })),
    );
    expect(plan.annotations.web).toMatchObject({ Place: 1, Preemptions: gone.length });
    expect(placement!.Metrics).toMatchObject({
      NodesExhausted: 1,
      DimensionExhausted: { cpu: 1 },
      ScoreMetaData: [
        { NodeID: 'n1', Scores: { binpack: expect.anything(), preemption: expect.anything() } },
      ],
    });
    expect([outcome.status, outcome.failures]).toEqual(['complete', null]);
  });

  test('spare resources of the victims serve the next requests at once', () => {
    nodes([makeNode('n1'), makeNode('n2')]);
    run('other', { priority: 20, cpu: 1000, count: 2 });
    run('important', { priority: 80, cpu: 300, count: 3 });
    run('third', { priority: 20, cpu: 100 });
    expect(evicted()).toEqual({ other: 1 });
    expect(new Set(cluster.live().map((one) => one.NodeID)).size).toBe(2);
    expect(idsOf('third')).toHaveLength(1);
  });

  test('a victim is placed again as soon as there is room', () => {
    nodes([makeNode('n1')]);
    run('other', { priority: 20, cpu: 600 });
    run('important', { priority: 80, cpu: 600 });
    expect(cluster.run({ ID: 'e9', JobID: 'other' }).plan.queued).toEqual({ web: 1 });
    cluster.putNode(makeNode('n2'));
    cluster.run({ ID: 'e10', JobID: 'other' });
    expect(cluster.live()).toMatchObject([
      { Name: 'important.web[0]', NodeID: 'n1' },
      { Name: 'other.web[0]', NodeID: 'n2' },
    ]);
  });

  test('a victim becomes the predecessor of its replacement', () => {
    nodes([makeNode('n1')]);
    run('other', { priority: 20, cpu: 600 });
    const [first] = idsOf('other');
    run('important', { priority: 80, cpu: 600 });
    cluster.putNode(makeNode('n2'));
    cluster.run({ ID: 'e9', JobID: 'other' });
    expect(cluster.named('other.web[0]').PreviousAllocation).toBe(first);
    expect(cluster.allocation(first!).NextAllocation).toBe(cluster.named('other.web[0]').ID);
    expect(cluster.run({ ID: 'e10', JobID: 'other' }).isEmpty).toBe(true);
  });

  test.each(['service', 'system'] as const)(
    'also if its version is not rolled out any further: %s',
    (Type) => {
      nodes([makeNode('n1')]);
      const group = makeGroup({ Count: 1, Tasks: [makeTask({ Resources: { CPU: 600 } })] });
      const other = { ID: 'other', Priority: 20, Type, TaskGroups: [group] };
      cluster.putJob(makeJob(other));
      cluster.run({ ID: 'e1', JobID: 'other', Type });
      const [deployment] = cluster.deployments;
      cluster.putDeployment({ ...deployment!, Status: 'failed' });
      run('important', { priority: 80, cpu: 600 });
      cluster.settle();
      cluster.change(cluster.named('important.web[0]').ID, { ClientStatus: 'complete' });
      cluster.run({ ID: 'e9', JobID: 'other', Type });
      expect(idsOf('other')).toHaveLength(1);
    },
  );

  test('a victim of a batch job runs again', () => {
    nodes([makeNode('n1'), makeNode('n2', { SchedulingEligibility: 'ineligible' })]);
    run('other', { priority: 20, cpu: 600, job: { Type: 'sysbatch' } });
    run('important', { priority: 80, cpu: 600 });
    cluster.settle();
    cluster.putNode(makeNode('n1', { cpu: 2000 }));
    cluster.run({ ID: 'e9', JobID: 'other', Type: 'sysbatch' });
    expect(idsOf('other')).toHaveLength(1);
  });

  test('a replacement uses its predecessor’s resources, and fewer victims are needed', () => {
    nodes([makeNode('n1')]);
    run('important', { priority: 80, cpu: 300, count: 2 });
    run('other', { priority: 20, cpu: 100, count: 4 });
    // The first allocation is placed again if nothing is evicted for it; the second looks at the node again.
    run('important', { priority: 80, cpu: 400, count: 2, env: 'new' }, 1);
    expect(evicted()).toEqual({ other: 2 });
    expect(idsOf('important')).toHaveLength(2);
  });
});

describe('the numbers', () => {
  const none = { cpu: 0, memory: 0, disk: 0, cores: 0, devices: 0 };

  test.each([
    [
      'amounts that equal the missing ones',
      { cpu: 500, memory: 200 },
      { cpu: 500, memory: 200 },
      0,
    ],
    [
      'half of the missing amounts',
      { cpu: 500, memory: 200 },
      { cpu: 250, memory: 100 },
      Math.SQRT1_2,
    ],
    [
      'more than the missing amount of one resource, less of another',
      { cpu: 400 },
      { cpu: 500, memory: 50 },
      Math.hypot(0.2, 0.25),
    ],
    ['devices', { devices: 1 }, { devices: 2 }, 0.5],
  ])('the distance of %s', (_title, missing, given, expected) => {
    const asked = { ...none, cpu: 500, memory: 200, disk: 0, devices: 2 };
    expect(distance({ ...none, ...missing }, { ...none, ...given }, asked)).toBeCloseTo(
      expected,
      12,
    );
  });

  test.each([
    [0, 7, 0],
    [1, 0, 0],
    [1, 1, 50],
    [2, 1, 0],
    [2, 4, 150],
  ])(
    'with %i losses allowed and %i before, another loss costs %i',
    (maxParallel, taken, expected) => {
      expect(penalty({ maxParallel }, taken)).toBe(expected);
    },
  );

  test.each([
    [[1], 0.999945],
    [[50], 0.999932],
    [[100, 100], 0.999914],
    [[10, 20, 30], 0.999937],
  ])('evictions of the priorities %j score %d', (priorities, expected) => {
    expect(preemptionScore(priorities)).toBeCloseTo(expected, 5);
  });
});
