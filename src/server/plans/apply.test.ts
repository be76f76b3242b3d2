import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import type { Node } from '../../model/node/node.ts';
import {
  makeEvaluation,
  makeGroup,
  makeJob,
  makeNode,
  makeTask,
} from '../../scheduler/cluster.test-helper.ts';
import { schedule } from '../../scheduler/schedule.ts';
import { allocations, allTables, evaluations, jobs, nodes } from '../../state/tables.ts';
import { memoryState } from '../../state/testing.ts';
import { clusterView } from '../evaluations/view.ts';
import { applyPlan } from './apply.ts';

/** Three of two fit: the plan places two, one a node, and makes an evaluation that waits. */
async function planned(AllAtOnce = false) {
  const world = new SimulatedWorld(1);
  const state = await memoryState(allTables, world);
  const Tasks = [makeTask({ Resources: { CPU: 600 } })];
  const job = makeJob({ AllAtOnce, TaskGroups: [makeGroup({ Count: 3, Tasks })] });
  const put = (node: Node) => state.write((transaction) => transaction.table(nodes).put(node));
  await state.write((transaction) => transaction.table(jobs).put(job));
  await put(makeNode('n1'));
  await put(makeNode('n2'));
  const decide = () => {
    const view = clusterView(state.head(), { algorithm: 'binpack' });
    const options = { nowMs: world.clock.nowMs(), ids: world.ids };
    return schedule(view, makeEvaluation(), options).plan;
  };
  const plan = decide();
  expect(plan).toMatchObject({ placements: [{}, {}], evaluations: [{ Status: 'blocked' }] });
  const apply = async () =>
    (await state.write((transaction) => applyPlan(transaction, world, plan))).value;
  const counts = () => ({
    allocations: state.read().table(allocations).size,
    evaluations: state.read().table(evaluations).size,
  });
  return { put, apply, counts };
}

const closed = makeNode('n2', { SchedulingEligibility: 'ineligible' });
const rejections = [{ nodeId: 'n2', reason: 'node is not ready and eligible' }];

test('a plan that fits is applied whole, with the evaluations that follow from it', async () => {
  const { apply, counts } = await planned();
  expect(await apply()).toEqual([]);
  expect(counts()).toEqual({ allocations: 2, evaluations: 1 });
});

test('of one that fits in part no evaluations are made: the next attempt makes them', async () => {
  const { put, apply, counts } = await planned();
  await put(closed);
  expect(await apply()).toEqual(rejections);
  expect(counts()).toEqual({ allocations: 1, evaluations: 0 });
});

test('one that is all or nothing is nothing', async () => {
  const { put, apply, counts } = await planned(true);
  await put(closed);
  expect(await apply()).toEqual(rejections);
  expect(counts()).toEqual({ allocations: 0, evaluations: 0 });
});
