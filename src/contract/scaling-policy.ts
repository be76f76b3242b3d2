import { allOf, anyOf, namespaceCapability } from '../model/permission/permission.ts';
import {
  type RegisteredPolicy,
  RegisteredPolicySchema,
  type ScalingPolicyStub,
  ScalingPolicyStubSchema,
} from '../model/scaling-policy/registered-policy.ts';
import { endpoints, typed } from './endpoint.ts';
import {
  type Asked,
  capability,
  decided,
  either,
  every,
  type InNamespace,
  listing,
} from './needs.ts';
import { text } from './query.ts';

const readsPolicy = decided(
  '`namespace:read-scaling-policy`, or `namespace:list-jobs` and `namespace:read-job`, in the namespace of the policy',
  (asked: Asked, found: InNamespace | undefined) => {
    const may = (name: string) => namespaceCapability(found?.Namespace ?? asked.namespace, name);
    return anyOf(may('read-scaling-policy'), allOf(may('list-jobs'), may('read-job')));
  },
);

export const scalingPolicyEndpoints = endpoints(
  { group: 'scaling-policies', noun: 'scaling policy', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      path: '/v1/scaling/policies',
      summary: 'List the scaling policies of jobs',
      blocking: true,
      query: {
        job: text('Only policies of this job.'),
        type: text('Only policies of this type.'),
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
      path: '/v1/scaling/policy/:policy_id',
      summary: 'Read a scaling policy',
      blocking: true,
      answer: typed<RegisteredPolicy>(RegisteredPolicySchema),
      permission: readsPolicy,
    },
  },
);
