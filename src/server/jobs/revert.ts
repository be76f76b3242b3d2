import { refusal } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import type { ServerContext } from '../context.ts';
import { storedJob, storedVersion } from './find.ts';
import { type Registered, type Registration, registerJob } from './register.ts';

export interface Revert
  extends Pick<Registration, 'namespace' | 'accessor' | 'demand' | 'unknownFields'> {
  readonly jobId: string;
  readonly version: number;
  /** Guard: the version that the job is at. */
  readonly priorVersion: number | undefined;
  /** Whether soft-mandatory job policies are passed by. */
  readonly policyOverride: boolean;
}

/**
 * Registers the specification and the source of an earlier version as a new one, which passes every
 * check that any registration does. A version that was a stop stops the job.
 * Source: docs/contract/jobs.md#revert-stability-evaluation, docs/behaviour/jobs.md#revert.
 * @throws RosterError `job-not-found`, `version-is-current`, `job-version-not-found`,
 *   `job-version-conflict`, and what `registerJob` throws
 */
export async function revertJob(context: ServerContext, revert: Revert): Promise<Registered> {
  const { namespace, jobId, version, accessor } = revert;
  const head = context.state.head();
  const current = storedJob(head, namespace, jobId);
  guardVersion(current, revert);
  const target = storedVersion(head, current, version);
  return registerJob(context, {
    // The next number: that of the version itself would be taken for what the caller wants.
    job: { ...target, Version: 0, VersionTag: null },
    namespace,
    jobId,
    accessor,
    submission: undefined,
    sourceOf: version,
    unknownFields: revert.unknownFields,
    enforceIndex: undefined,
    evaluationPriority: 0,
    preserveCounts: false,
    preserveResources: false,
    policyOverride: revert.policyOverride,
    ...(revert.demand && { demand: revert.demand }),
    guard: (transaction) => {
      const stored = storedJob(transaction, namespace, jobId);
      guardVersion(stored, revert);
      storedVersion(transaction, stored, version);
      if (stored.CreateIndex === current.CreateIndex) return;
      // Another job has the id by now, and what was read is none of its versions.
      throw refusal('job-version-not-found', { job: jobId, version });
    },
  });
}

function guardVersion(current: Job, { jobId, version, priorVersion }: Revert): void {
  if (priorVersion !== undefined && priorVersion !== current.Version) {
    const actual = current.Version;
    throw refusal('job-version-conflict', { job: jobId, version: priorVersion, actual });
  }
  if (version === current.Version) throw refusal('version-is-current', { job: jobId, version });
}
