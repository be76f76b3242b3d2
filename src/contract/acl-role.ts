import {
  AclRoleSchema,
  type ListedAclRole,
  ListedAclRoleSchema,
  type PresentedAclRole,
} from '../model/acl-role/acl-role.ts';
import { Type } from '../model/schema.ts';
import { aclList, aclRead, aclWrite } from './acl.ts';
import { endpoints, typed } from './endpoint.ts';
import { idPrefix, text } from './query.ts';
import { sortsOf } from './sorts.ts';

const body = {
  example: { Name: 'web-team', Policies: [{ Name: 'web-read' }] },
  schema: AclRoleSchema,
  unknown: 'refuse',
  checkValues: false,
} as const;

export const aclRoleEndpoints = endpoints(
  { group: 'acl-roles', noun: 'acl-role', family: 'registry' },
  {
    create: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/role',
      summary: 'Create a role',
      body,
      answer: typed<PresentedAclRole>(AclRoleSchema),
      permission: aclWrite,
    },
    update: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/role/:role_id',
      summary: 'Replace a role',
      body,
      answer: typed<PresentedAclRole>(AclRoleSchema),
      permission: aclWrite,
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/acl/role/:role_id',
      summary: 'Delete a role',
      answer: Type.Boolean(),
      permission: aclWrite,
    },
    read: {
      kind: 'read',
      path: '/v1/acl/role/:role_id',
      summary: 'Read a role',
      blocking: true,
      answer: typed<PresentedAclRole>(AclRoleSchema),
      permission: aclRead,
    },
    readNamed: {
      kind: 'read',
      path: '/v1/acl/role/name/:name',
      summary: 'Read a role by its name',
      blocking: true,
      answer: typed<PresentedAclRole>(AclRoleSchema),
      permission: aclRead,
    },
    list: {
      kind: 'list',
      path: '/v1/acl/roles',
      summary: 'List roles',
      blocking: true,
      query: {
        ...idPrefix,
        policy: text('The id of a linked policy.'),
      },
      answer: typed<ListedAclRole>(ListedAclRoleSchema),
      filter: AclRoleSchema,
      sorts: sortsOf.roles,
      permission: aclList,
    },
  },
);
