/**
 * The progress of a deployment by the health of its allocations, and its deadlines.
 * Source: docs/behaviour/deployments.md#progress.
 */
import { durationMs } from '../../base/duration.ts';
import { formatInstant } from '../../base/instant.ts';
import type { Deployment, DeploymentGroup } from './deployment.ts';
import { awaitsPromotion } from './descriptions.ts';

/** The value of an allocation's `DeploymentStatus.Healthy`; null: not known yet. */
export type Health = boolean | null;

/** The deadline for the group's next progress in RFC 3339; null if it has none. */
export const deadlineFrom = (
  { ProgressDeadline }: Pick<DeploymentGroup, 'ProgressDeadline'>,
  nowMs: number,
): string | null =>
  ProgressDeadline > 0 ? formatInstant(nowMs + durationMs(ProgressDeadline)) : null;

/**
 * The group after the health of an allocation changed from `was` to `is`. A recovery does not lower the count
 * of unhealthy allocations. Returns the same group if no count changes.
 */
export function withHealth(
  group: DeploymentGroup,
  was: Health,
  is: Health,
  nowMs: number,
): DeploymentGroup {
  if (is === null || was === is || was === false) return group;
  if (is) {
    return {
      ...group,
      HealthyAllocs: group.HealthyAllocs + 1,
      RequireProgressBy: deadlineFrom(group, nowMs),
    };
  }
  const HealthyAllocs = was === true ? Math.max(0, group.HealthyAllocs - 1) : group.HealthyAllocs;
  return { ...group, HealthyAllocs, UnhealthyAllocs: group.UnhealthyAllocs + 1 };
}

export const isGroupHealthy = (group: DeploymentGroup): boolean =>
  group.HealthyAllocs >= Math.max(group.DesiredTotal, group.DesiredCanaries);

/**
 * Whether the deadline applies to the group: not if all allocations are healthy, and not if its canaries are
 * healthy and wait for manual promotion.
 */
const hasToProgress = (group: DeploymentGroup): boolean =>
  !isGroupHealthy(group) &&
  !(awaitsPromotion(group) && group.HealthyAllocs >= group.DesiredCanaries);

const groupDeadlineMs = (group: DeploymentGroup): number =>
  group.RequireProgressBy === null || !hasToProgress(group)
    ? Number.POSITIVE_INFINITY
    : Date.parse(group.RequireProgressBy);

/** The earliest deadline in Unix ms; `undefined` if there is none. */
export function nextDeadlineMs({
  Status,
  TaskGroups,
}: Pick<Deployment, 'Status' | 'TaskGroups'>): number | undefined {
  if (Status !== 'running') return undefined;
  const first = Math.min(...Object.values(TaskGroups).map(groupDeadlineMs));
  return Number.isFinite(first) ? first : undefined;
}

/** Names of the groups that missed their deadline. */
export const overdueGroups = (
  { Status, TaskGroups }: Pick<Deployment, 'Status' | 'TaskGroups'>,
  nowMs: number,
): readonly string[] =>
  Status !== 'running'
    ? []
    : Object.entries(TaskGroups)
        .filter(([, group]) => groupDeadlineMs(group) <= nowMs)
        .map(([name]) => name);
