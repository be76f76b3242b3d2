/**
 * Tells which allocations are canaries, and whether their deployment still runs.
 * Source: docs/behaviour/deployments.md#canaries.
 */
import type { Allocation } from '../../model/allocation/allocation.ts';
import { type Deployment, isTerminalDeployment } from '../../model/deployment/deployment.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import type { GroupContext } from '../decision.ts';
import { type Classified, isNewer } from './classify.ts';
import { groupEntry } from './rollout.ts';

/**
 * `canary`: an allocation of the running deployment of the current version that is not promoted yet; `stray`:
 * a canary of a deployment that ended or is of another version, so it will never be promoted.
 */
export type CanaryKind = 'regular' | 'canary' | 'stray';

export function canaryKind(
  { ID, DeploymentID, DeploymentStatus }: Allocation,
  group: TaskGroup,
  { deployment, deployments }: Pick<GroupContext, 'deployment' | 'deployments'>,
): CanaryKind {
  const own = deployments.find((one) => one.ID === DeploymentID);
  const entry = own && groupEntry(own, group);
  if (entry?.Promoted === true) return 'regular';
  const isCanary = DeploymentStatus?.Canary === true || entry?.PlacedCanaries?.includes(ID);
  if (isCanary !== true) return 'regular';
  const isUnderWay = own !== undefined && own.ID === deployment?.ID && !isTerminalDeployment(own);
  return isUnderWay ? 'canary' : 'stray';
}

/**
 * Allocations of earlier versions whose name a promoted canary has: they stop, whatever the group's
 * count. `counting`: all allocations that count.
 */
export function succeededByCanaries(
  counting: readonly Classified[],
  group: TaskGroup,
  deployments: readonly Deployment[],
): readonly Classified[] {
  const canaries = new Set(
    deployments.flatMap((deployment) => {
      const entry = groupEntry(deployment, group);
      return entry?.Promoted ? (entry.PlacedCanaries ?? []) : [];
    }),
  );
  if (canaries.size === 0) return [];
  const successors = new Map<string, Allocation>();
  for (const { allocation } of counting) {
    if (canaries.has(allocation.ID)) successors.set(allocation.Name, allocation);
  }
  return counting.filter(({ allocation }) => {
    const successor = successors.get(allocation.Name);
    return successor !== undefined && isNewer(successor, allocation);
  });
}
