import type { JobPolicy, JobPolicyRequest } from '../model/job-policy/job-policy.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

/** `cas`: only if the policy has that `ModifyIndex`; 0: only if there is none. */
interface Guarded extends CallOptions {
  readonly cas?: number | undefined;
}

export interface JobPolicies {
  list(options?: ListOptions): Promise<Answer<readonly JobPolicy[]>>;
  read(name: string, options?: ReadOptions): Promise<Answer<JobPolicy>>;
  /** Makes it, or replaces it. */
  write(name: string, policy: JobPolicyRequest, options?: Guarded): Promise<Answer<JobPolicy>>;
  delete(name: string, options?: Guarded): Promise<Answer<boolean>>;
}

export const jobPoliciesOf = (requester: Requester): JobPolicies => ({
  list: (options = {}) => requester.read('/v1/job-policies', options, listQuery(options)),
  read: (name, options) => requester.read(path`/v1/job-policy/${name}`, options),
  write: (name, policy, options = {}) =>
    requester.write('PUT', path`/v1/job-policy/${name}`, options, policy, { cas: options.cas }),
  delete: (name, options = {}) =>
    requester.write('DELETE', path`/v1/job-policy/${name}`, options, undefined, {
      cas: options.cas,
    }),
});
