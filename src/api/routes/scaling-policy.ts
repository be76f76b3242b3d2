import { refusal } from '../../model/errors.ts';
import { defaultPartition, everyNamespace } from '../../model/namespace/namespace.ts';
import { allOf, anyOf, namespaceCapability } from '../../model/permission/permission.ts';
import {
  type RegisteredPolicy,
  RegisteredPolicySchema,
  ScalingPolicyStubSchema,
  scalingPolicyStub,
} from '../../model/scaling-policy/registered-policy.ts';
import { inNamespace, scalingPolicies } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { scanPage } from '../list.ts';
import { listRoute, type Route, readRoute } from '../route.ts';

const noun = 'scaling policy';

const maySee = (capability: string, namespace: string) =>
  anyOf(
    namespaceCapability(namespace, capability),
    allOf(...['list-jobs', 'read-job'].map((one) => namespaceCapability(namespace, one))),
  );

/** What jobs say about how they are scaled. */
export const scalingPolicyRoutes = (): Route[] => [
  listRoute({
    ...{ method: 'GET', path: '/v1/scaling/policies', noun },
    summary: 'List the scaling policies of jobs',
    blocking: true,
    query: {
      job: { kind: 'string', default: '', description: 'Of this job alone.' },
      type: { kind: 'string', default: '', description: 'Of this type alone.' },
    },
    answer: ScalingPolicyStubSchema,
    filterSchema: RegisteredPolicySchema,
    permission: ({ namespace }) =>
      namespace === everyNamespace ? { kind: 'open' } : maySee('list-scaling-policies', namespace),
    rows: ({ namespace, query, snapshot }, page) => {
      const ofJob = query.job === '' ? [] : [query.job];
      const isEvery = namespace === everyNamespace;
      const prefix = isEvery ? [defaultPartition] : inNamespace(namespace, ...ofJob);
      return snapshot.table(scalingPolicies).scan({ prefix, ...scanPage(page) });
    },
    keyOf: (policy: RegisteredPolicy) => {
      const { Job = '', Group = '', Task = '' } = policy.Target;
      return [policy.Namespace, Job, Group, Task, policy.ID];
    },
    matches: ({ Target, Type }, { query }) =>
      (query.job === '' || Target.Job === query.job) && (query.type === '' || Type === query.type),
    visible: ({ Namespace }) => maySee('list-scaling-policies', Namespace),
    present: scalingPolicyStub,
  }),
  readRoute({
    ...{ method: 'GET', path: '/v1/scaling/policy/:policy_id', noun },
    summary: 'Read a scaling policy',
    blocking: true,
    answersRow: true,
    answer: RegisteredPolicySchema,
    permission: ({ parameters, namespace, unwatched }) => {
      const found = policyById(unwatched, parameters.policy_id!, namespace);
      return maySee('read-scaling-policy', found?.Namespace ?? namespace);
    },
    handle: ({ parameters, namespace, snapshot }) => {
      const id = parameters.policy_id!;
      const found = policyById(snapshot, id, namespace);
      if (found === undefined) throw refusal('scaling-policy-not-found', { id });
      return found;
    },
  }),
];

/** Should two have the same id, that of the namespace that is asked in. */
function policyById(snapshot: Snapshot, id: string, namespace: string) {
  const found = [
    ...snapshot
      .table(scalingPolicies)
      .by('id')
      .scan({ prefix: [id] }),
  ];
  return found.find(({ Namespace }) => Namespace === namespace) ?? found[0];
}
