import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Job } from '../../src/model/job/job.ts';
import { allocations, schedulerConfiguration } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import type { Checker, Fault } from './checker.ts';

/** How much more important the one that evicts has to be. */
export const priorityStep = 10;

/** What is evicted makes way for an allocation, of a job that may evict and is more important. */
export const evictionsAreDeserved = (): Checker => ({
  guarantee: 'only what is more important evicts',
  committed(changes, _index, { account }, fault) {
    for (const { table, before, after } of changes) {
      if (table !== allocations.name || after === undefined) continue;
      const isNew = (before as Allocation | undefined)?.DesiredStatus !== 'evict';
      if (isNew && (after as Allocation).DesiredStatus === 'evict') {
        judge(after as Allocation, account, fault);
      }
    }
  },
});

function judge(evicted: Allocation, account: Account, fault: Fault): void {
  const { Name, NodeID, PreemptedByAllocation } = evicted;
  const by = account.allocation(PreemptedByAllocation);
  if (by === undefined) {
    fault(`${Name} was evicted for nobody`);
    return;
  }
  if (by.NodeID !== NodeID) fault(`${Name} was evicted for ${by.Name}, which is elsewhere`);
  const job = account.jobOf(by);
  const current = account.job(evicted.Namespace, evicted.JobID);
  const isSame = current?.CreateIndex === evicted.JobCreateIndex;
  // Of a registration that is purged, nobody knows how important it was.
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
