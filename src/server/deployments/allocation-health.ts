import { formatInstant, instantFromMs } from '../../base/instant.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import { deploymentDescriptions } from '../../model/deployment/descriptions.ts';
import { type Fault, invalid } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { allocations } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { changeDeployment, type DeploymentChanged, evaluated } from './actions.ts';
import { failDeployment } from './fail.ts';
import { allocationsOfDeployment, findDeployment } from './find.ts';
import { recordHealth, withHealthy } from './health.ts';

export interface HealthMarks {
  readonly healthy: readonly string[];
  readonly unhealthy: readonly string[];
}

/**
 * Sets the health of a deployment's allocations as a caller says. An unhealthy allocation ends the
 * deployment. Source: docs/behaviour/deployments.md#actions.
 * @throws RosterError `invalid-body`, `deployment-not-found`, `deployment-refused`
 */
export function setAllocationHealth(
  context: ServerContext,
  id: string,
  marks: HealthMarks,
): Promise<DeploymentChanged> {
  return changeDeployment(context, id, 'set-health', (transaction, deployment, nowMs) => {
    const members = new Map<string, Allocation>();
    for (const one of allocationsOfDeployment(transaction, deployment)) members.set(one.ID, one);
    const faults = faultsOf(deployment, marks, members);
    if (faults.length > 0) throw invalid('invalid-body', faults);
    const marked = (ids: readonly string[]) => [...new Set(ids)].map((one) => members.get(one)!);
    for (const one of marked(marks.healthy)) mark(transaction, one, true, nowMs);
    const unhealthy = marked(marks.unhealthy);
    for (const one of unhealthy) mark(transaction, one, false, nowMs);
    const after = findDeployment(transaction, id) ?? deployment;
    if (unhealthy.length === 0) return evaluated(transaction, context, after);
    return failDeployment(transaction, context.world, {
      deployment: after,
      reason: deploymentDescriptions.unhealthy,
      groups: [...new Set(unhealthy.map(({ TaskGroup }) => TaskGroup))],
    });
  });
}

function mark(transaction: Transaction, before: Allocation, healthy: boolean, nowMs: number): void {
  if (before.DeploymentStatus?.Healthy === healthy) return;
  const { index } = transaction;
  const status = withHealthy(before.DeploymentStatus, healthy, formatInstant(nowMs), index);
  const after = transaction.table(allocations).put({
    ...before,
    DeploymentStatus: status,
    ModifyTime: instantFromMs(nowMs),
  });
  recordHealth(transaction, before, after, nowMs);
}

function faultsOf(
  { ID }: Deployment,
  { healthy, unhealthy }: HealthMarks,
  members: ReadonlyMap<string, Allocation>,
): Fault[] {
  if (healthy.length + unhealthy.length === 0) {
    const message = 'HealthyAllocationIDs or UnhealthyAllocationIDs must name an allocation';
    return [{ pointer: '', message }];
  }
  const both = new Set(healthy);
  const faults = [
    ...healthy.map((id, at) => ({ id, at, field: 'HealthyAllocationIDs' })),
    ...unhealthy.map((id, at) => ({ id, at, field: 'UnhealthyAllocationIDs' })),
  ].flatMap(({ id, at, field }): Fault[] => {
    const where = { pointer: `/${field}/${at}` };
    const name = `${field}[${at}]`;
    if (!members.has(id)) {
      return [{ ...where, message: `${name} is no allocation of the deployment ${ID}` }];
    }
    return field === 'UnhealthyAllocationIDs' && both.has(id)
      ? [{ ...where, message: `${name} is among the HealthyAllocationIDs as well` }]
      : [];
  });
  return faults.slice(0, limits.fault.listedMax);
}
