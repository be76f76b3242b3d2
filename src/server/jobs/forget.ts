import type { Job } from '../../model/job/job.ts';
import {
  inNamespace,
  jobSubmissions,
  jobSummaries,
  jobs,
  jobVersions,
  numberPart,
  periodicLaunches,
} from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import { countChild } from '../scheduling/job-summary.ts';
import { forgetScaling } from './scaling-policies.ts';

/**
 * Removes the job with its versions, sources and counters. A removed child counts as dead.
 * Evaluations, allocations and deployments are left to the garbage collector.
 * Source: docs/behaviour/jobs.md#the-status-of-a-job, #stop-and-purge.
 */
export function forgetJob(transaction: Transaction, job: Job): void {
  const key = inNamespace(job.Namespace, job.ID);
  const range = { prefix: key };
  for (const { Version } of [...transaction.table(jobVersions).scan(range)]) {
    transaction.table(jobVersions).delete(...key, numberPart(Version));
  }
  for (const { Version } of [...transaction.table(jobSubmissions).scan(range)]) {
    transaction.table(jobSubmissions).delete(...key, numberPart(Version));
  }
  forgetScaling(transaction, job.Namespace, job.ID);
  transaction.table(jobSummaries).delete(...key);
  transaction.table(periodicLaunches).delete(...key);
  transaction.table(jobs).delete(...key);
  countChild(transaction, job, job.Status, 'dead');
}
