/** The promotion of canaries. Source: docs/behaviour/deployments.md#canaries. */
import type { Allocation } from '../allocation/allocation.ts';
import { isTerminal } from '../allocation/allocation-rules.ts';
import { type Deployment, mapGroups } from './deployment.ts';
import { awaitsPromotion, runningDescription } from './descriptions.ts';
import { deadlineFrom } from './progress.ts';

type Member = Pick<
  Allocation,
  'ID' | 'TaskGroup' | 'DeploymentID' | 'DeploymentStatus' | 'DesiredStatus' | 'ClientStatus'
>;

/** A group with too few healthy canaries for its promotion. */
export interface Shortfall {
  readonly group: string;
  readonly have: number;
  readonly need: number;
}

export const isCanaryOf = (
  deployment: Pick<Deployment, 'ID'>,
  { DeploymentID, DeploymentStatus }: Pick<Allocation, 'DeploymentID' | 'DeploymentStatus'>,
): boolean => DeploymentID === deployment.ID && DeploymentStatus?.Canary === true;

/** The groups that have fewer healthy canaries than they need. */
export function shortfalls(
  deployment: Deployment,
  groups: readonly string[],
  allocations: readonly Member[],
): readonly Shortfall[] {
  return groups
    .map((group) => ({
      group,
      have: allocations.filter(
        (one) =>
          one.TaskGroup === group &&
          isCanaryOf(deployment, one) &&
          one.DeploymentStatus?.Healthy === true &&
          !isTerminal(one),
      ).length,
      need: deployment.TaskGroups[group]?.DesiredCanaries ?? 0,
    }))
    .filter(({ have, need }) => have < need);
}

/** Names of the groups whose canaries wait for promotion. */
export const groupsToPromote = ({
  TaskGroups,
}: Pick<Deployment, 'TaskGroups'>): readonly string[] =>
  Object.entries(TaskGroups)
    .filter(([, group]) => awaitsPromotion(group))
    .map(([name]) => name);

/** Whether to promote it now without a request: every group with canaries asks for that. */
export function promotesItself(deployment: Deployment, allocations: readonly Member[]): boolean {
  const groups = groupsToPromote(deployment);
  return (
    groups.length > 0 &&
    groups.every((name) => deployment.TaskGroups[name]?.AutoPromote) &&
    shortfalls(deployment, groups, allocations).length === 0
  );
}

/** The deployment with these groups promoted. A promotion cannot be undone. */
export function promoted(
  deployment: Deployment,
  groups: readonly string[],
  nowMs: number,
): Deployment {
  const after = {
    ...deployment,
    TaskGroups: mapGroups(deployment.TaskGroups, (group, name) =>
      groups.includes(name)
        ? { ...group, Promoted: true, RequireProgressBy: deadlineFrom(group, nowMs) }
        : group,
    ),
  };
  return after.Status === 'running'
    ? { ...after, StatusDescription: runningDescription(after) }
    : after;
}
