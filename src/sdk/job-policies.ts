import type { jobPolicyEndpoints } from '../contract/job-policy.ts';
import type { JobPolicyRequest } from '../model/job-policy/job-policy.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';

/** `cas`: only if the policy has this `ModifyIndex`; 0: only if there is none. */
interface Guarded extends CallOptions {
  readonly cas?: number | undefined;
}

export type JobPolicies = ReturnType<typeof jobPoliciesOf>;

export function jobPoliciesOf(requester: Requester) {
  const { read, write } = callsOf<typeof jobPolicyEndpoints>(requester);
  return {
    list: (options: ListOptions = {}) =>
      read('GET /v1/job-policies', {}, options, listQuery(options)),
    read: (name: string, options?: ReadOptions) =>
      read('GET /v1/job-policy/:name', { name }, options),
    /** Creates or replaces the policy. */
    write: (name: string, policy: JobPolicyRequest, options: Guarded = {}) =>
      write('PUT /v1/job-policy/:name', { name }, options, {
        body: policy,
        query: { cas: options.cas },
      }),
    delete: (name: string, options: Guarded = {}) =>
      write('DELETE /v1/job-policy/:name', { name }, options, {
        query: {
          cas: options.cas,
        },
      }),
  };
}
