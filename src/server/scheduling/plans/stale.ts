import type { Plan, PlannedStop } from '../../../model/plan/plan.ts';
import { isAway } from '../../../scheduler/reconcile/classify.ts';
import { allocations, deployments, inNamespace, jobs, nodes } from '../../../state/tables.ts';
import type { Snapshot } from '../../../state/types.ts';

/**
 * Why nothing of a plan can be applied any more, since its premises have changed; `undefined`: its
 * parts may be checked one by one.
 */
export function staleness(snapshot: Snapshot, plan: Plan): string | undefined {
  const { namespace, jobId, deploymentSeen } = plan;
  const job = snapshot.table(jobs).get(...inNamespace(namespace, jobId));
  if ((job?.JobModifyIndex ?? 0) !== plan.jobModifyIndex) return 'the job has changed';
  if (deploymentSeen !== null) {
    const { ID, Status } = deploymentSeen;
    const now = snapshot.table(deployments).get(...inNamespace(namespace, ID))?.Status;
    if (now !== Status) return `deployment ${ID} is ${now ?? 'gone'}, and no longer ${Status}`;
  }
  return plan.stops.some((stop) => isBack(snapshot, plan, stop))
    ? 'a node that was away is back'
    : undefined;
}

/** Whether an allocation that the plan marks as away was heard of meanwhile. */
function isBack(snapshot: Snapshot, { namespace }: Plan, stop: PlannedStop): boolean {
  if (stop.clientStatus === undefined) return false;
  const allocation = snapshot.table(allocations).get(...inNamespace(namespace, stop.allocationId));
  // The wait for an unknown allocation may end although its node is here: then it is given up.
  if (allocation === undefined || allocation.ClientStatus === 'unknown') return false;
  return !isAway(snapshot.table(nodes).get(stop.nodeId));
}
