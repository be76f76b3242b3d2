import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import {
  affinity,
  algorithm,
  constraint,
  datacenters,
  nodeFields,
  spread,
} from '../arbitrary-cluster.test-helper.ts';
import { makeGroup, makeJob, makeNode, makeTask, TestCluster } from '../cluster.test-helper.ts';
import { checkListed } from '../fitting/check.test-helper.ts';
import { schedulerDefaults } from '../view.ts';
import { heldBy } from './brute-force-scan.test-helper.ts';

const node = fc.record({
  cpu: fc.constantFrom(300, 500, 1000),
  memory: fc.constantFrom(300, 500, 1000),
  disk: fc.constantFrom(40, 1000),
  ...nodeFields,
});

const network = fc.constantFrom(
  [],
  [{ DynamicPorts: [{ Label: 'a' }] }],
  [{ DynamicPorts: [{ Label: 'a' }, { Label: 'b' }] }],
  [{ ReservedPorts: [{ Label: 's', Value: 20_001 }], DynamicPorts: [{ Label: 'a' }] }],
);

const wish = fc.record({
  count: fc.integer({ min: 0, max: 12 }),
  cpu: fc.constantFrom(50, 100, 250),
  memory: fc.constantFrom(50, 100, 250),
  Datacenters: datacenters,
  Constraints: fc.array(constraint, { maxLength: 2 }),
  Affinities: fc.array(affinity, { maxLength: 2 }),
  Spreads: fc.array(spread, { maxLength: 2 }),
  Networks: network,
});

type Wish = Parameters<Parameters<typeof wish.map>[0]>[0];

const jobOf = (wanted: Wish, ID = 'job', version = 0): Job =>
  makeJob(
    {
      ID,
      Datacenters: wanted.Datacenters,
      Spreads: wanted.Spreads,
      TaskGroups: [
        makeGroup({
          Count: wanted.count,
          Constraints: wanted.Constraints,
          Affinities: wanted.Affinities,
          Networks: wanted.Networks,
          Tasks: [makeTask({ Resources: { CPU: wanted.cpu, MemoryMB: wanted.memory } })],
        }),
      ],
    },
    version,
  );

const world = fc.record({
  nodes: fc
    .array(node, { minLength: 1, maxLength: 8 })
    .map((list) => list.map((one, index) => makeNode(`n0${index}`, one))),
  other: wish,
  job: wish,
  smaller: fc.integer({ min: 0, max: 12 }),
  algorithm,
  id: fc.uuid(),
});

interface World {
  readonly nodes: readonly Node[];
  readonly other: Wish;
  readonly job: Wish;
  readonly smaller: number;
  readonly algorithm: 'binpack' | 'spread';
}

/** Starts with another job's allocations, then some of the job's own. */
function prepared({ nodes, other, job, smaller, algorithm }: World): TestCluster {
  const cluster = new TestCluster(nodes);
  cluster.configuration = { ...schedulerDefaults, algorithm };
  cluster.putJob(jobOf(other, 'other'));
  cluster.run({ JobID: 'other' });
  cluster.putJob(jobOf({ ...job, count: Math.min(job.count, smaller) }));
  cluster.run();
  return cluster;
}

/** Checks with the plan applier's check that no resource is held twice. */
function expectSound(cluster: TestCluster): void {
  for (const one of cluster.nodes()) {
    const placements = cluster.live().filter((allocation) => allocation.NodeID === one.ID);
    const eligible = { ...one, SchedulingEligibility: 'eligible' as const };
    const change = { node: eligible, existing: [], stops: [], updates: [], placements };
    expect(checkListed(change)).toBeUndefined();
  }
}

