/**
 * The version that a failed deployment rolls back to.
 * Source: docs/behaviour/deployments.md#failure-and-rollback.
 */
import type { Job } from '../job/job.ts';
import { isSameSpecification } from '../job/job-change.ts';

export type Rollback =
  | { readonly kind: 'to'; readonly target: Job }
  | { readonly kind: 'same' | 'not-allowed'; readonly version: number }
  | { readonly kind: 'none' };

/**
 * The highest stable version that is not a stop. Submitter and tags do not count as differences: a rollback
 * for their sake would change nothing that runs.
 */
export function rollbackOf(current: Job, versions: Iterable<Job>): Rollback {
  let target: Job | undefined;
  for (const version of versions) {
    const isCandidate =
      version.Stable && !version.Stop && version.CreateIndex === current.CreateIndex;
    if (isCandidate && version.Version > (target?.Version ?? -1)) target = version;
  }
  if (target === undefined) return { kind: 'none' };
  const { SchedulerTokenID, VersionTag } = current;
  return isSameSpecification(current, { ...target, SchedulerTokenID, VersionTag })
    ? { kind: 'same', version: target.Version }
    : { kind: 'to', target };
}

/**
 * The description of a failure. `reason` is one of `deploymentDescriptions`. `rollback` is `undefined` if the
 * job asks for none.
 */
export function failureDescription(reason: string, rollback: Rollback | undefined): string {
  switch (rollback?.kind) {
    case 'to':
      return `${reason} - rolling back to job version ${rollback.target.Version}`;
    case 'same':
      return `${reason} - not rolling back to stable job version ${rollback.version} as current job has same specification`;
    case 'not-allowed':
      return `${reason} - not rolling back to stable job version ${rollback.version}: its namespace does not allow that any more`;
    case 'none':
      return `${reason} - no stable job version to auto revert to`;
    default:
      return reason;
  }
}
