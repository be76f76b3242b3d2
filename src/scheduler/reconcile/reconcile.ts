/**
 * From what there is of a job to what is to be done about it. Decides about allocations, not about
 * nodes. Source: docs/behaviour/scheduling.md#reconciliation, #updates-in-place, #names.
 *
 * 1. What counts after the decision plus what is placed is never more than `Count`, canaries aside,
 *    of which there are never more than wanted.
 * 2. No two allocations that count get the same name from here.
 * 3. Nothing is stopped and placed when nothing changed.
 */
import { each, type Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isClientTerminal, isTerminal } from '../../model/allocation/allocation-rules.ts';
import { isEvaluated } from '../../model/job/job-rules.ts';
import type { PlannedStop } from '../../model/plan/plan.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import type { GroupContext, GroupDecision, ReconcileContext, Reconciliation } from '../decision.ts';
import { descriptions } from '../view.ts';
import { isNodeGone } from './classify.ts';
import { reconcileGroup } from './group.ts';
import { cancellations, currentDeployment } from './rollout.ts';
import { lostStop, stopOf } from './stops.ts';

/** Service and batch jobs; `system/system.ts` reconciles the others. */
export function* reconcile(context: ReconcileContext): Steps<Reconciliation> {
  const { groups, groupContext, conclude } = yield* beginReconciliation(context);
  const decisions: GroupDecision[] = [];
  for (const [group, members] of groups) {
    yield;
    decisions.push(yield* reconcileGroup(group, members, groupContext!));
  }
  return conclude(decisions);
}

export interface Begun {
  /** The groups of which something is to run, each with its allocations. */
  readonly groups: readonly (readonly [TaskGroup, readonly Allocation[]])[];
  /** There whenever there are groups. */
  readonly groupContext: GroupContext | undefined;
  readonly conclude: (groups: readonly GroupDecision[]) => Reconciliation;
}

/** What does not depend on the type of the job. */
export function* beginReconciliation(context: ReconcileContext): Steps<Begun> {
  const { job, deployments } = context;
  const { stops, stopsByGroup, members } = yield* stopUnwanted(context);
  const deployment = job && currentDeployment(job, deployments);
  let id = '';
  const newDeploymentId = () => {
    id ||= context.newId();
    return id;
  };
  return {
    groups: [...members],
    groupContext: job && { ...context, job, deployment, newDeploymentId },
    conclude: (groups) => ({
      ...{ stops, stopsByGroup, groups, deployment },
      newDeploymentId: id,
      cancellations: cancellations(job, deployments),
    }),
  };
}

interface Wanted extends Pick<Reconciliation, 'stops' | 'stopsByGroup'> {
  readonly members: ReadonlyMap<TaskGroup, readonly Allocation[]>;
}

/** Stops what belongs to nothing that is to run any more. */
function* stopUnwanted({ job, allocations, nodeOf }: ReconcileContext): Steps<Wanted> {
  const active = job === undefined || job.Stop || !isEvaluated(job) ? undefined : job;
  const members = new Map<TaskGroup, Allocation[]>();
  for (const group of active?.TaskGroups ?? []) members.set(group, []);
  const byName = new Map([...members].map(([{ Name }, list]) => [Name, list]));
  const stops: PlannedStop[] = [];
  const stopsByGroup = new Map<string, number>();
  yield* each(allocations, (allocation) => {
    // Another registration of the id is another job: what was purged is stopped, all of it.
    const isOwn = allocation.JobCreateIndex === active?.CreateIndex;
    const list = isOwn ? byName.get(allocation.TaskGroup) : undefined;
    if (list !== undefined) {
      list.push(allocation);
      return;
    }
    const stop = unconditionalStop(allocation, nodeOf);
    if (stop === undefined) return;
    stops.push(stop);
    stopsByGroup.set(allocation.TaskGroup, (stopsByGroup.get(allocation.TaskGroup) ?? 0) + 1);
  });
  return { stops, stopsByGroup, members };
}

function unconditionalStop(
  allocation: Allocation,
  nodeOf: ReconcileContext['nodeOf'],
): PlannedStop | undefined {
  const isGone = isNodeGone(nodeOf(allocation.NodeID), undefined);
  // A node that is gone will not report that what was stopped on it has ended.
  if (isGone && !isClientTerminal(allocation)) return lostStop(allocation);
  return isTerminal(allocation) ? undefined : stopOf(allocation, descriptions.notNeeded);
}
