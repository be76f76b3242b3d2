import { instantFromMs } from '../../../base/instant.ts';
import type { Allocation } from '../../../model/allocation/allocation.ts';
import {
  type Deployment,
  type DeploymentGroup,
  isTerminalDeployment,
} from '../../../model/deployment/deployment.ts';
import { deadlineFrom } from '../../../model/deployment/progress.ts';
import type { Plan } from '../../../model/plan/plan.ts';
import { isRolledOut } from '../../../scheduler/reconcile/rollout.ts';
import { deployments, inNamespace, jobs, jobVersions, numberPart } from '../../../state/tables.ts';
import type { Transaction } from '../../../state/types.ts';

/**
 * Applies a plan to the deployments of its job: the new deployment, its placements, and the end of
 * the others. `joined`: allocations that became part of a deployment by this plan, placed or
 * updated in place. No deployment is successful unless the whole plan is applied.
 * Source: docs/behaviour/deployments.md#progress.
 */
export function applyDeployments(
  transaction: Transaction,
  nowMs: number,
  plan: Plan,
  { joined, isWhole }: { readonly joined: readonly Allocation[]; readonly isWhole: boolean },
): void {
  const table = transaction.table(deployments);
  if (plan.deployment !== null) table.put(plan.deployment);
  for (const [id, members] of Map.groupBy(joined, ({ DeploymentID }) => DeploymentID)) {
    const before = table.get(...inNamespace(plan.namespace, id));
    if (before !== undefined) table.put(withMembers(before, members, nowMs));
  }
  for (const { ID, Status, StatusDescription } of plan.deploymentUpdates) {
    const before = table.get(...inNamespace(plan.namespace, ID));
    // A deployment that has ended meanwhile stays so.
    if (before === undefined || isTerminalDeployment(before)) continue;
    const isDone = isWhole && Object.values(before.TaskGroups).every(isRolledOut);
    if (Status === 'successful' && !isDone) continue;
    const ModifyTime = instantFromMs(nowMs);
    const after = table.put({ ...before, Status, StatusDescription, ModifyTime });
    if (Status === 'successful') markStable(transaction, after);
  }
}

function withMembers(
  deployment: Deployment,
  members: readonly Allocation[],
  nowMs: number,
): Deployment {
  const TaskGroups = new Map(Object.entries(deployment.TaskGroups));
  for (const { ID, TaskGroup, DeploymentStatus } of members) {
    const group = TaskGroups.get(TaskGroup);
    if (group === undefined) continue;
    TaskGroups.set(TaskGroup, withMember(group, ID, DeploymentStatus?.Canary === true, nowMs));
  }
  return {
    ...deployment,
    TaskGroups: Object.fromEntries(TaskGroups),
    ModifyTime: instantFromMs(nowMs),
  };
}

/** The progress deadline runs from the first placement. */
const withMember = (
  group: DeploymentGroup,
  id: string,
  isCanary: boolean,
  nowMs: number,
): DeploymentGroup => ({
  ...group,
  PlacedAllocs: group.PlacedAllocs + 1,
  PlacedCanaries: isCanary ? [...(group.PlacedCanaries ?? []), id] : group.PlacedCanaries,
  RequireProgressBy: group.RequireProgressBy ?? deadlineFrom(group, nowMs),
});

/**
 * A version that was rolled out successfully is stable.
 * Source: docs/behaviour/jobs.md#stable-versions.
 */
function markStable(
  transaction: Transaction,
  { Namespace, JobID, JobVersion, JobCreateIndex }: Deployment,
): void {
  const versions = transaction.table(jobVersions);
  const version = versions.get(...inNamespace(Namespace, JobID, numberPart(JobVersion)));
  if (version === undefined || version.CreateIndex !== JobCreateIndex || version.Stable) return;
  versions.put({ ...version, Stable: true });
  const table = transaction.table(jobs);
  const job = table.get(...inNamespace(Namespace, JobID));
  if (job?.Version !== JobVersion || job.CreateIndex !== JobCreateIndex) return;
  versions.put(table.put({ ...job, Stable: true }));
}
