import type { scalingPolicyEndpoints } from '../contract/scaling-policy.ts';
import { callsOf } from './calls.ts';
import { type ListOptions, listQuery, type ReadOptions, type Requester } from './requester.ts';

export type ScalingPolicies = ReturnType<typeof scalingPoliciesOf>;

export function scalingPoliciesOf(requester: Requester) {
  const { read } = callsOf<typeof scalingPolicyEndpoints>(requester);
  return {
    list: (
      options: ListOptions & {
        readonly job?: string | undefined;
        readonly type?: string | undefined;
      } = {},
    ) =>
      read('GET /v1/scaling/policies', {}, options, {
        ...listQuery(options),
        job: options.job || undefined,
        type: options.type || undefined,
      }),
    read: (id: string, options?: ReadOptions) =>
      read('GET /v1/scaling/policy/:policy_id', { policy_id: id }, options),
  };
}
