import { refusal } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import { inNamespace, jobs, jobVersions, numberPart } from '../../state/tables.ts';
import type { Snapshot, Transaction } from '../../state/types.ts';

type Reader = Snapshot | Transaction;

/** @throws RosterError `job-not-found` */
export function storedJob(state: Reader, namespace: string, id: string): Job {
  const job = state.table(jobs).get(...inNamespace(namespace, id));
  if (job === undefined) throw refusal('job-not-found', { job: id, namespace });
  return job;
}

/** A version of the current registration of the job. @throws RosterError `job-version-not-found` */
export function storedVersion(state: Reader, job: Job, version: number): Job {
  const key = inNamespace(job.Namespace, job.ID, numberPart(version));
  const row = version >= 0 ? state.table(jobVersions).get(...key) : undefined;
  if (row?.CreateIndex === job.CreateIndex) return row;
  throw refusal('job-version-not-found', { job: job.ID, version });
}
