import { limits } from '../limits.ts';
import { everyNamespace } from '../namespace/namespace.ts';
import { Choice, type Input, type Model, stamps, Text, Type } from '../schema.ts';

export const enforcementLevels = ['advisory', 'soft-mandatory', 'hard-mandatory'] as const;
export type EnforcementLevel = (typeof enforcementLevels)[number];

/**
 * A rule for every job that is registered, updated, planned, scaled or reverted in its namespace (`*`: in
 * all). Source: docs/contract/jobs.md#job-policies.
 */
export const JobPolicySchema = Type.Object({
  Name: Text(),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
  Namespace: Text({ default: everyNamespace }),
  /** `advisory` warns, `soft-mandatory` can be overridden, `hard-mandatory` never. */
  EnforcementLevel: Choice(enforcementLevels),
  Scope: Choice(['submit-job'], 'submit-job'),
  /** A filter expression over the job as the API shows it. */
  Rule: Text({ maxLength: limits.jobPolicy.ruleLengthMax }),
  /** Told to the submitter of a job that violates the policy. */
  Message: Text({ maxLength: limits.jobPolicy.messageLengthMax }),
  ...stamps,
});
export interface JobPolicy extends Model<typeof JobPolicySchema> {}
export type JobPolicyRequest = Input<JobPolicy>;
