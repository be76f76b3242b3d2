import { AclPolicySchema } from '../model/acl-policy/acl-policy.ts';
import { AclRoleSchema } from '../model/acl-role/acl-role.ts';
import {
  AclTokenFilterSchema,
  AclTokenInputSchema,
  AclTokenSchema,
  type PresentedAclToken,
} from '../model/acl-token/acl-token.ts';
import { limits } from '../model/limits.ts';
import { LinkSchema } from '../model/namespace/namespace.ts';
import { FullList, List, Text, Type } from '../model/schema.ts';
import { aclList, aclRead, aclWrite } from './acl.ts';
import { endpoints, typed } from './endpoint.ts';
import { nothing, underAccessControl } from './needs.ts';
import { flag, idPrefix, text } from './query.ts';
import { sortsOf } from './sorts.ts';

export const aclBootstrapEndpoints = endpoints(
  { group: 'acl', noun: 'acl-token', family: 'registry' },
  {
    bootstrap: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/bootstrap',
      summary: 'Create the first token, which has all permissions',
      body: {
        schema: Type.Object({ BootstrapSecret: Text() }),
        unknown: 'refuse',
        optional: true,
      },
      answer: Type.Object({ ...AclTokenSchema.properties, ID: Text() }),
      permission: underAccessControl(nothing),
    },
  },
);

/** Only namespace, partition and description are read; a whole token may be sent. */
const CloneSchema = Type.Object({
  ...AclTokenInputSchema.properties,
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
});

const ExpandedTokenSchema = Type.Object({
  ...AclTokenSchema.properties,
  ExpandedPolicies: Type.Optional(FullList(AclPolicySchema)),
  ExpandedRoles: Type.Optional(FullList(AclRoleSchema)),
  NamespaceDefaultPolicies: Type.Optional(List(LinkSchema)),
  NamespaceDefaultRoles: Type.Optional(List(LinkSchema)),
  AgentACLDefaultPolicy: Type.Optional(Text()),
  AgentACLDownPolicy: Type.Optional(Text()),
  ResolvedByAgent: Type.Optional(Text()),
});

const body = {
  example: { Description: 'The web team', Policies: [{ Name: 'web-read' }] },
  schema: AclTokenInputSchema,
  unknown: 'refuse',
  checkValues: false,
} as const;

export const listQuery = {
  ...idPrefix,
  policy: text('The id of a linked policy.'),
  role: text('The id of a linked role.'),
  servicename: text('The name of a service identity.'),
  authmethod: text('The auth method of their login.'),
  'authmethod-ns': text('The namespace of that auth method; by default that of the request.'),
} as const;

export const aclTokenEndpoints = endpoints(
  { group: 'acl-tokens', noun: 'acl-token', family: 'registry' },
  {
    create: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/token',
      summary: 'Create a token',
      body,
      answer: typed<PresentedAclToken>(AclTokenSchema),
      permission: aclWrite,
    },
    readSelf: {
      kind: 'read',
      path: '/v1/acl/token/self',
      summary: "Read the caller's own token",
      blocking: true,
      answer: typed<PresentedAclToken>(AclTokenSchema),
      permission: underAccessControl(nothing),
    },
    read: {
      kind: 'read',
      path: '/v1/acl/token/:accessor_id',
      summary: 'Read a token',
      blocking: true,
      query: {
        expanded: flag('Include every policy and role that affects the token.'),
      },
      answer: ExpandedTokenSchema,
      permission: aclRead,
    },
    update: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/token/:accessor_id',
      summary: 'Replace the changeable fields of a token',
      body,
      answer: typed<PresentedAclToken>(AclTokenSchema),
      permission: aclWrite,
    },
    clone: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/token/:accessor_id/clone',
      summary: 'Clone a token',
      body: { schema: CloneSchema, unknown: 'refuse', optional: true },
      answer: typed<PresentedAclToken>(AclTokenSchema),
      permission: aclWrite,
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/acl/token/:accessor_id',
      summary: 'Delete a token',
      answer: Type.Boolean(),
      permission: aclWrite,
    },
    list: {
      kind: 'list',
      path: '/v1/acl/tokens',
      summary: 'List tokens',
      blocking: true,
      query: listQuery,
      answer: typed<PresentedAclToken>(AclTokenSchema),
      filter: AclTokenFilterSchema,
      sorts: sortsOf.tokens,
      permission: aclList,
    },
  },
);
