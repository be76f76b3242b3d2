import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Job } from '../../src/model/job/job.ts';
import { allocations, schedulerConfiguration } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import type { Checker, Fault } from './checker.ts';

/** Least difference of priorities for an eviction. */
export const priorityStep = 10;

/** An allocation is evicted for an allocation on its node, whose job may evict and has a higher priority. */
export const onlyHigherPriorityEvicts = (): Checker => ({
  guarantee: 'only a job of higher priority evicts',
  committed(changes, _index, { account }, fault) {
    for (const { table, before, after } of changes) {
      if (table !== allocations.name || after === undefined) continue;
      const isNew = (before as Allocation | undefined)?.DesiredStatus !== 'evict';
      if (isNew && (after as Allocation).DesiredStatus === 'evict') {
        checkEviction(after as Allocation, account, fault);
      }
    }
  },
});

function checkEviction(evicted: Allocation, account: Account, fault: Fault): void {
  const { Name, NodeID, PreemptedByAllocation } = evicted;
  const by = account.allocation(PreemptedByAllocation);
  if (by === undefined) {
    fault(`${Name} was evicted for no allocation`);
    return;
  }
  if (by.NodeID !== NodeID) fault(`${Name} was evicted for ${by.Name}, which is elsewhere`);
  const job = account.jobOf(by);
  const current = account.job(evicted.Namespace, evicted.JobID);
  const isSame = current?.CreateIndex === evicted.JobCreateIndex;
  // The priority of a purged registration is unknown.
  const other = account.jobOf(evicted) ?? (isSame ? current : undefined);
  if (job === undefined || other === undefined) return;
  if (job.ID === other.ID) fault(`${Name} was evicted for its own job`);
  if (!mayEvict(job.Type, account)) fault(`${Name} was evicted for ${by.Name}, which may not`);
  if (other.Priority + priorityStep > job.Priority) {
    fault(`${Name} of ${other.Priority} was evicted for ${by.Name} of ${job.Priority}`);
  }
}

export function mayEvict(type: Job['Type'], account: Account): boolean {
  const [stored] = account.rows(schedulerConfiguration).values();
  if (stored === undefined) return type === 'system';
  const { PreemptionConfig: config } = stored;
  return {
    service: config.ServiceSchedulerEnabled,
    batch: config.BatchSchedulerEnabled,
    system: config.SystemSchedulerEnabled,
    sysbatch: config.SysBatchSchedulerEnabled,
  }[type];
}
