import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { makeEvaluation, makeGroup, makeJob, makeNode, makeTask } from '../cluster.test-helper.ts';
import { schedule } from '../schedule.ts';
import { SchedulerMemory } from './memory.ts';
import { NotedCluster } from './noted-cluster.test-helper.ts';

const group = makeGroup({ Tasks: [makeTask({ Resources: { CPU: 600 } })] });

/** Two nodes that have room for one allocation each. */
function setUp(memory?: SchedulerMemory) {
  const cluster = new NotedCluster(memory);
  for (const id of ['n1', 'n2']) cluster.putNode(makeNode(id));
  const { ids } = new SimulatedWorld(1);
  /** One more job of one allocation; where it is placed, if anywhere. */
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

test('it follows what it is told of', () => {
  const { cluster, place } = setUp();
  expect(place('a')?.NodeID).toBe('n1');
  const second = place('b')!;
  expect(second.NodeID).toBe('n2');
  expect(place('c')).toBeUndefined();
  cluster.putAllocations([{ ...second, ClientStatus: 'complete' }]);
  expect(place('c')?.NodeID).toBe('n2');
});

test('a plan that was not carried out leaves nothing behind', () => {
  const { place } = setUp();
  expect(place('a', false)?.NodeID).toBe('n1');
  expect(place('b')?.NodeID).toBe('n1');
});

test('when it was not told of everything, it reads all anew', () => {
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

test('what happens while an evaluation is decided is for the next one', () => {
  const { cluster, place } = setUp();
  const placed = place('a')!;
  const session = cluster.memory.begin(cluster);
  cluster.putAllocations([{ ...placed, ClientStatus: 'complete' }]);
  session.end();
  expect(place('b')?.NodeID).toBe('n1');
});

test('an older state is looked at without it, and does not spoil it', () => {
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

/** The cluster's answers as an object that can be spread. */
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

test('an evaluation that was given up does not disturb the next one, and cannot go on', () => {
  const { cluster, place } = setUp();
  place('a');
  const given = cluster.memory.begin(cluster);
  [...given.fleet()];
  expect(place('b')?.NodeID).toBe('n2');
  expect(() => given.fleet().next()).toThrow('another evaluation began');
});

test('it keeps no more shapes than it may', () => {
  const { cluster, place } = setUp(new SchedulerMemory(0));
  expect(place('a')?.NodeID).toBe('n1');
  expect(place('b')?.NodeID).toBe('n2');
  expect(cluster.memory.size).toBe(0);
});
