import { inNamespace, jobs, jobVersions } from '../../state/tables.ts';
import type { ServerContext } from '../context.ts';
import { changeJob } from '../scheduling/job-status.ts';
import { storedJob, storedVersion } from './find.ts';

export interface Stability {
  readonly namespace: string;
  readonly jobId: string;
  readonly version: number;
  readonly stable: boolean;
}

export interface StabilitySet {
  readonly JobModifyIndex: number;
  readonly Index: number;
}

/**
 * Marks a version as stable or not stable. A version that is so already does not change.
 * Source: docs/contract/jobs.md#revert-stability-evaluation.
 * @throws RosterError `job-not-found`, `job-version-not-found`
 */
export async function setStability(
  { state }: ServerContext,
  { namespace, jobId, version, stable }: Stability,
): Promise<StabilitySet> {
  const { index, value } = await state.write((transaction) => {
    const job = storedJob(transaction, namespace, jobId);
    const row = storedVersion(transaction, job, version);
    if (row.Stable === stable) return job;
    if (version !== job.Version) {
      transaction.table(jobVersions).put({ ...row, Stable: stable });
      return job;
    }
    changeJob(transaction, { ...job, Stable: stable });
    return transaction.table(jobs).get(...inNamespace(namespace, jobId))!;
  });
  return { JobModifyIndex: value.JobModifyIndex, Index: index };
}
