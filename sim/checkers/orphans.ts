import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Job } from '../../src/model/job/job.ts';
import { allocations, jobs } from '../../src/state/tables.ts';
import { type Account, isLive } from '../account.ts';
import type { Checker, Fault, Scene } from './checker.ts';

/** Time until the allocations of a purged job are stopped, whatever faults strike meanwhile. */
const stoppingMs = 10 * 60_000;

/**
 * Every live allocation belongs to the current registration of its job. The allocations of a purged job are
 * stopped within ten minutes, even if a job of the same id is created anew.
 */
export const noOrphansRun = (): Checker => {
  /** Live allocations without a job and since when, by id; the oldest comes first. */
  const orphans = new Map<string, number>();
  const look = (one: Allocation, { account, elapsedMs }: Scene): void => {
    if (!isOrphan(one, account)) orphans.delete(one.ID);
    else if (!orphans.has(one.ID)) orphans.set(one.ID, elapsedMs);
  };
  return {
    guarantee: 'every running allocation has a job',
    /** The servers have the whole time again to stop them. */
    restored(_changes, _index, scene) {
      orphans.clear();
      for (const one of scene.account.rows(allocations).values()) look(one, scene);
    },
    resumed(scene) {
      const { account } = scene;
      for (const id of orphans.keys()) if (account.allocation(id) === undefined) orphans.delete(id);
      for (const one of account.rows(allocations).values()) look(one, scene);
    },
    committed(changes, _index, scene, fault) {
      for (const { table, before, after } of changes) {
        if (table === allocations.name) {
          if (after === undefined) orphans.delete((before as Allocation).ID);
          else look(after as Allocation, scene);
        }
        if (table !== jobs.name || !isAnother(before as Job, after as Job)) continue;
        const { Namespace, ID: JobID } = (after ?? before) as Job;
        for (const one of scene.account.allocationsOf({ Namespace, JobID })) look(one, scene);
      }
      for (const [id, sinceMs] of orphans) {
        if (scene.elapsedMs - sinceMs < stoppingMs) break;
        orphans.delete(id);
        tell(scene.account.allocation(id)!, fault);
      }
    },
    rested({ account }, fault) {
      for (const one of account.rows(allocations).values()) {
        if (isOrphan(one, account)) tell(one, fault);
      }
    },
  };
};

const isAnother = (before: Job | undefined, after: Job | undefined): boolean =>
  before?.CreateIndex !== after?.CreateIndex;

const isOrphan = (one: Allocation, account: Account): boolean =>
  isLive(one) && account.job(one.Namespace, one.JobID)?.CreateIndex !== one.JobCreateIndex;

const tell = ({ Name, ID, JobID }: Allocation, fault: Fault): void =>
  fault(`${Name} (${ID}) is to run, but ${JobID} was purged or created anew`);
