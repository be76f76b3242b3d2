import type { explanationEndpoints } from '../contract/explanation.ts';
import { callsOf } from './calls.ts';
import type { CallOptions, Requester } from './requester.ts';

export interface WhyNotOptions extends CallOptions {
  /** By default the groups that lack an allocation. */
  readonly group?: string | undefined;
  /** The complete id of a node, to explain that node only. */
  readonly node?: string | undefined;
}

/** The scheduler's reasons. Source: docs/behaviour/scheduling.md#explanations. */
export type Explanations = ReturnType<typeof explanationsOf>;

export function explanationsOf(requester: Requester) {
  const { read } = callsOf<typeof explanationEndpoints>(requester);
  return {
    /** The verdict on every node and its score. `id` has to be complete. */
    why: (id: string, options?: CallOptions) =>
      read('GET /v1/allocation/:alloc_id/why', { alloc_id: id }, options),
    /** The reasons why allocations of a job are not placed. */
    whyNot: (job: string, options: WhyNotOptions = {}) =>
      read('GET /v1/job/:job_id+/why-not', { job_id: job }, options, {
        group: options.group || undefined,
        node: options.node || undefined,
      }),
  };
}
