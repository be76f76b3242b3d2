import type { Deployment } from '../../src/model/deployment/deployment.ts';
import type { Job } from '../../src/model/job/job.ts';
import { deployments, jobVersions } from '../../src/state/tables.ts';
import type { Checker } from './checker.ts';

/** A deployment that rolls back does so to the newest version that had been found stable. */
export const autoRevertLandsOnStable = (): Checker => {
  /** Versions found stable, by job, of this registration of the job. */
  const stable = new Map<string, Map<number, Job>>();
  const keyOf = (job: { Namespace: string; ID: string; CreateIndex: number }): string =>
    `${job.Namespace} ${job.ID} ${job.CreateIndex}`;
  return {
    guarantee: 'auto-revert lands on the last stable version',
    committed(changes, _index, _scene, fault) {
      const known = new Map([...stable].map(([key, versions]) => [key, new Map(versions)]));
      for (const { table, before, after } of changes) {
        if (table !== jobVersions.name || after === undefined) continue;
        const job = after as Job;
        const versions = stable.get(keyOf(job)) ?? new Map<number, Job>();
        stable.set(keyOf(job), versions);
        if (job.Stable) versions.set(job.Version, job);
        else if ((before as Job | undefined)?.Stable) versions.delete(job.Version);
      }
      for (const { table, before, after } of changes) {
        if (table !== deployments.name || after === undefined) continue;
        const { StatusDescription, JobID, Namespace, JobCreateIndex, JobVersion } =
          after as Deployment;
        const [, target] = /rolling back to job version (\d+)/.exec(StatusDescription) ?? [];
        if (target === undefined || (before as Deployment)?.StatusDescription === StatusDescription)
          continue;
        if (StatusDescription.includes('not rolling back')) continue;
        const key = keyOf({ Namespace, ID: JobID, CreateIndex: JobCreateIndex });
        const versions = [...(known.get(key)?.keys() ?? [])].filter((one) => one < JobVersion);
        const expected = Math.max(...versions);
        if (Number(target) !== expected) {
          fault(`${JobID} went back to version ${target}, the newest stable one is ${expected}`);
        }
      }
    },
  };
};
