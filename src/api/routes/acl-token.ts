import type { DefaultPolicy } from '../../acl/authorizer.ts';
import { aclTokenEndpoints as contract, type listQuery } from '../../contract/acl-token.ts';
import type { ItemOf } from '../../contract/endpoint.ts';
import {
  type AclToken,
  anonymousAccessorId,
  hiddenSecretId,
  isExpired,
} from '../../model/acl-token/acl-token.ts';
import { shownToken, TokenRecord } from '../../model/acl-token/present.ts';
import { refusal } from '../../model/errors.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import type { Caller } from '../../model/permission/caller.ts';
import { resourceAccess } from '../../model/permission/permission.ts';
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
import type { BaseInput, Route } from '../route.ts';
import { serveList, serveRead, serveWrite } from '../serve.ts';
import { namesIn, placedScan, scopeOf } from './acl.ts';

/** The answering server, for expanded tokens. */
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
  const redacted = (token: AclToken, { allows, snapshot }: BaseInput) => {
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
    ...serveWrite(contract.create, async (input) =>
      written(await createToken(context, scopeOf(input), input.body, input)),
    ),
    ...serveRead(contract.readSelf, ({ caller, snapshot }) => {
      const accessor = accessorOf(caller);
      // A node's secret is not a token.
      if (accessor === undefined) throw refusal('token-not-found');
      const found = snapshot
        .table(aclTokens)
        .by('accessor')
        .scan({ prefix: [accessor] });
      for (const token of found) return inClear(token, snapshot);
      throw refusal('token-not-found');
    }),
    ...serveRead(contract.read, (input) => {
      const { parameters, snapshot, query } = input;
      const accessor = parameters.accessor_id!.toLowerCase();
      const token = requireToken(snapshot, scopeOf(input), accessor, nowMs());
      const shown = redacted(token, input);
      if (!query.expanded) return shown;
      const expansion = expandToken(snapshot, token, namesIn(snapshot).policy);
      return {
        ...shown,
        ...expansion,
        AgentACLDefaultPolicy: agent.defaultPolicy,
        AgentACLDownPolicy: 'extend-cache',
        ResolvedByAgent: agent.name,
      };
    }),
    ...serveWrite(contract.update, async (input) => {
      const pathAccessor = input.parameters.accessor_id!;
      const update = { pathAccessor, request: input.body, linker: input };
      return written(await updateToken(context, scopeOf(input), update));
    }),
    ...serveWrite(contract.clone, async (input) => {
      const accessor = input.parameters.accessor_id!;
      const description = input.body.Description ?? '';
      return written(await cloneToken(context, scopeOf(input), accessor, description));
    }),
    ...serveWrite(contract.delete, (input) => {
      const own = input.caller.kind === 'token' ? input.caller.accessor : undefined;
      return deleteToken(context, scopeOf(input), input.parameters.accessor_id!, own);
    }),
    ...listRoutes(redacted, nowMs),
  ];
}

const accessorOf = (caller: Caller): string | undefined => {
  if (caller.kind === 'token') return caller.accessor;
  return caller.kind === 'anonymous' ? anonymousAccessorId : undefined;
};

function listRoutes(
  redacted: (token: AclToken, scope: BaseInput) => ItemOf<typeof contract.list>,
  nowMs: () => number,
): Route[] {
  return serveList(contract.list, {
    rows: (input, page) =>
      input.snapshot.table(aclTokens).scan(placedScan(input, page, input.query.prefix)),
    keyOf: ({ Partition, Namespace, AccessorID }: AclToken) => [Partition, Namespace, AccessorID],
    matches: (token, { query, namespace }) =>
      !isExpired(token, nowMs()) && fitsQuery(token, query, namespace),
    record: (token, { snapshot }) => new TokenRecord(token, namesIn(snapshot)),
    present: redacted,
    // A token without an end comes after all others.
    sortedBy: (token, field) =>
      field === 'ExpirationTime'
        ? token.ExpirationTime || Number.MAX_SAFE_INTEGER
        : token[field as keyof AclToken],
    // All but the secret, because opening it is most of the work.
    reads: ({ Policies, Roles }, { snapshot }) => {
      const names = namesIn(snapshot);
      for (const { ID } of Policies) names.policy(ID);
      for (const { ID } of Roles) names.role(ID);
    },
  });
}

type ListQuery = { readonly [K in keyof typeof listQuery]: string };

/** A token has to match every given filter. */
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
