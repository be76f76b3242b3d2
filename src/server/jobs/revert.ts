import { refusal } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import type { ActContext } from '../context.ts';
import { storedJob, storedVersion } from './find.ts';
import { type Registered, type Registration, registerJob } from './register.ts';

export interface Revert
  extends Pick<Registration, 'namespace' | 'accessor' | 'demand' | 'unknownFields'> {
  readonly jobId: string;
  readonly version: number;
  /** Guard: the current version of the job. */
  readonly priorVersion: number | undefined;
  /** Soft-mandatory job policies only advise. */
  readonly policyOverride: boolean;
}

/**
 * Registers specification and source of an earlier version as a new version, which passes all
 * checks of a registration. Reverting to a stopped version stops the job.
 * Source: docs/contract/jobs.md#revert-stability-evaluation, docs/behaviour/jobs.md#revert.
 * @throws RosterError `job-not-found`, `version-is-current`, `job-version-not-found`,
 * `job-version-conflict`, and errors of `registerJob`
 */
export async function revertJob(context: ActContext, revert: Revert): Promise<Registered> {
  const { namespace, jobId, version, accessor } = revert;
  const head = context.state.head();
  const current = storedJob(head, namespace, jobId);
  guardVersion(current, revert);
  const target = storedVersion(head, current, version);
  return registerJob(context, {
    // The registration gives it the next number: a version given here would be taken as the
    // caller's.
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
      // Another job has the id by now, and the earlier version is not one of its versions.
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
