import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { groupNamed } from '../../src/model/job/job-rules.ts';
import { isAway, isNodeGone } from '../../src/scheduler/reconcile/classify.ts';
import { allocations } from '../../src/state/tables.ts';
import { isLive } from '../account.ts';
import type { Checker, Fault, Scene } from './checker.ts';
import { admits, distinctRules, isCrowded, takesWork } from './rules.ts';

/** An allocation is placed on a node that takes work and satisfies the constraints of its job. */
export const placementObeysConstraints = (): Checker => ({
  guarantee: 'a placement obeys the constraints of its job',
  committed(changes, _index, scene, fault) {
    for (const { table, before, after } of changes) {
      if (table !== allocations.name || before !== undefined || after === undefined) continue;
      checkPlacement(after as Allocation, scene, fault);
    }
  },
});

function checkPlacement(allocation: Allocation, { account }: Scene, fault: Fault): void {
  const { ID, Name, NodeID, TaskGroup } = allocation;
  const node = account.node(NodeID);
  if (node === undefined) {
    fault(`${Name} was placed on ${NodeID}, which is not there`);
    return;
  }
  if (!takesWork(node)) fault(`${Name} was placed on ${node.Name}, which takes no work`);
  const job = account.jobOf(allocation);
  const group = job && groupNamed(job, TaskGroup);
  if (job === undefined || group === undefined) {
    fault(`${Name} was placed for a version of its job that is not there`);
    return;
  }
  if (!admits(node, job, group)) {
    fault(`${Name} was placed on ${node.Name}, against its constraints`);
  }
  // A plan in parts may report the loss or the stop of an allocation in a later part.
  const isLost = (one: Allocation) =>
    isNodeGone(account.node(one.NodeID), groupNamed(job, one.TaskGroup));
  const isLeaving = (one: Allocation) => one.DesiredTransition?.Migrate === true;
  const isReplaced = ({ ClientStatus, NextAllocation, NodeID: nodeId }: Allocation) =>
    NextAllocation !== '' && (ClientStatus === 'unknown' || isAway(account.node(nodeId)));
  const others = [...account.allocationsOf(allocation)].filter(
    (one) => one.ID !== ID && isLive(one) && !isReplaced(one) && !isLost(one) && !isLeaving(one),
  );
  for (const rule of distinctRules(job, group)) {
    if (!isCrowded(node, rule, group, { others, account })) continue;
    fault(`${Name} was placed on ${node.Name}, against distinct ${rule.target}`);
  }
}
