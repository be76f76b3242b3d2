import type { explanationEndpoints } from '../contract/explanation.ts';
import { callsOf } from './calls.ts';
import type { CallOptions, Requester } from './requester.ts';

export interface WhyNotOptions extends CallOptions {
  /** The group; without it those that lack an allocation. */
  readonly group?: string | undefined;
  /** Whole id of the only node to tell of. */
  readonly node?: string | undefined;
}

/** Why the scheduler decided as it did. Source: docs/behaviour/scheduling.md#explanations. */
export type Explanations = ReturnType<typeof explanationsOf>;

export function explanationsOf(requester: Requester) {
  const { read } = callsOf<typeof explanationEndpoints>(requester);
  return {
    /** Why an allocation is on its node: every node's verdict and score. `id` is whole. */
    why: (id: string, options?: CallOptions) =>
      read('GET /v1/allocation/:alloc_id/why', { alloc_id: id }, options),
    /** What stands in the way of what of a job is not placed. */
    whyNot: (job: string, options: WhyNotOptions = {}) =>
      read('GET /v1/job/:job_id+/why-not', { job_id: job }, options, {
        group: options.group || undefined,
        node: options.node || undefined,
      }),
  };
}
