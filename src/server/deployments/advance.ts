import { instantFromMs } from '../../base/instant.ts';
import { type Allocation, noTransition } from '../../model/allocation/allocation.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import { allocations, evaluations, inNamespace } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { evaluateDeployment } from './evaluate.ts';
import { failDeployment } from './fail.ts';
import { allocationsOfDeployment, findDeployment, jobOfDeployment } from './find.ts';
import { promoteGroups } from './promote.ts';
import { nextStep } from './step.ts';

export type Advanced = 'over' | 'failed' | 'promoted' | 'went on' | 'unchanged';

/**
 * Whether allocations have turned healthy since the scheduler's last decision. `unknown`: a new
 * leader has to find out.
 */
export type Progress = 'made' | 'none' | 'unknown';

/**
 * Takes the next step of a deployment: fails it, marks allocations to be replaced, or promotes
 * canaries. Then asks the scheduler to go on.
 */
export function advanceDeployment(
  transaction: Transaction,
  world: ServerContext['world'],
  id: string,
  progress: Progress,
): Advanced {
  const deployment = findDeployment(transaction, id);
  const isOurs = deployment?.Status === 'running' || deployment?.Status === 'paused';
  if (deployment === undefined || !isOurs) return 'over';
  const job = jobOfDeployment(transaction, deployment);
  // The newer version, or the stop, has an evaluation that ends the deployment.
  if (job === undefined || job.Stop || job.Version !== deployment.JobVersion) return 'over';
  const nowMs = world.clock.nowMs();
  const members = [...allocationsOfDeployment(transaction, deployment)];
  const step = nextStep(deployment, job, members, nowMs);
  if (step.kind === 'fail') {
    failDeployment(transaction, world, { ...step, deployment });
    return 'failed';
  }
  for (const one of step.reschedule) markForReschedule(transaction, one, nowMs);
  const isPromoted = step.promote.length > 0;
  if (isPromoted) {
    promoteGroups(transaction, deployment, { groups: step.promote, members, nowMs });
  }
  const hasProgress =
    progress === 'unknown' ? isUnseen(transaction, deployment, members) : progress === 'made';
  if (!hasProgress && !isPromoted && step.reschedule.length === 0) return 'unchanged';
  evaluateDeployment(transaction, world, deployment, job);
  return isPromoted ? 'promoted' : 'went on';
}

function markForReschedule(transaction: Transaction, allocation: Allocation, nowMs: number): void {
  transaction.table(allocations).put({
    ...allocation,
    DesiredTransition: { ...noTransition, ...allocation.DesiredTransition, Reschedule: true },
    ModifyTime: instantFromMs(nowMs),
  });
}

/**
 * Whether no evaluation has seen the progress. A pending evaluation will see it.
 * Source: docs/behaviour/deployments.md#progress.
 */
function isUnseen(
  transaction: Transaction,
  { Namespace, JobID }: Deployment,
  members: readonly Allocation[],
): boolean {
  let healthyIndex = 0;
  for (const { DeploymentStatus } of members) {
    if (DeploymentStatus?.Healthy !== true) continue;
    healthyIndex = Math.max(healthyIndex, DeploymentStatus.ModifyIndex);
  }
  const ofJob = transaction.table(evaluations).by('job');
  for (const evaluation of ofJob.scan({ prefix: inNamespace(Namespace, JobID) })) {
    const { Status, WaitUntil, SnapshotIndex } = evaluation;
    if (Status === 'pending' && WaitUntil === 0) return false;
    if (SnapshotIndex >= healthyIndex) return false;
  }
  return healthyIndex > 0;
}
