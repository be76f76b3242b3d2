import { formatInstant, instantFromMs } from '../../base/instant.ts';
import type { Allocation, AllocationReport } from '../../model/allocation/allocation.ts';
import { isServerTerminal } from '../../model/allocation/allocation-rules.ts';
import { type Deployment, isTerminalDeployment } from '../../model/deployment/deployment.ts';
import { type Health, withHealth } from '../../model/deployment/progress.ts';
import { deployments, inNamespace } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';

type DeploymentStatus = Allocation['DeploymentStatus'];

const healthOf = ({ DeploymentStatus }: Pick<Allocation, 'DeploymentStatus'>): Health =>
  DeploymentStatus?.Healthy ?? null;

/** The deployment status with another health and its other fields as they were. */
export const withHealthy = (
  before: DeploymentStatus,
  Healthy: boolean,
  Timestamp: string,
  ModifyIndex: number,
): NonNullable<DeploymentStatus> => ({
  Healthy,
  Timestamp,
  Canary: before?.Canary ?? false,
  ModifyIndex,
});

/**
 * The deployment status of an allocation after its node's report. A report says nothing if it is
 * about an earlier deployment or the allocation is to stop, and an unhealthy allocation stays
 * unhealthy. Source: docs/behaviour/deployments.md#progress.
 */
export function reportedStatus(
  before: Pick<Allocation, 'DeploymentID' | 'DeploymentStatus' | 'DesiredStatus'>,
  report: Pick<AllocationReport, 'DeploymentID' | 'DeploymentStatus'>,
  index: number,
  nowMs: number,
): DeploymentStatus {
  const told = healthOf(report);
  const known = healthOf(before);
  if (told === null || told === known || known === false) return before.DeploymentStatus;
  if (isServerTerminal(before)) return before.DeploymentStatus;
  if (report.DeploymentID !== null && report.DeploymentID !== before.DeploymentID) {
    return before.DeploymentStatus;
  }
  const toldMs = Date.parse(report.DeploymentStatus?.Timestamp ?? '');
  // A node's clock may be ahead: health does not begin in the future.
  const sinceMs = Number.isNaN(toldMs) ? nowMs : Math.min(toldMs, nowMs);
  return withHealthy(before.DeploymentStatus, told, formatInstant(sinceMs), index);
}

/**
 * Counts an allocation's change of health in its deployment, unless the deployment has ended.
 * Deadlines go by the server's clock. Source: docs/behaviour/deployments.md#progress.
 */
export function recordHealth(
  transaction: Transaction,
  before: Allocation,
  after: Allocation,
  nowMs: number,
): void {
  const { Namespace, DeploymentID, TaskGroup } = after;
  const is = healthOf(after);
  if (DeploymentID === '' || is === null || is === healthOf(before)) return;
  const table = transaction.table(deployments);
  const deployment = table.get(...inNamespace(Namespace, DeploymentID));
  if (deployment === undefined || isTerminalDeployment(deployment)) return;
  const group = groupIn(deployment, TaskGroup);
  const counted = group && withHealth(group, healthOf(before), is, nowMs);
  if (counted === undefined || counted === group) return;
  table.put({
    ...deployment,
    TaskGroups: { ...deployment.TaskGroups, [TaskGroup]: counted },
    ModifyTime: instantFromMs(nowMs),
  });
}

/** A group may have the name of a member of `Object.prototype`. */
export const groupIn = ({ TaskGroups }: Pick<Deployment, 'TaskGroups'>, name: string) =>
  Object.hasOwn(TaskGroups, name) ? TaskGroups[name] : undefined;
