import { beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { JobInput } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import {
  makeEvaluation,
  makeGroup,
  makeJob,
  makeNode,
  makeTask,
  TestCluster,
} from '../cluster.test-helper.ts';
import { schedule } from '../schedule.ts';
import { type ClusterView, schedulerDefaults } from '../view.ts';
import { distance, penalty, preemptionScore } from './preempt.ts';

const everybody = { system: true, sysbatch: true, batch: true, service: true };

interface Wish {
  readonly priority?: number;
  readonly count?: number;
  readonly cpu?: number;
  readonly memory?: number;
  readonly disk?: number;
  readonly moved?: number;
  readonly ports?: readonly number[];
  readonly gpus?: number;
  readonly sticky?: boolean;
  readonly env?: string;
  readonly job?: JobInput;
}

let cluster: TestCluster;
let order: number;

beforeEach(() => {
  cluster = new TestCluster();
  order = 0;
});

/** `preemption`: the job types that may evict. */
function nodes(list: readonly Node[], preemption = everybody): void {
  for (const node of list) cluster.putNode(node);
  cluster.configuration = { ...schedulerDefaults, preemption };
}

const jobOf = (ID: string, wish: Wish, version = 0) => {
  const { priority = 50, count = 1, cpu = 100, memory = 100, disk = 10, moved = 0 } = wish;
  const isService = (wish.job?.Type ?? 'service') === 'service';
  return makeJob(
    {
      ID,
      Priority: priority,
      ...wish.job,
      TaskGroups: [
        makeGroup({
          Count: count,
          EphemeralDisk: { SizeMB: disk, Sticky: wish.sticky ?? false },
          Update: isService ? { MaxParallel: 0 } : null,
          Migrate: isService ? { MaxParallel: moved, HealthCheck: 'checks' } : null,
          Networks: [
            { ReservedPorts: (wish.ports ?? []).map((Value) => ({ Label: `p${Value}`, Value })) },
          ],
          Tasks: [
            makeTask({
              Env: { value: wish.env ?? '' },
              Resources: {
                CPU: cpu,
                MemoryMB: memory,
                ...(wish.gpus && { Devices: [{ Name: 'gpu', Count: wish.gpus }] }),
              },
            }),
          ],
        }),
      ],
    },
    version,
  );
};

/** Evaluates the job. Each evaluation has its own id, which decides its ports. */
function run(ID: string, wish: Wish, version = 0) {
  const job = jobOf(ID, wish, version);
  cluster.putJob(job);
  return cluster.run({ ID: `e${++order}`, JobID: ID, Type: job.Type });
}

/** Ids of the job's running allocations, in the order of creation. */
const idsOf = (jobId: string): readonly string[] =>
  cluster.live().flatMap((one) => (one.JobID === jobId ? [one.ID] : []));

/** The number of victims by job. */
const evicted = (): Record<string, number> => {
  const gone = cluster.allocations.filter((one) => one.DesiredStatus === 'evict');
  const counts = Map.groupBy(gone, (one) => one.JobID);
  return Object.fromEntries([...counts].map(([id, list]) => [id, list.length]));
};

describe('victims', () => {
  test('are those of the example in the published documentation', () => {
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
    ['makes way already', { DesiredStatus: 'evict' }, 1],
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

  test('have the priority of their job once their version is no longer kept', () => {
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
      cluster = new TestCluster();
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

describe('the choice of victims', () => {
  test.each([
    ['fit exactly', [200, 300, 500], 500, [500]],
    ['are just enough with what is free', [100, 200, 700], 100, [100]],
    ['are closest, one after the other', [300, 350, 350], 400, [300, 350]],
    ['are left when a later one made an earlier one superfluous', [200, 800], 700, [800]],
  ])('victims that %s', (_title, there, cpu, expected) => {
    nodes([makeNode('n1')]);
    for (const [at, size] of there.entries()) run(`other${at}`, { priority: 20, cpu: size });
    run('important', { priority: 80, cpu });
    const gone = cluster.allocations.filter((one) => one.DesiredStatus === 'evict');
    const sizes = gone.map((one) => one.AllocatedResources.Tasks.server!.Cpu.CpuShares);
    expect(sizes.sort()).toEqual(expected);
  });

  test('takes lower priorities first, even if others fit better', () => {
    nodes([makeNode('n1')]);
    run('exact', { priority: 30, cpu: 500 });
    run('low', { priority: 20, cpu: 250, count: 2 });
    run('important', { priority: 80, cpu: 500 });
    expect(evicted()).toEqual({ low: 2 });
  });

  test('spares groups that have lost as many as they may', () => {
    nodes([makeNode('n1'), makeNode('n2')]);
    run('exact', { priority: 20, cpu: 500, count: 2, moved: 1 });
    run('larger', { priority: 20, cpu: 500, memory: 800, count: 2, moved: 1 });
    run('important', { priority: 80, cpu: 400, count: 2 });
    expect(evicted()).toEqual({ exact: 1, larger: 1 });
  });

  test('takes the holder of the port', () => {
    nodes([makeNode('n1')]);
    run('low', { priority: 20, count: 3 });
    run('web', { priority: 40, ports: [80] });
    run('important', { priority: 80, ports: [80] });
    expect(evicted()).toEqual({ web: 1 });
  });

  test('is empty when the holder of the port has the same priority', () => {
    nodes([makeNode('n1')]);
    run('low', { priority: 20, count: 3 });
    run('web', { priority: 75, ports: [80] });
    expect(run('important', { priority: 80, ports: [80] }).plan.preemptions).toEqual([]);
  });

  test('takes holders of the devices, no more than needed', () => {
    const Instances = ['g1', 'g2', 'g3'].map((ID) => ({ ID, Healthy: true }));
    nodes([makeNode('n1', { devices: [{ Vendor: 'acme', Type: 'gpu', Name: 'a', Instances }] })]);
    run('plain', { priority: 20, count: 3 });
    run('two', { priority: 20, gpus: 2 });
    run('one', { priority: 20, gpus: 1 });
    const { plan } = run('important', { priority: 80, gpus: 1 });
    expect(evicted()).toEqual({ one: 1 });
    const { Devices } = plan.placements[0]!.AllocatedResources.Tasks.server!;
    expect(Devices).toEqual([{ Vendor: 'acme', Type: 'gpu', Name: 'a', DeviceIDs: ['g3'] }]);
  });

  test('prefers the node with the fewest victims of the lowest priorities', () => {
    nodes([makeNode('n1'), makeNode('n2'), makeNode('n3')]);
    run('a', { priority: 40, cpu: 900 });
    run('b', { priority: 20, cpu: 900 });
    run('c', { priority: 30, cpu: 900 });
    const { plan } = run('important', { priority: 80, cpu: 900 });
    const [there] = cluster.allocations.filter((one) => one.JobID === 'b');
    expect(plan.preemptions).toMatchObject([{ allocationId: there!.ID, nodeId: there!.NodeID }]);
    const scores = plan.placements[0]!.Metrics!.ScoreMetaData!;
    expect(scores.map(({ Scores }) => Scores.preemption)).toEqual(
      [20, 30, 40].map((priority) => preemptionScore([priority])),
    );
  });

  test('prefers the node of a sticky disk', () => {
    nodes([makeNode('n1'), makeNode('n2')]);
    run('important', { priority: 80, cpu: 400, sticky: true });
    const [first] = cluster.live();
    run('a', { priority: 40, cpu: 600 });
    run('b', { priority: 20, cpu: 1000 });
    run('important', { priority: 80, cpu: 500, sticky: true, env: 'new' }, 1);
    expect(cluster.named('important.web[0]').NodeID).toBe(first!.NodeID);
    expect(evicted()).toEqual({ a: 1 });
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
    'and that also where its version is not rolled out any further: %s',
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
    // The first is placed anew where nothing makes way for it; the second looks at the node again.
    run('important', { priority: 80, cpu: 400, count: 2, env: 'new' }, 1);
    expect(evicted()).toEqual({ other: 2 });
    expect(idsOf('important')).toHaveLength(2);
  });
});

describe('the numbers', () => {
  const none = { cpu: 0, memory: 0, disk: 0, cores: 0, devices: 0 };

  test.each([
    ['as much as is missing', { cpu: 500, memory: 200 }, { cpu: 500, memory: 200 }, 0],
    ['half of it', { cpu: 500, memory: 200 }, { cpu: 250, memory: 100 }, Math.SQRT1_2],
    [
      'more than it in one, less in another',
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
  ])('of at most %i, %i are lost already: one more costs %i', (maxParallel, taken, expected) => {
    expect(penalty({ maxParallel }, taken)).toBe(expected);
  });

  test.each([
    [[1], 0.999945],
    [[50], 0.999932],
    [[100, 100], 0.999914],
    [[10, 20, 30], 0.999937],
  ])('evictions of the priorities %j score %d', (priorities, expected) => {
    expect(preemptionScore(priorities)).toBeCloseTo(expected, 5);
  });
});
