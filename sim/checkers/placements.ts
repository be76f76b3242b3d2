import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Evaluation } from '../../src/model/evaluation/evaluation.ts';
import { groupNamed } from '../../src/model/job/job-rules.ts';
import { isAway, isNodeGone } from '../../src/scheduler/reconcile/classify.ts';
import { allocations, evaluations, inNamespace } from '../../src/state/tables.ts';
import { isLive } from '../account.ts';
import type { Checker, Fault, Scene } from './checker.ts';
import { admits, type Distinct, distinctRules, isCrowded, takesWork } from './rules.ts';

/**
 * An allocation is placed on a node that takes work and satisfies the constraints of its job. A plan in parts may stop
 * an allocation later than it places another one beside it, so rules of distinct places are judged when the evaluation
 * is written again, which the last part does.
 */
export function placementObeysConstraints(): Checker {
  /** New allocations that broke a rule of distinct places when they were placed, by id. */
  const crowding = new Map<string, Allocation>();
  const judge = ({ ID, Name, NodeID }: Allocation, scene: Scene, fault: Fault) => {
    crowding.delete(ID);
    const now = scene.account.allocation(ID);
    if (now === undefined || !isLive(now)) return;
    const { Name: node } = scene.account.node(NodeID) ?? { Name: NodeID };
    for (const { target } of brokenRules(now, scene)) {
      fault(`${Name} was placed on ${node}, against distinct ${target}`);
    }
  };
  return {
    guarantee: 'a placement obeys the constraints of its job',
    // A placement that the snapshot has may have lost the later parts of its plan.
    restored: () => crowding.clear(),
    committed(changes, _index, scene, fault) {
      const written = new Set<string>();
      for (const { table, before, after } of changes) {
        if (table === evaluations.name) written.add(((after ?? before) as Evaluation).ID);
        if (table !== allocations.name || before !== undefined || after === undefined) continue;
        const placed = after as Allocation;
        checkPlacement(placed, scene, fault);
        if (brokenRules(placed, scene).length > 0) crowding.set(placed.ID, placed);
      }
      for (const one of crowding.values()) {
        const key = inNamespace(one.Namespace, one.EvalID);
        const isKnown = scene.account.get(evaluations, ...key) !== undefined;
        if (written.has(one.EvalID) || !isKnown) judge(one, scene, fault);
      }
    },
    rested(scene, fault) {
      for (const one of crowding.values()) judge(one, scene, fault);
    },
  };
}

function checkPlacement(allocation: Allocation, { account }: Scene, fault: Fault): void {
  const { Name, NodeID } = allocation;
  const node = account.node(NodeID);
  if (node === undefined) {
    fault(`${Name} was placed on ${NodeID}, which is not there`);
    return;
  }
  if (!takesWork(node)) fault(`${Name} was placed on ${node.Name}, which takes no work`);
  const found = groupOf(allocation, account);
  if (found === undefined) {
    fault(`${Name} was placed for a version of its job that is not there`);
    return;
  }
  if (!admits(node, found.job, found.group)) {
    fault(`${Name} was placed on ${node.Name}, against its constraints`);
  }
}

function groupOf(allocation: Allocation, account: Scene['account']) {
  const job = account.jobOf(allocation);
  const group = job && groupNamed(job, allocation.TaskGroup);
  return job && group && { job, group };
}

/** The rules of distinct places that the allocation breaks. */
function brokenRules(allocation: Allocation, { account }: Scene): readonly Distinct[] {
  const node = account.node(allocation.NodeID);
  const found = groupOf(allocation, account);
  if (node === undefined || found === undefined) return [];
  const { job, group } = found;
  const isLost = (one: Allocation) =>
    isNodeGone(account.node(one.NodeID), groupNamed(job, one.TaskGroup));
  const isReplaced = ({ ClientStatus, NextAllocation, NodeID }: Allocation) =>
    NextAllocation !== '' && (ClientStatus === 'unknown' || isAway(account.node(NodeID)));
  const isLeaving = (one: Allocation) => one.DesiredTransition?.Migrate === true;
  const others = [...account.allocationsOf(allocation)].filter(
    (one) =>
      one.ID !== allocation.ID &&
      isLive(one) &&
      !isReplaced(one) &&
      !isLost(one) &&
      !isLeaving(one),
  );
  return distinctRules(job, group).filter((rule) =>
    isCrowded(node, rule, group, { others, account }),
  );
}
