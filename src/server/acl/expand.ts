import { linksOf } from '../../acl/links.ts';
import type { AclPolicy } from '../../model/acl-policy/acl-policy.ts';
import type { AclRole, PresentedAclRole } from '../../model/acl-role/acl-role.ts';
import type { AclToken } from '../../model/acl-token/acl-token.ts';
import type { StoredLink } from '../../model/acl-token/identities.ts';
import { type NameOf, shownLinks, shownRole } from '../../model/acl-token/present.ts';
import { aclRoles, namespaces } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { rowWithId } from '../checks.ts';
import { linkNames } from './links.ts';

export interface Expansion {
  /** All policies that count for the token, synthetic ones included. */
  readonly ExpandedPolicies: readonly AclPolicy[];
  readonly ExpandedRoles: readonly PresentedAclRole[];
  /** Null: the namespace gives none. */
  readonly NamespaceDefaultPolicies: readonly { ID: string; Name: string }[] | null;
  readonly NamespaceDefaultRoles: readonly { ID: string; Name: string }[] | null;
}

/**
 * A token with the policies and roles behind it.
 * Source: docs/contract/access-control.md#an-expanded-token.
 */
export function expandToken(snapshot: Snapshot, token: AclToken, policyName: NameOf): Expansion {
  const defaults = snapshot.table(namespaces).get(token.Partition, token.Namespace)?.ACLs;
  const defaultPolicies = defaults?.PolicyDefaults ?? [];
  const defaultRoles = defaults?.RoleDefaults ?? [];
  const roles = rolesOf(snapshot, [...token.Roles, ...defaultRoles]);
  // Links that hold only in other datacenters count as well.
  const links = linksOf(snapshot, token, '');
  const found = new Map(links.map(({ policy }) => [policy.ID, policy]));
  const orNull = <T>(list: readonly T[]): readonly T[] | null => (list.length === 0 ? null : list);
  return {
    ExpandedPolicies: [...found.values()],
    ExpandedRoles: roles.map((role) => shownRole(role, policyName)),
    NamespaceDefaultPolicies: orNull(shownLinks(defaultPolicies, policyName)),
    NamespaceDefaultRoles: orNull(shownLinks(defaultRoles, linkNames(snapshot).role)),
  };
}

function rolesOf(snapshot: Snapshot, links: readonly StoredLink[]): readonly AclRole[] {
  const ids = [...new Set(links.map(({ ID }) => ID))];
  return ids.flatMap((id) => rowWithId(snapshot.table(aclRoles), id) ?? []);
}
