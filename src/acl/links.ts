import type { AclPolicy } from '../model/acl-policy/acl-policy.ts';
import type { AclRole } from '../model/acl-role/acl-role.ts';
import type { AclToken } from '../model/acl-token/acl-token.ts';
import type { Identities, StoredLink } from '../model/acl-token/identities.ts';
import type { Scope } from '../model/namespace/namespace.ts';
import { syntheticPolicies } from '../model/templated-policy/synthetic.ts';
import { aclPolicies, aclRoles, namespaces } from '../state/tables.ts';
import type { Snapshot } from '../state/types.ts';

/** A policy of a token, with the way to it. */
export interface Linked {
  readonly policy: AclPolicy;
  /** The role that links the policy; `undefined`: a direct link. */
  readonly role: AclRole | undefined;
  /** `namespace`: every token of the namespace has the policy. */
  readonly from: 'token' | 'namespace';
  /** The policy stands for an identity or a template and is not stored. */
  readonly synthetic: boolean;
  /** The policy is limited to other datacenters and has no effect here. */
  readonly elsewhere: boolean;
}

/**
 * Every policy of a token, in order: its own, those of its roles, and the defaults of its
 * namespace.
 * Source: docs/behaviour/access-control.md#links.
 */
export function linksOf(snapshot: Snapshot, token: AclToken, datacenter: string): Linked[] {
  const scope = { namespace: token.Namespace, partition: token.Partition };
  const found: Linked[] = [];
  const add = (
    policies: readonly AclPolicy[],
    origin: Pick<Linked, 'role' | 'from' | 'synthetic'>,
  ) => {
    for (const policy of policies) {
      const { Datacenters } = policy;
      const elsewhere = Datacenters !== null && !Datacenters.includes(datacenter);
      found.push({ policy, elsewhere, ...origin });
    }
  };
  const addHolder = (
    holder: Identities & { readonly Policies: readonly StoredLink[] },
    place: Scope,
    origin: Pick<Linked, 'role' | 'from'>,
  ) => {
    add(policiesIn(snapshot, holder.Policies), { ...origin, synthetic: false });
    add(syntheticPolicies(holder, place), { ...origin, synthetic: true });
  };
  const addRoles = (links: readonly StoredLink[], from: Linked['from']) => {
    for (const link of links) {
      const role = snapshot
        .table(aclRoles)
        .by('id')
        .scan({ prefix: [link.ID] })
        .next().value;
      if (role === undefined) continue;
      const place = { namespace: role.Namespace, partition: role.Partition };
      addHolder(role, place, { role, from });
    }
  };
  addHolder(token, scope, { role: undefined, from: 'token' });
  addRoles(token.Roles, 'token');
  const given = snapshot.table(namespaces).get(token.Partition, token.Namespace)?.ACLs;
  if (given) {
    const origin = { role: undefined, from: 'namespace', synthetic: false } as const;
    add(policiesIn(snapshot, given.PolicyDefaults), origin);
    addRoles(given.RoleDefaults, 'namespace');
  }
  return found;
}

function policiesIn(snapshot: Snapshot, links: readonly StoredLink[]): AclPolicy[] {
  const byId = snapshot.table(aclPolicies).by('id');
  return links.flatMap(({ ID }) => [...byId.scan({ prefix: [ID] })]);
}

/**
 * The version of all policies, roles and namespaces. While it stays the same, a token's policies
 * change only with the token's own row.
 */
export function linksVersion(snapshot: Snapshot): string {
  const policies = snapshot.table(aclPolicies).lastIndex();
  const roles = snapshot.table(aclRoles).lastIndex();
  return `${policies},${roles},${snapshot.table(namespaces).lastIndex()}`;
}
