import { aclPolicyEndpoints as contract } from '../../contract/acl-policy.ts';
import { policyStub } from '../../model/acl-policy/acl-policy.ts';
import {
  createPolicy,
  deletePolicy,
  missingPolicy,
  readPolicy,
  updatePolicy,
} from '../../server/acl/policies.ts';
import type { ServerContext } from '../../server/context.ts';
import { aclPolicies, inScope } from '../../state/tables.ts';
import type { Route } from '../route.ts';
import { serveList, serveRead, serveWrite } from '../serve.ts';
import { placedScan, scopeOf } from './acl.ts';

export const aclPolicyRoutes = (context: ServerContext): Route[] => [
  ...serveWrite(contract.create, (input) => createPolicy(context, scopeOf(input), input.body)),
  ...serveWrite(contract.update, (input) =>
    updatePolicy(context, scopeOf(input), input.parameters.policy_id, input.body),
  ),
  ...serveWrite(contract.delete, (input) =>
    deletePolicy(context, scopeOf(input), input.parameters.policy_id),
  ),
  ...serveRead(contract.read, (input) => {
    const id = input.parameters.policy_id.toLowerCase();
    const policy = readPolicy(input.snapshot, scopeOf(input), id);
    if (policy === undefined) throw missingPolicy(id, input);
    return policy;
  }),
  ...serveRead(contract.readNamed, (input) => {
    const { name } = input.parameters;
    const named = input.snapshot.table(aclPolicies).by('name');
    for (const policy of named.scan({ prefix: inScope(input, name) })) return policy;
    throw missingPolicy(name, input);
  }),
  ...serveList(contract.list, {
    rows: (input, page) =>
      input.snapshot.table(aclPolicies).scan(placedScan(input, page, input.query.prefix)),
    keyOf: ({ Partition, Namespace, ID }) => [Partition, Namespace, ID],
    matches: ({ ID }, { query }) => ID.startsWith(query.prefix.toLowerCase()),
    present: policyStub,
  }),
];
