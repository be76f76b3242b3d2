import type { Job } from '../model/job/job.ts';
import { isSame } from '../model/same.ts';

/**
 * Keeps one copy of each job version: every allocation arrives with its own copy, and hundreds may
 * belong to the same job. `known` are the jobs of present allocations.
 */
export function sharedJobs(known: Iterable<Job> = []): (job: Job) => Job {
  const jobs = new Map<string, Job>();
  const share = (job: Job): Job => {
    const { Namespace, ID, Version } = job;
    const key = JSON.stringify([Namespace, ID, Version]);
    const first = jobs.get(key);
    // Servers that were set up anew may use the same version for another job.
    if (first !== undefined && (first === job || isSame(first, job))) return first;
    jobs.set(key, job);
    return job;
  };
  for (const job of known) share(job);
  return share;
}
