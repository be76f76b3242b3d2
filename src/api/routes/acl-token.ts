import type { DefaultPolicy } from '../../acl/authorizer.ts';
import { AclPolicySchema } from '../../model/acl-policy/acl-policy.ts';
import { AclRoleSchema } from '../../model/acl-role/acl-role.ts';
import {
  type AclToken,
  AclTokenFilterSchema,
  AclTokenInputSchema,
  AclTokenSchema,
  anonymousAccessorId,
  hiddenSecretId,
  isExpired,
} from '../../model/acl-token/acl-token.ts';
import { shownToken, TokenRecord } from '../../model/acl-token/present.ts';
import type { TokenRequest } from '../../model/acl-token/write.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { everyNamespace, LinkSchema } from '../../model/namespace/namespace.ts';
import { resourceAccess } from '../../model/permission/permission.ts';
import { List, Text, Type } from '../../model/schema.ts';
import { expandToken } from '../../server/acl/expand.ts';
import {
  cloneToken,
  createToken,
  deleteToken,
  requireToken,
  updateToken,
} from '../../server/acl/tokens.ts';
import type { ServerContext } from '../../server/context.ts';
import { aclTokens } from '../../state/tables.ts';
import type { Snapshot, Written } from '../../state/types.ts';
import { type Input, listRoute, type Route, readRoute, type Scope, writeRoute } from '../route.ts';
import {
  aclList,
  aclRead,
  aclVisible,
  aclWrite,
  namesIn,
  placedScan,
  prefixQuery,
  requireAcl,
  scopeOf,
} from './acl.ts';

type NoQuery = Record<never, never>;
type TokenWrite = Input<NoQuery, TokenRequest>;

/** Whoever sends the token that was read back means its place and description: the rest is copied. */
const CloneSchema = Type.Object({
  ...AclTokenInputSchema.properties,
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
});
type CloneWrite = Input<NoQuery, { readonly Description?: string }>;

const ExpandedTokenSchema = Type.Object({
  ...AclTokenSchema.properties,
  ExpandedPolicies: Type.Optional(List(AclPolicySchema)),
  ExpandedRoles: Type.Optional(List(AclRoleSchema)),
  NamespaceDefaultPolicies: Type.Optional(List(LinkSchema)),
  NamespaceDefaultRoles: Type.Optional(List(LinkSchema)),
  AgentACLDefaultPolicy: Type.Optional(Text()),
  AgentACLDownPolicy: Type.Optional(Text()),
  ResolvedByAgent: Type.Optional(Text()),
});
const family = 'registry';
const noun = 'acl-token';
const body = { schema: AclTokenInputSchema, unknown: 'refuse', checkValues: false } as const;

const listQuery = {
  ...prefixQuery,
  policy: { kind: 'string', default: '', description: 'Id of a policy that they link.' },
  role: { kind: 'string', default: '', description: 'Id of a role that they link.' },
  servicename: { kind: 'string', default: '', description: 'Name of a service identity.' },
  authmethod: { kind: 'string', default: '', description: 'The auth method that made them.' },
  'authmethod-ns': {
    kind: 'string',
    default: '',
    description: 'The namespace of that auth method; the default is that of the request.',
  },
} as const;

/** The server that answers, as an expanded token tells of it. */
export interface AnsweringAgent {
  readonly name: string;
  readonly defaultPolicy: DefaultPolicy;
}

