import type { Job } from '../model/job/job.ts';
import { isSame } from '../model/same.ts';

/**
 * Keeps one of each job: every allocation comes with a copy of its own, and hundreds may be of the
 * same job. `known` are those that allocations have already.
 */
export function sharedJobs(known: Iterable<Job> = []): (job: Job) => Job {
  const jobs = new Map<string, Job>();
  const share = (job: Job): Job => {
    const { Namespace, ID, Version } = job;
    const key = JSON.stringify([Namespace, ID, Version]);
    const first = jobs.get(key);
    // Servers that have lost all may give the same version another content.
    if (first !== undefined && (first === job || isSame(first, job))) return first;
    jobs.set(key, job);
    return job;
  };
  for (const job of known) share(job);
  return share;
}
