/**
 * Decides the next step of a deployment. Pure.
 * Source: docs/behaviour/deployments.md#progress, #canaries, #unhealthy-allocations.
 */
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isServerTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import { deploymentDescriptions } from '../../model/deployment/descriptions.ts';
import { overdueGroups } from '../../model/deployment/progress.ts';
import { groupsToPromote, promotesItself } from '../../model/deployment/promotion.ts';
import type { Job } from '../../model/job/job.ts';
import { groupNamed } from '../../model/job/job-rules.ts';
import { isTriedAgain } from '../../scheduler/reschedule.ts';
import { groupIn } from './health.ts';

export type Step =
  | { readonly kind: 'fail'; readonly reason: string; readonly groups: readonly string[] }
  | {
      readonly kind: 'go-on';
      /** Failed allocations, to be replaced as far as the reschedule policy allows. */
      readonly reschedule: readonly Allocation[];
      /** Groups whose canaries are promoted automatically. */
      readonly promote: readonly string[];
    };

export function nextStep(
  deployment: Deployment,
  job: Job,
  allocations: readonly Allocation[],
  nowMs: number,
): Step {
  const broken = allocations.filter(isBroken);
  // While a deployment is paused, only its operator decides.
  if (deployment.Status === 'running') {
    const hopeless = broken.filter((one) => !mayBeReplaced(deployment, job, one));
    if (hopeless.length > 0) {
      const groups = [...new Set(hopeless.map(({ TaskGroup }) => TaskGroup))];
      return { kind: 'fail', reason: deploymentDescriptions.unhealthy, groups };
    }
    const overdue = overdueGroups(deployment, nowMs);
    if (overdue.length > 0) {
      return { kind: 'fail', reason: deploymentDescriptions.noProgress, groups: overdue };
    }
  }
  const promotes = deployment.Status === 'running' && promotesItself(deployment, allocations);
  return {
    kind: 'go-on',
    reschedule: broken.filter((one) => mayBeReplaced(deployment, job, one)),
    promote: promotes ? groupsToPromote(deployment) : [],
  };
}

/** The allocation is wanted and not healthy, and nothing was done about it yet. */
const isBroken = (allocation: Allocation): boolean =>
  (allocation.DeploymentStatus?.Healthy === false || allocation.ClientStatus === 'failed') &&
  !isServerTerminal(allocation) &&
  allocation.ClientStatus !== 'lost' &&
  allocation.NextAllocation === '' &&
  allocation.DesiredTransition.Reschedule !== true;

/** A deployment without a deadline fails with its first failed allocation. */
function mayBeReplaced(deployment: Deployment, job: Job, allocation: Allocation): boolean {
  if (groupIn(deployment, allocation.TaskGroup)?.ProgressDeadline === 0) return false;
  const policy = groupNamed(job, allocation.TaskGroup)?.ReschedulePolicy ?? null;
  return isTriedAgain(allocation, policy);
}
