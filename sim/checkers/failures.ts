import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { isTerminalDeployment } from '../../src/model/deployment/deployment.ts';
import { allocations, deployments, inNamespace } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import type { Checker } from './checker.ts';
import { openEvaluations } from './waiting.ts';

/** Longer than the server is ever away, frozen or short of processor. */
const patienceMs = 180_000;

/**
 * What failed, and is to be tried again for ever, is: it has a successor, or something is to come of
 * its job. What its job no longer wants, or a deployment under way decides about, is left out.
 */
export const failuresAreLookedAt = (): Checker => {
  /** When each was first seen to have failed, in their order. */
  const failed = new Map<string, { readonly namespace: string; readonly sinceMs: number }>();
  return {
    guarantee: 'what failed is tried again',
    committed(changes, _index, { account, elapsedMs }, fault) {
      for (const { table, after } of changes) {
        if (table !== allocations.name || after === undefined) continue;
        const { ID, Namespace, ClientStatus } = after as Allocation;
        if (ClientStatus !== 'failed' || failed.has(ID)) continue;
        failed.set(ID, { namespace: Namespace, sinceMs: elapsedMs });
      }
      for (const [id, { namespace, sinceMs }] of failed) {
        if (elapsedMs - sinceMs < patienceMs) break;
        failed.delete(id);
        const one = account.allocation(id, namespace);
        if (one !== undefined && isForgotten(one, account)) {
          fault(`${one.Name} failed, and nothing comes of it`);
        }
      }
    },
  };
};

function isForgotten(one: Allocation, account: Account): boolean {
  const { Namespace, JobID, JobVersion, JobCreateIndex, TaskGroup, DeploymentID } = one;
  if (one.DesiredStatus !== 'run' || one.NextAllocation !== '') return false;
  const job = account.job(Namespace, JobID);
  const isCurrent = job?.Version === JobVersion && job.CreateIndex === JobCreateIndex;
  const group = job?.TaskGroups.find(({ Name }) => Name === TaskGroup);
  if (!isCurrent || job.Stop || group?.ReschedulePolicy?.Unlimited !== true) return false;
  const deployment = account.get(deployments, ...inNamespace(Namespace, DeploymentID));
  if (deployment !== undefined && !isTerminalDeployment(deployment)) return false;
  return !openEvaluations(account).some((open) => open.JobID === JobID);
}
