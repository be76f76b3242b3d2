import { instantFromMs } from '../../base/instant.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import { isCanaryOf, promoted } from '../../model/deployment/promotion.ts';
import { allocations, deployments, inNamespace } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';

export interface Promotion {
  readonly groups: readonly string[];
  /** Allocations of the deployment. */
  readonly members: readonly Allocation[];
  readonly nowMs: number;
}

/** Promotes the groups' canaries. The caller has checked that they may be promoted. */
export function promoteGroups(
  transaction: Transaction,
  deployment: Deployment,
  { groups, members, nowMs }: Promotion,
): Deployment {
  const ModifyTime = instantFromMs(nowMs);
  const table = transaction.table(allocations);
  for (const { Namespace, ID } of members) {
    // The row as it is now: this transaction may have marked it already.
    const canary = table.get(...inNamespace(Namespace, ID));
    if (canary === undefined || !isCanaryOf(deployment, canary)) continue;
    const status = canary.DeploymentStatus;
    if (status === null || !groups.includes(canary.TaskGroup)) continue;
    table.put({
      ...canary,
      DeploymentStatus: { ...status, Canary: false, ModifyIndex: transaction.index },
      // The node has to hear of the change: clients ask it for the allocations that it runs.
      AllocModifyIndex: transaction.index,
      ModifyTime,
    });
  }
  return transaction.table(deployments).put({ ...promoted(deployment, groups, nowMs), ModifyTime });
}
