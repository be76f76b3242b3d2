import {
  type AclPolicy,
  AclPolicySchema,
  AclPolicyStubSchema,
} from '../model/acl-policy/acl-policy.ts';
import type { AclPolicyInput } from '../model/acl-policy/write.ts';
import { Type } from '../model/schema.ts';
import { aclList, aclRead, aclWrite } from './acl.ts';
import { endpoints, typed } from './endpoint.ts';
import { idPrefix } from './query.ts';
import { sortsOf } from './sorts.ts';

const body = {
  example: { Name: 'web-read', Rules: 'namespace "default" { policy = "read" }' },
  schema: typed<AclPolicyInput>(AclPolicySchema),
  unknown: 'refuse',
  checkValues: false,
} as const;
const answer = typed<AclPolicy>(AclPolicySchema);

export const aclPolicyEndpoints = endpoints(
  { group: 'acl-policies', noun: 'acl-policy', family: 'registry' },
  {
    create: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/policy',
      summary: 'Create a policy',
      body,
      answer,
      permission: aclWrite,
    },
    update: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/policy/:policy_id',
      summary: 'Replace a policy',
      body,
      answer,
      permission: aclWrite,
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/acl/policy/:policy_id',
      summary: 'Delete a policy',
      answer: Type.Boolean(),
      permission: aclWrite,
    },
    read: {
      kind: 'read',
      path: '/v1/acl/policy/:policy_id',
      summary: 'Read a policy',
      blocking: true,
      answer,
      permission: aclRead,
    },
    readNamed: {
      kind: 'read',
      path: '/v1/acl/policy/name/:name+',
      summary: 'Read a policy by its name',
      blocking: true,
      answer,
      permission: aclRead,
    },
    list: {
      kind: 'list',
      path: '/v1/acl/policies',
      summary: 'List policies',
      blocking: true,
      query: idPrefix,
      answer: AclPolicyStubSchema,
      filter: AclPolicyStubSchema,
      sorts: sortsOf.policies,
      permission: aclList,
    },
  },
);
