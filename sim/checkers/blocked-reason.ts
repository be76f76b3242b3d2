import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Evaluation } from '../../src/model/evaluation/evaluation.ts';
import type { Job } from '../../src/model/job/job.ts';
import type { Node } from '../../src/model/node/node.ts';
import type { TaskGroup } from '../../src/model/task-group/task-group.ts';
import { nodes } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import { isLive } from '../account.ts';
import type { Checker, Fault } from './checker.ts';
import { mayEvict, priorityStep } from './evictions.ts';
import { Use } from './resources.ts';
import { admits, distinctRules, isCrowded, takesWork } from './rules.ts';
import { isHalted, openEvaluations } from './waiting.ts';

/**
 * At rest, no node has room for a group that a blocked evaluation waits for, and no evaluation is still
 * pending or waits for a time that has passed.
 */
export const blockedReasonIsTrue = (): Checker => ({
  guarantee: 'a blocked evaluation has a true reason',
  rested({ account, nowMs }, fault) {
    for (const evaluation of openEvaluations(account)) {
      const { ID, Status, JobID, WaitUntil } = evaluation;
      if (Status !== 'blocked') {
        if (WaitUntil / 1e6 < nowMs) fault(`evaluation ${ID} of ${JobID} is still ${Status}`);
        continue;
      }
      const job = account.job(evaluation.Namespace, JobID);
      if (job === undefined || job.Stop) fault(`evaluation ${ID} of ${JobID} has no job to place`);
      else checkBlocked(evaluation, job, account, fault);
    }
  },
});

function checkBlocked(evaluation: Evaluation, job: Job, account: Account, fault: Fault): void {
  const { JobID, FailedTGAllocs, NodeID } = evaluation;
  const failed = job.TaskGroups.filter(({ Name }) => Object.hasOwn(FailedTGAllocs ?? {}, Name));
  if (failed.length === 0) fault(`evaluation ${evaluation.ID} of ${JobID} waits for no group`);
  // A job with `AllAtOnce` may wait although there is room for some of its groups.
  if (job.AllAtOnce) return;
  // The evaluation waits for the version before the failed one, with other resources.
  if (isHalted(job, account)) return;
  for (const group of failed) {
    for (const node of account.rows(nodes).values()) {
      if (NodeID !== '' && node.ID !== NodeID) continue;
      if (isOpen(node, job, group, account)) {
        fault(`${JobID}.${group.Name} waits for room, but ${node.Name} has room`);
      }
    }
  }
}

function isOpen(node: Node, job: Job, group: TaskGroup, account: Account): boolean {
  if (!takesWork(node) || !admits(node, job, group)) return false;
  const use = new Use();
  for (const one of account.occupantsOf(node.ID)) {
    if (!makesWay(one, job, account)) use.add(one);
  }
  if (!use.hasRoomFor(group, node)) return false;
  const { Namespace, ID: JobID } = job;
  const own = [...account.allocationsOf({ Namespace, JobID })].filter(isLive);
  if (job.Type === 'system' || job.Type === 'sysbatch') {
    return !own.some(({ NodeID, TaskGroup }) => NodeID === node.ID && TaskGroup === group.Name);
  }
  return !distinctRules(job, group).some((rule) =>
    isCrowded(node, rule, group, { others: own, account }),
  );
}

/** Whether the job may evict the allocation. */
function makesWay(one: Allocation, job: Job, account: Account): boolean {
  if (one.DesiredStatus !== 'run' || one.JobID === job.ID || !mayEvict(job.Type, account))
    return false;
  const other = account.jobOf(one) ?? account.job(one.Namespace, one.JobID);
  return other !== undefined && other.Priority + priorityStep <= job.Priority;
}
