import type { AclToken } from '../../model/acl-token/acl-token.ts';
import { checkedToken } from '../../model/acl-token/write.ts';
import type { AuthMethod } from '../../model/auth-method/auth-method.ts';
import type { TypedConfig } from '../../model/auth-method/config.ts';
import {
  type Identity,
  type IdentityShape,
  identityShape,
  selects,
} from '../../model/auth-method/identity.ts';
import { parseTemplate, renderTemplate } from '../../model/auth-method/template.ts';
import { type Bound, bindingsOf } from '../../model/binding-rule/bind.ts';
import { RosterError } from '../../model/errors.ts';
import type { Scope } from '../../model/namespace/namespace.ts';
import {
  aclPolicies,
  aclRoles,
  authMethods,
  bindingRules,
  inScope,
  namespaces,
} from '../../state/tables.ts';
import type { Snapshot, Transaction, Written } from '../../state/types.ts';
import { insertToken } from '../acl/tokens.ts';
import type { ServerContext } from '../context.ts';
import { TokenRefusal } from './token-refusal.ts';

/** A verified identity, with facts that only its type of method knows. */
export interface Verified {
  readonly identity: Identity;
  /** The namespace of the token, if the type of the method decides it. */
  readonly namespace?: string;
}

export interface Issue {
  readonly method: AuthMethod;
  readonly typed: TypedConfig;
  readonly verified: Verified;
  readonly meta: Readonly<Record<string, string>>;
  readonly datacenter: string;
  /** Runs in the transaction that makes the token. @throws TokenRefusal: no token is made */
  readonly use?: (transaction: Transaction) => void;
}

/**
 * Makes the token of a login from every binding rule that matches.
 * Source: docs/behaviour/access-control.md#bind-names. @throws TokenRefusal
 */
export async function issueToken(context: ServerContext, issue: Issue): Promise<Written<AclToken>> {
  const { method, typed, verified, meta } = issue;
  const home: Scope = { partition: method.Partition, namespace: method.Namespace };
  const shape = identityShape(typed);
  return context.state.write((transaction) => {
    issue.use?.(transaction);
    const current = transaction.table(authMethods).get(...inScope(home, method.Name));
    // The credential was verified against the method as it was before.
    if (current?.ModifyIndex !== method.ModifyIndex) {
      throw new TokenRefusal('it was changed during the login; try again', { isTold: true });
    }
    const scope = { ...home, namespace: targetOf(method, shape, verified) };
    if (!transaction.table(namespaces).has(scope.partition, scope.namespace)) {
      throw new TokenRefusal(
        `its rules lead to the namespace "${scope.namespace}", which is not there`,
      );
    }
    const rules = transaction
      .table(bindingRules)
      .by('method')
      .scan({ prefix: inScope(home, method.Name) });
    const bound = bindingsOf(rules, shape, verified.identity);
    if (typeof bound === 'string') throw new TokenRefusal(bound);
    const content = contentOf(transaction, [scope, home], bound, issue.datacenter);
    const nowMs = context.world.clock.nowMs();
    return insertToken(transaction, context, scope, {
      ...content,
      Description: describe(meta),
      Local: method.TokenLocality !== 'global',
      AuthMethod: method.Name,
      AuthMethodNamespace: method.Namespace,
      CreateTime: nowMs,
      ExpirationTime: method.MaxTokenTTL === 0 ? 0 : Math.round(nowMs + method.MaxTokenTTL / 1e6),
      accessor: '',
      secret: '',
    });
  });
}

function describe(meta: Readonly<Record<string, string>>): string {
  const plain = 'token created via login';
  return Object.keys(meta).length === 0 ? plain : `${plain}: ${JSON.stringify(meta)}`;
}

/** The namespace of the first matching namespace rule; without one, the method's own namespace. */
function targetOf(method: AuthMethod, shape: IdentityShape, verified: Verified): string {
  if (verified.namespace !== undefined) return verified.namespace;
  for (const { Selector, BindNamespace } of method.NamespaceRules) {
    if (!selects(Selector, shape, verified.identity)) continue;
    const template = parseTemplate(BindNamespace, shape.variables);
    if (typeof template === 'string') throw new TokenRefusal(`its BindNamespace ${template}`);
    return rendered(renderTemplate(template, verified.identity.variables));
  }
  return method.Namespace;
}

const rendered = (name: string): string => (name.includes('\0') ? '' : name.toLowerCase());

/** Roles and policies that do not exist are skipped. Something must be left. */
function contentOf(
  snapshot: Snapshot,
  scopes: readonly Scope[],
  bound: readonly Bound[],
  datacenter: string,
) {
  const named = (type: Bound['type']) => bound.filter((one) => one.type === type);
  const find = (type: 'policy' | 'role') => [
    ...new Set(named(type).flatMap((one) => idOf(snapshot, scopes, type, one))),
  ];
  const [Policies, Roles] = [find('policy'), find('role')].map((ids) =>
    ids.sort().map((ID) => ({ ID })),
  ) as [{ ID: string }[], { ID: string }[]];
  const identities = identitiesOf(named, datacenter);
  const isEmpty = [Policies, Roles, ...Object.values(identities)].every(
    (list) => list.length === 0,
  );
  if (isEmpty) {
    const reason = 'Permission denied: no binding rule gives this identity anything';
    throw new TokenRefusal(reason, { isTold: true });
  }
  return { Policies, Roles, ...identities };
}

function identitiesOf(named: (type: Bound['type']) => readonly Bound[], datacenter: string) {
  const request = {
    ServiceIdentities: named('service').map(({ lowered }) => ({ ServiceName: lowered })),
    NodeIdentities: named('node').map(({ lowered }) => ({
      NodeName: lowered,
      Datacenter: datacenter,
    })),
    TemplatedPolicies: named('templated-policy').map(({ lowered, variable }) => ({
      TemplateName: lowered,
      TemplateVariables: variable === undefined ? {} : { name: variable.toLowerCase() },
    })),
  };
  try {
    return checkedToken(request, () => {}).identities;
  } catch (error) {
    if (!(error instanceof RosterError)) throw error;
    throw new TokenRefusal(`its binding rules give rights that no token can have: ${error.detail}`);
  }
}

/**
 * Looks in the token's namespace, then in the method's; in lower case, then as written. `default`
 * is not searched: otherwise a team that writes auth methods could grant its policies and roles.
 */
function idOf(
  snapshot: Snapshot,
  scopes: readonly Scope[],
  type: 'policy' | 'role',
  bound: Bound,
): string[] {
  for (const scope of scopes) {
    for (const name of [bound.lowered, bound.name]) {
      const range = { prefix: inScope(scope, name) };
      const found =
        type === 'policy'
          ? snapshot.table(aclPolicies).by('name').scan(range)
          : snapshot.table(aclRoles).by('name').scan(range);
      for (const { ID } of found) return [ID];
    }
  }
  return [];
}
