import { scalingPolicyEndpoints as contract } from '../../contract/scaling-policy.ts';
import { refusal } from '../../model/errors.ts';
import { defaultPartition, everyNamespace } from '../../model/namespace/namespace.ts';
import {
  type RegisteredPolicy,
  scalingPolicyStub,
} from '../../model/scaling-policy/registered-policy.ts';
import { inNamespace, scalingPolicies } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { scanPage } from '../list.ts';
import type { Route } from '../route.ts';
import { serveList, serveRead } from '../serve.ts';

export const scalingPolicyRoutes = (): Route[] => [
  ...serveList(contract.list, {
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
    present: scalingPolicyStub,
  }),
  ...serveRead(
    contract.read,
    ({ parameters, namespace, snapshot }) => {
      const id = parameters.policy_id!;
      const found = policyById(snapshot, id, namespace);
      if (found === undefined) throw refusal('scaling-policy-not-found', { id });
      return found;
    },
    {
      found: ({ parameters, namespace, unwatched }) =>
        policyById(unwatched, parameters.policy_id, namespace),
      answersRow: true,
    },
  ),
];

/** If two namespaces have a policy with this id, the namespace of the request decides. */
function policyById(snapshot: Snapshot, id: string, namespace: string) {
  const found = [
    ...snapshot
      .table(scalingPolicies)
      .by('id')
      .scan({ prefix: [id] }),
  ];
  return found.find(({ Namespace }) => Namespace === namespace) ?? found[0];
}
