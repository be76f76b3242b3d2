import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { isTerminalDeployment } from '../../src/model/deployment/deployment.ts';
import type { Job } from '../../src/model/job/job.ts';
import { allocations, deployments } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import type { Checker } from './checker.ts';
import { isHalted, openEvaluations } from './waiting.ts';

/** Longer than a server is ever down, frozen or short of processor. */
const patienceMs = 180_000;

/**
 * A failed allocation with unlimited rescheduling, and a lost allocation of a group with too few
 * allocations, gets a successor, unless an evaluation of its job is open. Allocations that the job no longer
 * wants, and jobs with an active deployment, are left out.
 */
export const failuresAreReplaced = (): Checker => {
  /** The time of the failure, or of the last check that found an open evaluation; the oldest comes first. */
  const over = new Map<string, { readonly namespace: string; readonly sinceMs: number }>();
  const note = (one: Allocation, elapsedMs: number): void => {
    const { ID, Namespace } = one;
    if (isOver(one) && !over.has(ID)) over.set(ID, { namespace: Namespace, sinceMs: elapsedMs });
  };
  return {
    guarantee: 'failed and lost allocations are replaced',
    /** The servers have the whole time again to replace them, and may have to replace others. */
    restored(changes, _index, { account, elapsedMs }) {
      const known = [...over].map(([id, { namespace }]) => account.allocation(id, namespace));
      over.clear();
      for (const one of known) if (one !== undefined) note(one, elapsedMs);
      for (const { table, after } of changes) {
        if (table === allocations.name && after !== undefined) note(after as Allocation, elapsedMs);
      }
    },
    committed(changes, _index, { account, elapsedMs }, fault) {
      for (const { table, after } of changes) {
        if (table === allocations.name && after !== undefined) note(after as Allocation, elapsedMs);
      }
      for (const [id, { namespace, sinceMs }] of over) {
        if (elapsedMs - sinceMs < patienceMs) break;
        over.delete(id);
        const one = account.allocation(id, namespace);
        if (one === undefined || !isOwed(one, account)) continue;
        if (openEvaluations(account).some(({ JobID }) => JobID === one.JobID)) {
          over.set(id, { namespace, sinceMs: elapsedMs });
        } else {
          const event = one.ClientStatus === 'lost' ? 'was lost' : 'failed';
          fault(`${one.Name} ${event} and is not replaced`);
        }
      }
    },
  };
};

const isOver = ({ ClientStatus }: Allocation): boolean =>
  ClientStatus === 'failed' || ClientStatus === 'lost';

/** Whether the allocation has to be replaced. */
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

/** Whether the group of a service has too few allocations. Failed allocations count. */
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
