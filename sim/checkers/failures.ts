import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { isTerminalDeployment } from '../../src/model/deployment/deployment.ts';
import type { Job } from '../../src/model/job/job.ts';
import { allocations, deployments } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import type { Checker } from './checker.ts';
import { isHalted, openEvaluations } from './waiting.ts';

/** Longer than the server is ever away, frozen or short of processor. */
const patienceMs = 180_000;

/**
 * What failed, and is to be tried again for ever, is, and what was lost is replaced while its group
 * has too few: it has a successor, or something is to come of its job. That is asked again and again
 * as long as something is to come. What its job no longer wants, or a deployment under way decides
 * about, is left out.
 */
export const failuresAreLookedAt = (): Checker => {
  /** When each was first seen to be over, or last seen to wait, in their order. */
  const over = new Map<string, { readonly namespace: string; readonly sinceMs: number }>();
  return {
    guarantee: 'what failed is tried again',
    committed(changes, _index, { account, elapsedMs }, fault) {
      for (const { table, after } of changes) {
        if (table !== allocations.name || after === undefined) continue;
        const { ID, Namespace, ClientStatus } = after as Allocation;
        const isOver = ClientStatus === 'failed' || ClientStatus === 'lost';
        if (isOver && !over.has(ID)) over.set(ID, { namespace: Namespace, sinceMs: elapsedMs });
      }
      for (const [id, { namespace, sinceMs }] of over) {
        if (elapsedMs - sinceMs < patienceMs) break;
        over.delete(id);
        const one = account.allocation(id, namespace);
        if (one === undefined || !isOwed(one, account)) continue;
        if (openEvaluations(account).some(({ JobID }) => JobID === one.JobID)) {
          over.set(id, { namespace, sinceMs: elapsedMs });
        } else {
          const what = one.ClientStatus === 'lost' ? 'was lost' : 'failed';
          fault(`${one.Name} ${what}, and nothing comes of it`);
        }
      }
    },
  };
};

/** Whether another one is to run in its place. */
function isOwed(one: Allocation, account: Account): boolean {
  const { Namespace, JobID, JobVersion, JobCreateIndex, TaskGroup } = one;
  const job = account.job(Namespace, JobID);
  if (one.NextAllocation !== '' || job === undefined || job.Stop) return false;
  if (job.CreateIndex !== JobCreateIndex || isRolledOut(job, account)) return false;
  if (one.ClientStatus === 'lost') return isShort(job, one, account);
  const group = job.TaskGroups.find(({ Name }) => Name === TaskGroup);
  const isForEver = group?.ReschedulePolicy?.Unlimited === true;
  return one.DesiredStatus === 'run' && JobVersion === job.Version && isForEver;
}

function isRolledOut({ Namespace, ID }: Job, account: Account): boolean {
  for (const one of account.rows(deployments).values()) {
    const isIts = one.Namespace === Namespace && one.JobID === ID;
    if (isIts && !isTerminalDeployment(one)) return true;
  }
  return false;
}

/** Whether the group of a service has fewer than it wants, those counted that failed. */
function isShort(job: Job, lost: Allocation, account: Account): boolean {
  const group = job.TaskGroups.find(({ Name }) => Name === lost.TaskGroup);
  if (job.Type !== 'service' || group === undefined || isHalted(job, account)) return false;
  if (lost.DeploymentStatus?.Canary === true) return false;
  const there = [...account.allocationsOf(lost)].filter(
    ({ TaskGroup, JobCreateIndex, DesiredStatus, ClientStatus }) =>
      TaskGroup === group.Name &&
      JobCreateIndex === job.CreateIndex &&
      DesiredStatus === 'run' &&
      ClientStatus !== 'lost' &&
      ClientStatus !== 'complete',
  );
  return there.length < group.Count;
}