describe('random clusters and jobs', () => {
  test('no node runs more than its capacity while jobs change faster than tasks end', () => {
    const step = fc.record({
      ID: fc.constantFrom('job', 'job', 'other'),
      count: fc.integer({ min: 0, max: 5 }),
      cpu: fc.constantFrom(200, 300, 500),
      version: fc.nat({ max: 3 }),
      network: fc.constantFrom(
        { ReservedPorts: [{ Label: 's', Value: 8080 }] },
        { DynamicPorts: [{ Label: 'd' }] },
      ),
      ends: fc.nat({ max: 7 }),
      moves: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 12 }), (steps) => {
        const nodes = ['n1', 'n2'].map((id) => makeNode(id, { ports: [20_000, 20_003] }));
        const cluster = new TestCluster(nodes);
        for (const { ID, count, cpu, version, network, ends, moves } of steps) {
          const Tasks = [makeTask({ Resources: { CPU: cpu }, Env: { v: `${version}` } })];
          const Update = { MaxParallel: 0 };
          const group = makeGroup({ Count: count, Tasks, Networks: [network], Update });
          cluster.nowMs += 1000;
          cluster.putJob(makeJob({ ID, TaskGroups: [group] }, cluster.nowMs));
          const [victim] = cluster.live();
          if (moves && victim !== undefined) befall(cluster, 'migrate', 0);
          cluster.run({ JobID: ID }, false);
          nodesGoOn(cluster, (position) => (position & ends) === 0);
          expectNoOverfill(cluster);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('no resource is given twice, counts are kept, and a satisfied job changes nothing', () => {
    fc.assert(
      fc.property(world, fc.constantFrom('same', 'in place', 'destructive'), (given, change) => {
        const cluster = prepared(given);
        const next = jobOf(given.job, 'job', 1);
        const env = { A: 'changed' };
        const group = next.TaskGroups[0]!;
        const Tasks = group.Tasks.map((task) => ({ ...task, Env: env }));
        cluster.putJob(
          change === 'same'
            ? jobOf(given.job)
            : change === 'in place'
              ? next
              : { ...next, TaskGroups: [{ ...group, Tasks }] },
        );
        const { plan } = cluster.run();
        cluster.settle();
        expectSound(cluster);
        const live = cluster.live().filter((one) => one.JobID === 'job');
        expect(live.length).toBeLessThanOrEqual(given.job.count);
        expect(new Set(live.map((one) => one.Name)).size).toBe(live.length);
        if (Object.keys(plan.failures).length > 0) return;
        expect(live).toHaveLength(given.job.count);
        expect(cluster.decide().isEmpty).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  test('the same input gives the same plan', () => {
    fc.assert(
      fc.property(world, (given) => {
        const plans = [1, 2].map(() => {
          const cluster = prepared(given);
          cluster.putJob(jobOf(given.job));
          return cluster.decide({ ID: given.id }).plan;
        });
        expect(plans[0]).toEqual(plans[1]);
      }),
      { numRuns: 100 },
    );
  });

  test('after losses, failures and migrations the group reaches its count again if there is room', () => {
    const fate = fc.array(fc.constantFrom('lose', 'fail', 'complete', 'migrate', 'stop'), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), fate, (count, fates) => {
        const nodes = Array.from({ length: 12 }, (_, index) => makeNode(`n${index + 10}`));
        const cluster = new TestCluster(nodes);
        const Networks = [{ DynamicPorts: [{ Label: 'a' }] }];
        const group = makeGroup({ Count: count, Networks, Update: { MaxParallel: 0 } });
        cluster.putJob(makeJob({ TaskGroups: [group] }));
        cluster.run();
        for (const [turn, what] of fates.entries()) {
          befall(cluster, what, turn);
          cluster.nowMs += 3_700_000;
          cluster.run({ ID: `e${turn}` });
          cluster.settle();
          expect(cluster.live()).toHaveLength(count);
          expect(new Set(cluster.liveNames()).size).toBe(count);
          expectSound(cluster);
        }
        expect(cluster.decide().isEmpty).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

/** Starts allocations whose predecessor on the node has ended, and ends some stopped ones. */
function nodesGoOn(cluster: TestCluster, ends: (position: number) => boolean): void {
  for (const [position, one] of cluster.allocations.entries()) {
    if (one.DesiredStatus === 'run' || isClientTerminal(one)) continue;
    if (one.ClientStatus === 'pending' || ends(position)) {
      cluster.change(one.ID, { ClientStatus: 'complete' });
    }
  }
  const byId = new Map(cluster.allocations.map((one) => [one.ID, one]));
  for (const one of cluster.allocations) {
    if (one.DesiredStatus !== 'run' || one.ClientStatus !== 'pending') continue;
    const previous = byId.get(one.PreviousAllocation);
    const waits = previous?.NodeID === one.NodeID && !isClientTerminal(previous);
    if (!waits) cluster.change(one.ID, { ClientStatus: 'running' });
  }
}

/** Checks that running allocations need no more than the node has, whatever the state says. */
function expectNoOverfill(cluster: TestCluster): void {
  for (const { ID, NodeResources } of cluster.nodes()) {
    const running = cluster.allocations
      .filter((one) => one.NodeID === ID && one.ClientStatus === 'running')
      .map((one) => heldBy(one, { ID: 'job', Namespace: 'default' }));
    const cpu = running.reduce((sum, one) => sum + one.cpu, 0);
    expect(cpu).toBeLessThanOrEqual(NodeResources.Cpu.CpuShares);
    const ports = running.flatMap((one) => one.ports);
    expect(new Set(ports).size).toBe(ports.length);
  }
}

function befall(cluster: TestCluster, what: string, turn: number): void {
  const live = cluster.live();
  const victim = live[turn % live.length]!;
  const { DesiredTransition } = victim;
  if (what === 'lose') cluster.putNode(makeNode(victim.NodeID, { Status: 'down' }));
  if (what === 'fail') cluster.fail(victim.ID);
  if (what === 'complete') cluster.change(victim.ID, { ClientStatus: 'complete' });
  if (what === 'stop') cluster.change(victim.ID, { DesiredStatus: 'stop' });
  if (what === 'migrate') {
    cluster.change(victim.ID, { DesiredTransition: { ...DesiredTransition, Migrate: true } });
  }
}
