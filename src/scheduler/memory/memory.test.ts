import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { makeEvaluation, makeGroup, makeJob, makeNode, makeTask } from '../cluster.test-helper.ts';
import { schedule } from '../schedule.ts';
import { SchedulerMemory } from './memory.ts';
import { NotedCluster } from './noted-cluster.test-helper.ts';

const group = makeGroup({ Tasks: [makeTask({ Resources: { CPU: 600 } })] });

/** Two nodes, each with room for a single allocation. */
function setUp(memory?: SchedulerMemory) {
  const cluster = new NotedCluster(memory);
  for (const id of ['n1', 'n2']) cluster.putNode(makeNode(id));
  const { ids } = new SimulatedWorld(1);
  /** Adds a job with one allocation; returns its node, if any. */
  const place = (ID: string, isKept = true): Allocation | undefined => {
    cluster.putJob(makeJob({ ID, TaskGroups: [group] }));
    const session = cluster.memory.begin(cluster);
    const { plan } = schedule(cluster, makeEvaluation({ JobID: ID }), { nowMs: 0, ids, session });
    session.end();
    const placed = plan.placements[0] as Allocation | undefined;
    if (isKept && placed !== undefined) cluster.putAllocations([placed]);
    return placed;
  };
  return { cluster, place };
}

test('a memory follows the changes noted', () => {
  const { cluster, place } = setUp();
  expect(place('a')?.NodeID).toBe('n1');
  const second = place('b')!;
  expect(second.NodeID).toBe('n2');
  expect(place('c')).toBeUndefined();
  cluster.putAllocations([{ ...second, ClientStatus: 'complete' }]);
  expect(place('c')?.NodeID).toBe('n2');
});

test('a plan that is not carried out leaves no trace in the memory', () => {
  const { place } = setUp();
  expect(place('a', false)?.NodeID).toBe('n1');
  expect(place('b')?.NodeID).toBe('n1');
});

test('after a missed transaction the memory reads the cluster from scratch', () => {
  const { cluster, place } = setUp(
    new (class extends SchedulerMemory {
      override noteChanges(...told: Parameters<SchedulerMemory['noteChanges']>): void {
        if (told[1] % 2 === 0) super.noteChanges(...told);
      }
    })(),
  );
  for (const ID of ['a', 'b', 'c', 'd']) {
    const placed = place(ID);
    if (placed !== undefined) cluster.putAllocations([{ ...placed, ClientStatus: 'complete' }]);
    expect(placed?.NodeID).toBe('n1');
  }
});

test('changes during an evaluation show in the next one', () => {
  const { cluster, place } = setUp();
  const placed = place('a')!;
  const session = cluster.memory.begin(cluster);
  cluster.putAllocations([{ ...placed, ClientStatus: 'complete' }]);
  session.end();
  expect(place('b')?.NodeID).toBe('n1');
});

test('an evaluation on an older view neither uses nor changes the memory', () => {
  const { cluster, place } = setUp();
  const placed = place('a')!;
  const older = { ...past(cluster), index: cluster.index - 1, allocationsOnNode: () => [] };
  const { ids } = new SimulatedWorld(2);
  cluster.putJob(makeJob({ ID: 'b', TaskGroups: [group] }));
  const evaluation = makeEvaluation({ JobID: 'b' });
  const session = cluster.memory.begin(older);
  const { plan } = schedule(older, evaluation, { nowMs: 0, ids, session });
  expect(plan.placements[0]?.NodeID).toBe(placed.NodeID);
  session.end();
  expect(place('c')?.NodeID).toBe('n2');
});

/** The cluster's view as a plain object. */
const past = (cluster: NotedCluster) => ({
  configuration: cluster.configuration,
  job: (_: string, id: string) => cluster.job('', id),
  jobVersion: () => undefined,
  allocationsOfJob: () => [],
  deploymentsOfJob: () => [],
  isOver: () => true,
  node: (id: string) => cluster.node(id),
  nodes: () => cluster.nodes(),
});

test('an abandoned evaluation does not disturb the next one, and cannot go on', () => {
  const { cluster, place } = setUp();
  place('a');
  const given = cluster.memory.begin(cluster);
  [...given.fleet()];
  expect(place('b')?.NodeID).toBe('n2');
  expect(() => given.fleet().next()).toThrow('another evaluation began');
});

test('the number of sheets kept is bounded', () => {
  const { cluster, place } = setUp(new SchedulerMemory(0));
  expect(place('a')?.NodeID).toBe('n1');
  expect(place('b')?.NodeID).toBe('n2');
  expect(cluster.memory.size).toBe(0);
});
