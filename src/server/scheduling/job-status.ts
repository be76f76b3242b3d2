import { isTerminal } from '../../model/allocation/allocation-rules.ts';
import { type Deployment, isTerminalDeployment } from '../../model/deployment/deployment.ts';
import type { Job } from '../../model/job/job.ts';
import { type JobSurroundings, jobStatus } from '../../model/job/job-rules.ts';
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
  const status = jobStatus(job, new RowsOfJob(transaction, job, wasEvaluated));
  if (status !== job.Status) changeJob(transaction, { ...job, Status: status });
}

/** Looks up each fact when it is asked for: most statuses follow from one or two of them. */
class RowsOfJob implements JobSurroundings {
  readonly #transaction: Transaction;
  readonly #job: Job;
  readonly #wasEvaluated: boolean;

  constructor(transaction: Transaction, job: Job, wasEvaluated: boolean) {
    this.#transaction = transaction;
    this.#job = job;
    this.#wasEvaluated = wasEvaluated;
  }

  get hasActiveDeployment(): boolean {
    const { CreateIndex } = this.#job;
    const isActive = (deployment: Deployment) =>
      deployment.JobCreateIndex === CreateIndex && !isTerminalDeployment(deployment);
    return this.#transaction.table(deployments).by('job').find(this.#range, isActive) !== undefined;
  }

  /** Allocations of an earlier registration count as well, until the scheduler has stopped them. */
  get hasLiveAllocation(): boolean {
    const ofJob = this.#transaction.table(allocations).by('job');
    return ofJob.find(this.#range, (allocation) => !isTerminal(allocation)) !== undefined;
  }

  get hasOpenEvaluation(): boolean {
    return this.#transaction.table(evaluations).by('open').find(this.#range) !== undefined;
  }

  /** A status other than pending came from an evaluation, even if that was deleted since. */
  get everEvaluated(): boolean {
    if (this.#wasEvaluated || this.#job.Status !== 'pending') return true;
    return this.#transaction.table(evaluations).by('job').find(this.#range) !== undefined;
  }

  get #range() {
    return { prefix: inNamespace(this.#job.Namespace, this.#job.ID) };
  }
}

/** Stores fields that are not part of the specification, in the job and in its current version. */
export function changeJob(transaction: Transaction, job: Job): void {
  const before = transaction.table(jobs).get(...inNamespace(job.Namespace, job.ID));
  transaction.table(jobVersions).put(transaction.table(jobs).put(job));
  countChild(transaction, job, before?.Status, job.Status);
}
