import type { AclRole } from '../../model/acl-role/acl-role.ts';
import {
  type CheckedRole,
  checkedRole,
  type RoleRequest,
  roleHash,
} from '../../model/acl-role/write.ts';
import { refusal } from '../../model/errors.ts';
import type { Scope } from '../../model/namespace/namespace.ts';
import { aclRoles, inScope } from '../../state/tables.ts';
import type { Written } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { type Linker, LinkResolver } from './links.ts';
import { idGiven } from './policies.ts';
import { requireFreeName, requireSameId, requireScope, requireUuid } from './scope.ts';

/** @throws RosterError `invalid-body`, `namespace-not-found`, `name-taken` */
export async function createRole(
  { state, world }: ServerContext,
  scope: Scope,
  input: RoleRequest,
  linker: Linker,
): Promise<Written<AclRole>> {
  const checked = checkedRole(input, idGiven('role', input.ID), (given) =>
    new LinkResolver(state.head(), scope, linker).faultsOf(given),
  );
  const ID = world.ids.uuid();
  return state.write((transaction) => {
    requireScope(transaction, scope);
    const content = contentOf(new LinkResolver(transaction, scope, linker), checked);
    requireFreeName(transaction, aclRoles, { noun: 'role', scope, name: content.Name });
    return transaction.table(aclRoles).put({
      ID,
      ...content,
      Hash: roleHash(content),
      Namespace: scope.namespace,
      Partition: scope.partition,
    });
  });
}

export interface RoleUpdate {
  readonly pathId: string;
  readonly input: RoleRequest;
  readonly linker: Linker;
}

/** @throws RosterError `id-mismatch`, `invalid-body`, `role-not-found`, `name-taken` */
export async function updateRole(
  { state }: ServerContext,
  scope: Scope,
  { pathId, input, linker }: RoleUpdate,
): Promise<Written<AclRole>> {
  const id = requireSameId('role', input.ID, pathId);
  const checked = checkedRole(input, [], (given) => {
    const stored = state
      .head()
      .table(aclRoles)
      .get(...inScope(scope, id));
    return stored === undefined
      ? []
      : new LinkResolver(state.head(), scope, linker, stored.Policies).faultsOf(given);
  });
  return state.write((transaction) => {
    const table = transaction.table(aclRoles);
    const stored = table.get(...inScope(scope, id));
    if (stored === undefined) throw missingRole(id, scope);
    const content = contentOf(
      new LinkResolver(transaction, scope, linker, stored.Policies),
      checked,
    );
    if (content.Name !== stored.Name)
      requireFreeName(transaction, aclRoles, { noun: 'role', scope, name: content.Name });
    return table.put({ ...stored, ...content, Hash: roleHash(content) });
  });
}

/** `false`: there was no such role. Links to it lead nowhere from then on. */
export async function deleteRole(
  { state }: ServerContext,
  scope: Scope,
  pathId: string,
): Promise<Written<boolean>> {
  const id = requireUuid(pathId);
  return state.write((transaction) => transaction.table(aclRoles).delete(...inScope(scope, id)));
}

export const missingRole = (role: string, { namespace }: Scope) =>
  refusal('role-not-found', { role, namespace });

function contentOf(resolver: LinkResolver, { given, identities }: CheckedRole) {
  const Policies = resolver.policies(given.Policies);
  resolver.check();
  const { Name, Description } = given;
  return { Name, Description, Policies, ...identities };
}
