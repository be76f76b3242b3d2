import { allOf, anyOf, namespaceCapability } from '../model/permission/permission.ts';
import type { ScalingPolicyStub } from '../model/scaling-policy/registered-policy.ts';
import {
  type RegisteredPolicy,
  RegisteredPolicySchema,
  ScalingPolicyStubSchema,
} from '../model/scaling-policy/registered-policy.ts';
import { endpoints, typed } from './endpoint.ts';
import type { Asked } from './needs.ts';
import { capability, decided, either, every, listing } from './needs.ts';

/** `capability`, or the rights to read the jobs of the namespace. */
export const maySeePolicies = (capability: string, namespace: string) =>
  anyOf(
    namespaceCapability(namespace, capability),
    allOf(...['list-jobs', 'read-job'].map((one) => namespaceCapability(namespace, one))),
  );

const readsPolicy = decided(
  '`namespace:read-scaling-policy`, or `namespace:list-jobs` and `namespace:read-job`, in the namespace of the policy',
  ({ namespace }: Asked, found: Pick<RegisteredPolicy, 'Namespace'> | undefined) =>
    maySeePolicies('read-scaling-policy', found?.Namespace ?? namespace),
);

export const scalingPolicyEndpoints = endpoints(
  { group: 'scaling-policies', noun: 'scaling policy', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/scaling/policies',
      summary: 'List the scaling policies of jobs',
      blocking: true,
      query: {
        job: { kind: 'string', default: '', description: 'Of this job alone.' },
        type: { kind: 'string', default: '', description: 'Of this type alone.' },
      },
      answer: typed<ScalingPolicyStub>(ScalingPolicyStubSchema),
      filter: RegisteredPolicySchema,
      permission: listing(
        either(
          capability('list-scaling-policies'),
          every(capability('list-jobs'), capability('read-job')),
        ),
      ),
    },
    read: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/scaling/policy/:policy_id',
      summary: 'Read a scaling policy',
      blocking: true,
      answer: typed<RegisteredPolicy>(RegisteredPolicySchema),
      permission: readsPolicy,
    },
  },
);