/** Source: docs/contract/access-control.md#tokens. */
export function aclTokenRoutes(context: ServerContext, agent: AnsweringAgent): Route[] {
  const nowMs = () => context.world.clock.nowMs();
  const inClear = (token: AclToken, snapshot: Snapshot) => ({
    ...shownToken(token, namesIn(snapshot)),
    SecretID: context.box.open(token.SecretSealed),
  });
  const redacted = (token: AclToken, { allows, snapshot }: Scope) => {
    const { Namespace: namespace, Partition: partition } = token;
    return allows(resourceAccess('acl', 'write', { namespace, partition }))
      ? inClear(token, snapshot)
      : { ...shownToken(token, namesIn(snapshot)), SecretID: hiddenSecretId };
  };
  const written = ({ index, value }: Written<AclToken>) => ({
    index,
    value: inClear(value, context.state.read()),
  });
  return [
    writeRoute({
      ...{ method: 'PUT', path: '/v1/acl/token', noun, family, body },
      summary: 'Create a token',
      answer: AclTokenSchema,
      permission: aclWrite,
      handle: async (input: TokenWrite) =>
        written(await createToken(context, scopeOf(input), input.body, input)),
    }),
    readRoute({
      ...{ method: 'GET', path: '/v1/acl/token/self', noun, family },
      summary: 'Read the token that asks',
      blocking: true,
      answer: AclTokenSchema,
      permission: (input) => {
        requireAcl(input);
        return { kind: 'open' };
      },
      handle: ({ caller, snapshot }) => {
        const accessor =
          caller.kind === 'token'
            ? caller.accessor
            : caller.kind === 'anonymous'
              ? anonymousAccessorId
              : undefined;
        // What a node shows is its own secret, which is no token's.
        if (accessor === undefined) throw refusal('token-not-found');
        const found = snapshot
          .table(aclTokens)
          .by('accessor')
          .scan({ prefix: [accessor] });
        for (const token of found) return inClear(token, snapshot);
        throw refusal('token-not-found');
      },
    }),
    readRoute({
      ...{ method: 'GET', path: '/v1/acl/token/:accessor_id', noun, family },
      summary: 'Read a token',
      blocking: true,
      query: {
        expanded: {
          kind: 'boolean',
          default: false,
          description: 'With every policy and role that affects it.',
        },
      },
      answer: ExpandedTokenSchema,
      permission: aclRead,
      handle: (input) => {
        const { parameters, snapshot, query } = input;
        const accessor = parameters.accessor_id!.toLowerCase();
        const token = requireToken(snapshot, scopeOf(input), accessor, nowMs());
        const shown = redacted(token, input);
        if (!query.expanded) return shown;
        const expansion = expandToken(snapshot, token, namesIn(snapshot).policy);
        return {
          ...{ ...shown, ...expansion },
          ...{ AgentACLDefaultPolicy: agent.defaultPolicy, AgentACLDownPolicy: 'extend-cache' },
          ResolvedByAgent: agent.name,
        };
      },
    }),
    writeRoute({
      ...{ method: 'PUT', path: '/v1/acl/token/:accessor_id', noun, family, body },
      summary: 'Replace what may change of a token',
      answer: AclTokenSchema,
      permission: aclWrite,
      handle: async (input: TokenWrite) => {
        const accessor = input.parameters.accessor_id!;
        return written(await updateToken(context, scopeOf(input), accessor, input.body, input));
      },
    }),
    writeRoute({
      ...{ method: 'PUT', path: '/v1/acl/token/:accessor_id/clone', noun, family },
      summary: 'Make a token with the links of another',
      body: { schema: CloneSchema, unknown: 'refuse', optional: true },
      answer: AclTokenSchema,
      permission: aclWrite,
      handle: async (input: CloneWrite) => {
        const accessor = input.parameters.accessor_id!;
        const description = input.body.Description ?? '';
        return written(await cloneToken(context, scopeOf(input), accessor, description));
      },
    }),
    writeRoute({
      ...{ method: 'DELETE', path: '/v1/acl/token/:accessor_id', noun, family },
      summary: 'Delete a token',
      answer: Type.Boolean(),
      permission: aclWrite,
      handle: (input) => {
        const own = input.caller.kind === 'token' ? input.caller.accessor : undefined;
        return deleteToken(context, scopeOf(input), input.parameters.accessor_id!, own);
      },
    }),
    listRoute({
      ...{ method: 'GET', path: '/v1/acl/tokens', noun, family, query: listQuery },
      summary: 'List tokens',
      blocking: true,
      answer: AclTokenSchema,
      filterSchema: AclTokenFilterSchema,
      permission: aclList,
      rows: (input, page) =>
        input.snapshot.table(aclTokens).scan(placedScan(input, page, input.query.prefix)),
      keyOf: ({ Partition, Namespace, AccessorID }: AclToken) => [
        ...[Partition, Namespace, AccessorID],
      ],
      matches: (token, { query, namespace }) =>
        !isExpired(token, nowMs()) && fitsQuery(token, query, namespace),
      visible: aclVisible,
      record: (token, { snapshot }) => new TokenRecord(token, namesIn(snapshot)),
      present: redacted,
      // All of it but for the secret, whose opening is most of the work.
      reads: ({ Policies, Roles }, { snapshot }) => {
        const names = namesIn(snapshot);
        for (const { ID } of Policies) names.policy(ID);
        for (const { ID } of Roles) names.role(ID);
      },
    }),
  ];
}

type ListQuery = { readonly [K in keyof typeof listQuery]: string };

/** Every filter that is given has to fit. */
function fitsQuery(token: AclToken, query: ListQuery, namespace: string): boolean {
  const { prefix, policy, role, servicename, authmethod } = query;
  if (!token.AccessorID.startsWith(prefix.toLowerCase())) return false;
  if (policy !== '' && !token.Policies.some(({ ID }) => ID === policy.toLowerCase())) return false;
  if (role !== '' && !token.Roles.some(({ ID }) => ID === role.toLowerCase())) return false;
  if (
    servicename !== '' &&
    !token.ServiceIdentities.some(({ ServiceName }) => ServiceName === servicename)
  ) {
    return false;
  }
  if (authmethod === '') return true;
  const methodNamespace = query['authmethod-ns'] || namespace;
  return (
    token.AuthMethod === authmethod &&
    (methodNamespace === everyNamespace || token.AuthMethodNamespace === methodNamespace)
  );
}
