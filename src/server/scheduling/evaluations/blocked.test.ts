import { describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import { complete } from '../../../model/complete.ts';
import { type Evaluation, EvaluationSchema } from '../../../model/evaluation/evaluation.ts';
import { limits } from '../../../model/limits.ts';
import {
  makeGroup,
  makeJob,
  makeNode,
  TestCluster,
} from '../../../scheduler/cluster.test-helper.ts';
import { FreeRoom } from '../../../scheduler/placing/free-room.ts';
import { schedulerDefaults } from '../../../scheduler/view.ts';
import { BlockedEvaluations } from './blocked.ts';

/** Every job asks for as many MHz as its namespace says; `free` are the MHz of each node. */
function setUp(free: Record<string, number> = {}) {
  const world = new SimulatedWorld(1);
  const released: string[] = [];
  const superseded: string[] = [];
  const cluster = new TestCluster();
  const blocked = new BlockedEvaluations({
    release: (one) => released.push(one.ID),
    supersede: (one) => superseded.push(one.ID),
    jobNeedOf: ({ Namespace }) => ({
      need: { cpu: Number(Namespace), memory: 0, disk: 0, cores: 0 },
      evictsUpTo: 40,
    }),
    preemption: () => ({ ...schedulerDefaults.preemption, batch: true }),
    freeRoomOf: (id) => new FreeRoom(cluster, makeNode(id, { cpu: free[id] ?? 1e6 })),
    soon: (run) => world.timers.soon(run),
  });
  const madeRoom = (nodeId: string, index: number, nodeClass = 'big') => {
    blocked.madeRoom({ nodeId, nodeClass }, index);
    return world.advance(0);
  };
  return { blocked, cluster, released, superseded, free, madeRoom, settle: () => world.advance(0) };
}

const evaluation = (ID: string, fields: Partial<Evaluation> = {}): Evaluation => ({
  ...complete(EvaluationSchema, { ID, Namespace: '100', JobID: ID }),
  ...fields,
});

test.each([
  ['a class that fits', { ClassEligibility: { big: true } }, 'big', true],
  ['a class it has not met', { ClassEligibility: { big: true } }, 'new', true],
  ['K3: a class that does not fit', { ClassEligibility: { big: false } }, 'big', false],
  ['any class, when it asks for single nodes', { EscapedComputedClass: true }, 'big', true],
  ['K3: a node with too little', { Namespace: '1000001' }, 'big', false],
])('room on %s', async (_title, fields, nodeClass, expected) => {
  const { blocked, released, madeRoom } = setUp();
  blocked.add(evaluation('a', fields));
  await madeRoom('n1', 9, nodeClass);
  expect(released).toEqual(expected ? ['a'] : []);
  expect(blocked.size).toBe(expected ? 0 : 1);
});

test.each([
  ['enough with evicted allocations', 'batch', 40, 1000, true],
  ['not enough even so', 'batch', 40, 1001, false],
  ['held by somebody too important', 'batch', 41, 1000, false],
  ['of a type for which nobody has to', 'service', 40, 1000, false],
] as const)('K3: room that is %s', async (_title, Type, Priority, asked, expected) => {
  const { blocked, cluster, free, released, madeRoom } = setUp({ n1: 1000 });
  cluster.putNode(makeNode('n1'));
  cluster.putJob(makeJob({ ID: 'other', Priority, TaskGroups: [makeGroup({ Count: 9 })] }));
  cluster.run({ JobID: 'other' });
  blocked.add(evaluation('a', { Namespace: `${asked}`, Type }));
  expect(free.n1).toBe(1000);
  await madeRoom('n1', 9);
  expect(released).toEqual(expected ? ['a'] : []);
});

test('K1: a newer evaluation of a job takes the place of the older', () => {
  const { blocked, superseded } = setUp();
  blocked.add(evaluation('old', { JobID: 'web', CreateIndex: 5 }));
  blocked.add(evaluation('new', { JobID: 'web', CreateIndex: 7 }));
  blocked.add(evaluation('late', { JobID: 'web', CreateIndex: 6 }));
  expect(superseded).toEqual(['old', 'late']);
  expect(blocked.size).toBe(1);
});

test('K1, K3: evaluations of a job that wait for a node each are woken by room on it', async () => {
  const { blocked, released, superseded, madeRoom } = setUp();
  for (const NodeID of ['n1', 'n2', 'n3']) {
    blocked.add(evaluation(`on-${NodeID}`, { JobID: 'daemon', NodeID }));
  }
  blocked.add(evaluation('newer-on-n3', { JobID: 'daemon', NodeID: 'n3', CreateIndex: 7 }));
  expect([blocked.size, superseded]).toEqual([3, ['on-n3']]);
  await madeRoom('n4', 9);
  expect(released).toEqual([]);
  await madeRoom('n2', 9);
  expect(released).toEqual(['on-n2']);
  blocked.decided('on-n2');
  await madeRoom('n3', 9);
  expect(released).toEqual(['on-n2', 'newer-on-n3']);
});

test('K2: an evaluation is released by room made after its snapshot and before its arrival', async () => {
  const { blocked, released, madeRoom, settle } = setUp();
  await madeRoom('n1', 10);
  blocked.add(evaluation('late', { SnapshotIndex: 9 }));
  blocked.add(evaluation('current', { SnapshotIndex: 10 }));
  await settle();
  expect(released).toEqual(['late']);
});

test('an evaluation that has ended is forgotten', async () => {
  const { blocked, released, madeRoom } = setUp();
  const one = evaluation('a');
  blocked.add(one);
  blocked.remove(one);
  await madeRoom('n1', 3);
  expect(released).toEqual([]);
});

test('room on a node that is gone is forgotten', async () => {
  const { blocked, released, madeRoom, settle } = setUp();
  await madeRoom('n1', 10);
  blocked.forget('n1');
  blocked.add(evaluation('late', { SnapshotIndex: 9 }));
  await settle();
  expect(released).toEqual([]);
});

describe('K4: batches', () => {
  test('a batch is as large as the room allows, by priority, then by age', async () => {
    const { blocked, released, madeRoom } = setUp({ n1: 250 });
    blocked.add(evaluation('low', { Priority: 10, CreateIndex: 1 }));
    blocked.add(evaluation('young', { Priority: 50, CreateIndex: 3 }));
    blocked.add(evaluation('old', { Priority: 50, CreateIndex: 2 }));
    blocked.add(evaluation('large', { Priority: 90, Namespace: '300' }));
    await madeRoom('n1', 9);
    expect(released).toEqual(['old', 'young']);
  });

  test('the next batch sees the room that the last batch left', async () => {
    const { blocked, released, madeRoom, free, settle } = setUp({ n1: 100 });
    for (const id of ['a', 'b', 'c']) blocked.add(evaluation(id));
    await madeRoom('n1', 9);
    expect(released).toEqual(['a']);
    // The first evaluation could not use the room after all, so another one is released.
    blocked.add(evaluation('a', { SnapshotIndex: 9 }));
    blocked.decided('a');
    await settle();
    expect(released).toEqual(['a', 'b']);
    free.n1 = 0;
    blocked.decided('b');
    await settle();
    expect(released).toEqual(['a', 'b']);
    expect(blocked.size).toBe(2);
  });

  test('a node of any size wakes a bounded number at a time, and in the end all', async () => {
    const { blocked, released, madeRoom, settle } = setUp();
    const count = 3 * limits.evaluation.releaseBatchMax;
    for (let n = 0; n < count; n++) blocked.add(evaluation(`${n}`, { CreateIndex: n }));
    await madeRoom('n1', count);
    expect(released).toHaveLength(limits.evaluation.releaseBatchMax);
    for (let n = 0; n < count; n++) {
      blocked.decided(`${n}`);
      await settle();
    }
    expect(released).toEqual(Array.from({ length: count }, (_, n) => `${n}`));
  });

  test('an evaluation that ends while it is out does not hold up the others', async () => {
    const { blocked, released, madeRoom, settle } = setUp({ n1: 100 });
    for (const id of ['a', 'b']) blocked.add(evaluation(id));
    await madeRoom('n1', 9);
    blocked.remove(evaluation('a'));
    await settle();
    expect(released).toEqual(['a', 'b']);
  });

  test('room on more nodes than are looked at together', async () => {
    const { blocked, released, madeRoom } = setUp();
    const count = 2 * limits.evaluation.offersPerRoundMax;
    blocked.add(evaluation('a', { ClassEligibility: { big: false } }));
    for (let n = 0; n < count; n++) blocked.madeRoom({ nodeId: `n${n}`, nodeClass: 'big' }, 9);
    await madeRoom('last', 9, 'new');
    expect(released).toEqual(['a']);
  });
});
