/** Which allocations of an older version may take up the new one. Source: facts §6.4. */
import type { Allocation } from '../model/allocation/allocation.ts';
import { isTerminal } from '../model/allocation/allocation-rules.ts';
import { destructiveChange } from '../model/job/destructive-change.ts';
import type { Job } from '../model/job/job.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import { isCurrent } from './classify.ts';
import { DistinctColumn, distinctRules } from './distinct.ts';
import { firstFailed, rulesFor } from './feasibility.ts';
import { JobPresence } from './presence.ts';
import type { ReconcileContext } from './reconcile.ts';
import type { ClusterView } from './view.ts';

/** Remembers the verdict for each old version and group. */
export function outdatedTest(view: ClusterView, job: Job): (allocation: Allocation) => boolean {
  const verdicts = new Map<string, boolean>();
  return (allocation) => {
    if (isCurrent(allocation, job)) return false;
    // Another registration of the same id is another job.
    if (allocation.JobCreateIndex !== job.CreateIndex) return true;
    const key = `${allocation.JobVersion} ${allocation.TaskGroup}`;
    let verdict = verdicts.get(key);
    if (verdict === undefined) {
      const old = view.jobVersion(job.Namespace, job.ID, allocation.JobVersion);
      verdict =
        old === undefined || destructiveChange(old, job, allocation.TaskGroup) !== undefined;
      verdicts.set(key, verdict);
    }
    return verdict;
  };
}

/**
 * An allocation stays if its node passes the group's rules, whether or not the node takes new work,
 * and the distinct rules hold with those that are current and those that stay before it.
 */
export function stayingSplit(
  view: ClusterView,
  job: Job,
  allocations: readonly Allocation[],
): ReconcileContext['splitStaying'] {
  return (group, candidates, current) => {
    const rules = rulesFor(job, group);
    const others = allocations.filter((one) => one.TaskGroup !== group.Name && !isTerminal(one));
    const columns = distinctColumns(view, job, group, [...others, ...current]);
    const staying: Allocation[] = [];
    const leaving: Allocation[] = [];
    for (const allocation of candidates) {
      const node = view.node(allocation.NodeID);
      if (node === undefined) {
        leaving.push(allocation);
        continue;
      }
      const passes =
        firstFailed(rules, node, (scope) => scope !== 'standing') === undefined &&
        columns.every((column) => column.allowsNode(node));
      (passes ? staying : leaving).push(allocation);
      if (passes) for (const column of columns) column.change(node, group.Name, 1);
    }
    return { staying, leaving };
  };
}

function distinctColumns(
  view: ClusterView,
  job: Job,
  group: TaskGroup,
  live: readonly Allocation[],
): readonly DistinctColumn[] {
  const rules = distinctRules(job, group);
  if (rules.length === 0) return [];
  const presence = new JobPresence((id) => view.node(id), live);
  return rules.map((rule) => new DistinctColumn(rule, [], presence));
}
