/**
 * Compares a job's allocations with its specification and decides what to stop, place and update. Nodes for
 * placements are chosen later. Source: docs/behaviour/scheduling.md#reconciliation, #updates-in-place,
 * #names.
 *
 *  1. The allocations that count after the decision, with the placements, never exceed `Count`; canaries
 *     never exceed the wanted number of canaries.
 *  2. A placement never gets the name of another allocation that counts.
 *  3. Without a change, nothing is stopped or placed.
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
  /** The groups to run, each with its allocations. */
  readonly groups: readonly (readonly [TaskGroup, readonly Allocation[]])[];
  /** Defined whenever `groups` is not empty. */
  readonly groupContext: GroupContext | undefined;
  readonly conclude: (groups: readonly GroupDecision[]) => Reconciliation;
}

/** The part of reconciliation that is the same for all job types. */
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
      stops,
      stopsByGroup,
      groups,
      deployment,
      newDeploymentId: id,
      cancellations: cancellations(job, deployments),
    }),
  };
}

interface Wanted extends Pick<Reconciliation, 'stops' | 'stopsByGroup'> {
  readonly members: ReadonlyMap<TaskGroup, readonly Allocation[]>;
}

/** Stops the allocations of stopped jobs, earlier registrations and removed groups. */
function* stopUnwanted({ job, allocations, nodeOf }: ReconcileContext): Steps<Wanted> {
  const active = job === undefined || job.Stop || !isEvaluated(job) ? undefined : job;
  const members = new Map<TaskGroup, Allocation[]>();
  for (const group of active?.TaskGroups ?? []) members.set(group, []);
  const byName = new Map([...members].map(([{ Name }, list]) => [Name, list]));
  const stops: PlannedStop[] = [];
  const stopsByGroup = new Map<string, number>();
  yield* each(allocations, (allocation) => {
    // A registration after a purge is another job: all allocations of the purged job are stopped.
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
  // A node that is gone will not report the end of a stopped allocation.
  if (isGone && !isClientTerminal(allocation)) return lostStop(allocation);
  return isTerminal(allocation) ? undefined : stopOf(allocation, descriptions.notNeeded);
}
