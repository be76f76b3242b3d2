import type { AllocationExplanation, JobProspect } from '../model/explanation/explanation.ts';
import { type Answer, type CallOptions, path, type Requester } from './requester.ts';

export interface WhyNotOptions extends CallOptions {
  /** The group; without it those that lack an allocation. */
  readonly group?: string | undefined;
  /** Whole id of the only node to tell of. */
  readonly node?: string | undefined;
}

/** Why the scheduler decided as it did. Source: docs/behaviour/scheduling.md#explanations. */
export interface Explanations {
  /** Why an allocation is on its node: every node's verdict and score. `id` is whole. */
  why(id: string, options?: CallOptions): Promise<Answer<AllocationExplanation>>;
  /** What stands in the way of what of a job is not placed. */
  whyNot(job: string, options?: WhyNotOptions): Promise<Answer<JobProspect>>;
}

export const explanationsOf = (requester: Requester): Explanations => ({
  why: (id, options) => requester.read(path`/v1/allocation/${id}/why`, options),
  whyNot: (job, options = {}) =>
    requester.read(path`/v1/job/${job}/why-not`, options, {
      group: options.group || undefined,
      node: options.node || undefined,
    }),
});
