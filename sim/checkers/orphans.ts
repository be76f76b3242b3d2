import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Job } from '../../src/model/job/job.ts';
import { allocations, jobs } from '../../src/state/tables.ts';
import { type Account, isLive } from '../account.ts';
import type { Checker, Fault, Scene } from './checker.ts';

/** For a decision after a purge, whatever befalls the server meanwhile. */
const stoppingMs = 10 * 60_000;

/**
 * What runs, or is to, has a job: the very registration that it was placed for. Once a
 * job is purged, its allocations are stopped within ten minutes, also when a job of its id is created anew.
 */
export const whatRunsHasAJob = (): Checker => {
  /** Those without a job, by id, and since when. The first one is the oldest. */
  const orphans = new Map<string, number>();
  const look = (one: Allocation, { account, elapsedMs }: Scene): void => {
    if (!isOrphan(one, account)) orphans.delete(one.ID);
    else if (!orphans.has(one.ID)) orphans.set(one.ID, elapsedMs);
  };
  return {
    guarantee: 'what runs has a job',
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
  fault(`${Name} (${ID}) is to run, and ${JobID} is gone, or another one by now`);
