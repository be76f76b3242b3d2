/**
 * How health moves a deployment, and how long it may stand still.
 * Source: docs/behaviour/deployments.md#progress.
 */
import { durationMs } from '../../base/duration.ts';
import { formatInstant } from '../../base/instant.ts';
import type { Deployment, DeploymentGroup } from './deployment.ts';
import { awaitsPromotion } from './descriptions.ts';

/** The value of an allocation's `DeploymentStatus.Healthy`; null: not known yet. */
export type Health = boolean | null;

/** By when the group has to come further, RFC 3339; null where it may take any time. */
export const deadlineFrom = (
  { ProgressDeadline }: Pick<DeploymentGroup, 'ProgressDeadline'>,
  nowMs: number,
): string | null =>
  ProgressDeadline > 0 ? formatInstant(nowMs + durationMs(ProgressDeadline)) : null;

/**
 * The group after an allocation's health went from `was` to `is`. A recovery is not counted back. The same
 * group when nothing is to be counted.
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

/** As many as it wants are healthy. */
export const isGroupHealthy = (group: DeploymentGroup): boolean =>
  group.HealthyAllocs >= Math.max(group.DesiredTotal, group.DesiredCanaries);

/**
 * Whether the clock runs against the group: not where all is healthy, and not where its canaries
 * are and somebody has to promote them.
 */
const hasToProgress = (group: DeploymentGroup): boolean =>
  !isGroupHealthy(group) &&
  !(awaitsPromotion(group) && group.HealthyAllocs >= group.DesiredCanaries);

const groupDeadlineMs = (group: DeploymentGroup): number =>
  group.RequireProgressBy === null || !hasToProgress(group)
    ? Number.POSITIVE_INFINITY
    : Date.parse(group.RequireProgressBy);

/** Unix ms at which the first group has stood still for too long; `undefined`: none ever. */
export function nextDeadlineMs({
  Status,
  TaskGroups,
}: Pick<Deployment, 'Status' | 'TaskGroups'>): number | undefined {
  if (Status !== 'running') return undefined;
  const first = Math.min(...Object.values(TaskGroups).map(groupDeadlineMs));
  return Number.isFinite(first) ? first : undefined;
}

/** Names of the groups that have stood still for too long. */
export const overdueGroups = (
  { Status, TaskGroups }: Pick<Deployment, 'Status' | 'TaskGroups'>,
  nowMs: number,
): readonly string[] =>
  Status !== 'running'
    ? []
    : Object.entries(TaskGroups)
        .filter(([, group]) => groupDeadlineMs(group) <= nowMs)
        .map(([name]) => name);
