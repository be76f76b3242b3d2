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
 * Derives a job's status again, after a row that belongs to it changed in this transaction.
 * `wasEvaluated`: the job had an evaluation, even if none is left.
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
    // Allocations of an earlier registration count as well, until the scheduler has stopped them.
    hasLiveAllocation: some(allocationsOf, (allocation) => !isTerminal(allocation)),
    hasOpenEvaluation: some(transaction.table(evaluations).by('open').scan({ prefix })),
    // A status other than pending came from an evaluation, even if that was deleted since.
    everEvaluated:
      wasEvaluated ||
      job.Status !== 'pending' ||
      some(transaction.table(evaluations).by('job').scan({ prefix })),
  });
  if (status !== job.Status) changeJob(transaction, { ...job, Status: status });
}

/** Stores fields that are not part of the specification, in the job and in its current version. */
export function changeJob(transaction: Transaction, job: Job): void {
  const before = transaction.table(jobs).get(...inNamespace(job.Namespace, job.ID));
  transaction.table(jobVersions).put(transaction.table(jobs).put(job));
  countChild(transaction, job, before?.Status, job.Status);
}

function some<T>(rows: Iterable<T>, matches: (row: T) => boolean = () => true): boolean {
  for (const row of rows) if (matches(row)) return true;
  return false;
}
