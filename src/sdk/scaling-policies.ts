import type {
  RegisteredPolicy,
  ScalingPolicyStub,
} from '../model/scaling-policy/registered-policy.ts';
import {
  type Answer,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export interface ScalingPolicies {
  list(
    options?: ListOptions & {
      /** Of this job alone. */
      readonly job?: string | undefined;
      readonly type?: string | undefined;
    },
  ): Promise<Answer<readonly ScalingPolicyStub[]>>;
  read(id: string, options?: ReadOptions): Promise<Answer<RegisteredPolicy>>;
}

export const scalingPoliciesOf = (requester: Requester): ScalingPolicies => ({
  list: (options = {}) =>
    requester.read('/v1/scaling/policies', options, {
      ...listQuery(options),
      job: options.job || undefined,
      type: options.type || undefined,
    }),
  read: (id, options) => requester.read(path`/v1/scaling/policy/${id}`, options),
});
