import { isTerminal } from '../../model/allocation/allocation-rules.ts';
import { isTerminalDeployment } from '../../model/deployment/deployment.ts';
import type { Job } from '../../model/job/job.ts';
import { jobStatus } from '../../model/job/job-rules.ts';
import {
  allocations,
  deployments,
  evaluations,
  inNamespace,
  jobs,
  jobVersions,
} from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import { countChild } from './job-summary.ts';

/**
 * Derives a job's status again, after something that belongs to it changed in this transaction.
 * `wasEvaluated`: although no evaluation may be left of that.
 * Source: docs/behaviour/jobs.md#the-status-of-a-job.
 */
export function refreshJobStatus(
  transaction: Transaction,
  namespace: string,
  id: string,
  wasEvaluated = false,
): void {
  const prefix = inNamespace(namespace, id);
  const job = transaction.table(jobs).get(...prefix);
  if (job === undefined) return;
  const deploymentsOf = transaction.table(deployments).by('job').scan({ prefix });
  const allocationsOf = transaction.table(allocations).by('job').scan({ prefix });
  const status = jobStatus(job, {
    hasActiveDeployment: some(
      deploymentsOf,
      (deployment) =>
        deployment.JobCreateIndex === job.CreateIndex && !isTerminalDeployment(deployment),
    ),
    // Also of the registration before, until the scheduler has stopped it.
    hasLiveAllocation: some(allocationsOf, (allocation) => !isTerminal(allocation)),
    hasOpenEvaluation: some(transaction.table(evaluations).by('open').scan({ prefix })),
    // What it once was it became by an evaluation, though that may be forgotten by now.
    everEvaluated:
      wasEvaluated ||
      job.Status !== 'pending' ||
      some(transaction.table(evaluations).by('job').scan({ prefix })),
  });
  if (status !== job.Status) changeJob(transaction, { ...job, Status: status });
}

/** Writes what is not part of the specification; the current version's row goes along. */
export function changeJob(transaction: Transaction, job: Job): void {
  const before = transaction.table(jobs).get(...inNamespace(job.Namespace, job.ID));
  transaction.table(jobVersions).put(transaction.table(jobs).put(job));
  countChild(transaction, job, before?.Status, job.Status);
}

function some<T>(rows: Iterable<T>, matches: (row: T) => boolean = () => true): boolean {
  for (const row of rows) if (matches(row)) return true;
  return false;
}
