import { type RosterError, violated } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import type { JobPolicy } from '../../model/job-policy/job-policy.ts';
import { describeViolation, type Violation, violations } from '../../model/job-policy/judge.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import { jobPolicies } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';

export interface PolicyOptions {
  /** `PolicyOverride` of a caller who may override: soft-mandatory policies only advise. */
  readonly override: boolean;
}

export interface PolicyVerdict {
  /** Sentences for `Warnings`. */
  readonly warnings: readonly string[];
  /** `job-policy-violated`, if a policy forbids the job. */
  readonly refusal: RosterError | undefined;
}

/**
 * Checks a canonical job, as it would be stored, against the job policies of its namespace. For
 * every request that changes what a job runs: register, update, plan, scale, revert. Running the
 * same job once more (dispatch, periodic launch, rollback of a failed deployment) is not checked.
 * Source: docs/contract/jobs.md#job-policies.
 */
export function checkJobPolicies(
  view: Snapshot,
  job: Job,
  { override }: PolicyOptions,
): PolicyVerdict {
  const against = violations(policiesFor(view, job.Namespace), job);
  const blocks = ({ level }: Violation): boolean =>
    level === 'hard-mandatory' || (level === 'soft-mandatory' && !override);
  if (!against.some(blocks))
    return { warnings: against.map(describeViolation), refusal: undefined };
  // Warnings are told with the refusal: otherwise they would be found only after the rest was put
  // right.
  const isSoft = against.filter(blocks).every(({ level }) => level === 'soft-mandatory');
  return { warnings: [], refusal: violated(job.ID, against.map(describeViolation), isSoft) };
}

/** Returns the warnings. @throws RosterError `job-policy-violated` */
export function requireJobPolicies(
  view: Snapshot,
  job: Job,
  options: PolicyOptions,
): readonly string[] {
  const { warnings, refusal } = checkJobPolicies(view, job, options);
  if (refusal !== undefined) throw refusal;
  return warnings;
}

/** In the order of their names. */
function policiesFor(view: Snapshot, namespace: string): readonly JobPolicy[] {
  const table = view.table(jobPolicies);
  if (table.size === 0) return [];
  const found = [everyNamespace, namespace].flatMap((one) => [
    ...table.by('namespace').scan({ prefix: [one] }),
  ]);
  return found.sort((left, right) => (left.Name < right.Name ? -1 : 1));
}
