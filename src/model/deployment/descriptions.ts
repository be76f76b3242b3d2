import type { Deployment, DeploymentGroup } from './deployment.ts';

/** The texts of `StatusDescription`. Source: docs/behaviour/deployments.md#statuses. */
export const deploymentDescriptions = {
  running: 'Deployment is running',
  needsPromotion: 'Deployment is running but requires manual promotion',
  promotesItself: 'Deployment is running pending automatic promotion',
  paused: 'Deployment is paused',
  successful: 'Deployment completed successfully',
  unhealthy: 'Failed due to unhealthy allocations',
  noProgress: 'Failed due to progress deadline',
  markedFailed: 'Deployment marked as failed',
  jobStopped: 'Cancelled because job is stopped',
  newerVersion: 'Cancelled due to newer version of job',
} as const;

/** Whether it has canaries that wait for promotion. */
export const awaitsPromotion = (
  group: Pick<DeploymentGroup, 'DesiredCanaries' | 'Promoted'>,
): boolean => group.DesiredCanaries > 0 && !group.Promoted;

/** The description of a running deployment. */
export function runningDescription({ TaskGroups }: Pick<Deployment, 'TaskGroups'>): string {
  const waiting = Object.values(TaskGroups).filter(awaitsPromotion);
  if (waiting.length === 0) return deploymentDescriptions.running;
  return waiting.every(({ AutoPromote }) => AutoPromote)
    ? deploymentDescriptions.promotesItself
    : deploymentDescriptions.needsPromotion;
}
