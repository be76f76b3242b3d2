import {
  type AclPolicy,
  AclPolicySchema,
  AclPolicyStubSchema,
  policyStub,
} from '../../model/acl-policy/acl-policy.ts';
import type { AclPolicyInput } from '../../model/acl-policy/write.ts';
import { Type } from '../../model/schema.ts';
import {
  createPolicy,
  deletePolicy,
  missingPolicy,
  readPolicy,
  updatePolicy,
} from '../../server/acl/policies.ts';
import type { ServerContext } from '../../server/context.ts';
import { aclPolicies, inScope } from '../../state/tables.ts';
import { type Input, listRoute, type Route, readRoute, writeRoute } from '../route.ts';
import { aclList, aclRead, aclVisible, aclWrite, placedScan, prefixQuery, scopeOf } from './acl.ts';

type PolicyWrite = Input<Record<never, never>, AclPolicyInput>;

const family = 'registry';
const body = { schema: AclPolicySchema, unknown: 'refuse', checkValues: false } as const;

/** Source: docs/contract/access-control.md#policies. */
export function aclPolicyRoutes(context: ServerContext): Route[] {
  return [
    writeRoute({
      ...{ method: 'PUT', path: '/v1/acl/policy', noun: 'acl-policy', family, body },
      summary: 'Create a policy',
      answer: AclPolicySchema,
      permission: aclWrite,
      handle: (input: PolicyWrite) => createPolicy(context, scopeOf(input), input.body),
    }),
    writeRoute({
      ...{ method: 'PUT', path: '/v1/acl/policy/:policy_id', noun: 'acl-policy', family, body },
      summary: 'Replace a policy',
      answer: AclPolicySchema,
      permission: aclWrite,
      handle: (input: PolicyWrite) =>
        updatePolicy(context, scopeOf(input), input.parameters.policy_id!, input.body),
    }),
    writeRoute({
      ...{ method: 'DELETE', path: '/v1/acl/policy/:policy_id', noun: 'acl-policy', family },
      summary: 'Delete a policy',
      answer: Type.Boolean(),
      permission: aclWrite,
      handle: (input) => deletePolicy(context, scopeOf(input), input.parameters.policy_id!),
    }),
    readRoute({
      ...{ method: 'GET', path: '/v1/acl/policy/:policy_id', noun: 'acl-policy', family },
      summary: 'Read a policy',
      blocking: true,
      answer: AclPolicySchema,
      permission: aclRead,
      handle: (input) => {
        const id = input.parameters.policy_id!.toLowerCase();
        const policy = readPolicy(input.snapshot, scopeOf(input), id);
        if (policy === undefined) throw missingPolicy(id, input);
        return policy;
      },
    }),
    readRoute({
      ...{ method: 'GET', path: '/v1/acl/policy/name/:name+', noun: 'acl-policy', family },
      summary: 'Read a policy by its name',
      blocking: true,
      answer: AclPolicySchema,
      permission: aclRead,
      handle: (input) => {
        const name = input.parameters.name!;
        const named = input.snapshot.table(aclPolicies).by('name');
        for (const policy of named.scan({ prefix: inScope(input, name) })) return policy;
        throw missingPolicy(name, input);
      },
    }),
    listRoute({
      ...{ method: 'GET', path: '/v1/acl/policies', noun: 'acl-policy', family },
      summary: 'List policies',
      blocking: true,
      query: prefixQuery,
      answer: AclPolicyStubSchema,
      filterSchema: AclPolicyStubSchema,
      permission: aclList,
      rows: (input, page) =>
        input.snapshot.table(aclPolicies).scan(placedScan(input, page, input.query.prefix)),
      keyOf: ({ Partition, Namespace, ID }: AclPolicy) => [Partition, Namespace, ID],
      matches: ({ ID }, { query }) => ID.startsWith(query.prefix.toLowerCase()),
      visible: aclVisible,
      present: policyStub,
    }),
  ];
}
