import { instantFromMs } from '../../base/instant.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import { failureDescription, type Rollback, rollbackOf } from '../../model/deployment/rollback.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import { deployments, inNamespace, jobVersions } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { carrySubmission, writeVersion } from '../jobs/register.ts';
import { notAllowedIn } from '../namespaces/capabilities.ts';
import { refreshJobStatus } from '../scheduling/job-status.ts';
import { evaluateDeployment } from './evaluate.ts';
import { jobOfDeployment } from './find.ts';

export interface Failure {
  readonly deployment: Deployment;
  /** One of `deploymentDescriptions`. */
  readonly reason: string;
  /** The groups at fault: with `AutoRevert` on any of them the job is reverted. */
  readonly groups: readonly string[];
}

export interface FailureOutcome {
  /** Absent: the job is gone. */
  readonly evaluation: Evaluation | undefined;
  /** The version that the job was reverted to. */
  readonly revertedVersion: number | null;
}

/**
 * Ends the deployment as failed and, if a group at fault has `AutoRevert`, registers the job's last
 * stable version as a new version. Source: docs/behaviour/deployments.md#failure-and-rollback.
 */
export function failDeployment(
  transaction: Transaction,
  world: ServerContext['world'],
  { deployment, reason, groups }: Failure,
): FailureOutcome {
  const nowMs = world.clock.nowMs();
  const job = jobOfDeployment(transaction, deployment);
  const rollback = job && rollbackFor(transaction, deployment, job, groups);
  const after = transaction.table(deployments).put({
    ...deployment,
    Status: 'failed',
    StatusDescription: failureDescription(reason, rollback),
    ModifyTime: instantFromMs(nowMs),
  });
  if (job === undefined) return { evaluation: undefined, revertedVersion: null };
  const current = rollback?.kind === 'to' ? revert(transaction, job, rollback.target, nowMs) : job;
  const evaluation = evaluateDeployment(transaction, world, after, current);
  refreshJobStatus(transaction, job.Namespace, job.ID);
  return {
    evaluation,
    revertedVersion: rollback?.kind === 'to' ? rollback.target.Version : null,
  };
}

/** A job that was registered or stopped since is not reverted. */
function rollbackFor(
  transaction: Transaction,
  { TaskGroups, JobVersion }: Deployment,
  job: Job,
  groups: readonly string[],
): Rollback | undefined {
  const isWanted = Object.entries(TaskGroups).some(
    ([name, { AutoRevert }]) => AutoRevert && groups.includes(name),
  );
  if (!isWanted || job.Stop || job.Version !== JobVersion) return undefined;
  const prefix = inNamespace(job.Namespace, job.ID);
  const found = rollbackOf(job, transaction.table(jobVersions).scan({ prefix }));
  const isAllowed = found.kind !== 'to' || notAllowedIn(transaction, found.target).length === 0;
  return isAllowed ? found : { kind: 'not-allowed', version: found.target.Version };
}

/**
 * Stores specification and source of the target as a new version.
 * Source: docs/behaviour/jobs.md#stable-versions.
 */
function revert(transaction: Transaction, current: Job, target: Job, nowMs: number): Job {
  const { Version, ...stored } = target;
  const job = writeVersion(transaction, {
    ...stored,
    Version: current.Version + 1,
    VersionTag: null,
    Stable: false,
    Status: current.Status,
    StatusDescription: current.StatusDescription,
    SubmitTime: instantFromMs(nowMs),
  });
  carrySubmission(transaction, job, Version);
  return job;
}
