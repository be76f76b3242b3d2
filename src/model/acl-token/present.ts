import { formatInstant } from '../../base/instant.ts';
import type { AclRole, PresentedAclRole } from '../acl-role/acl-role.ts';
import type { AclToken, PresentedAclToken } from './acl-token.ts';
import type { StoredLink } from './identities.ts';
import { shownTime } from './write.ts';

/** Finds the name that an id has at the moment; `undefined` when it is gone. */
export type NameOf = (id: string) => string | undefined;

/** Links with their names. What was deleted since is no link any more. facts/registry.md §2.3. */
export function shownLinks(links: readonly StoredLink[], nameOf: NameOf) {
  return links.flatMap(({ ID }) => {
    const Name = nameOf(ID);
    return Name === undefined ? [] : [{ ID, Name }];
  });
}

/** A token as it is shown, but for its secret. */
export function shownToken(
  token: AclToken,
  names: { readonly policy: NameOf; readonly role: NameOf },
): Omit<PresentedAclToken, 'SecretID'> {
  const { AccessorID, Description, TemplatedPolicies, ServiceIdentities, NodeIdentities } = token;
  const { Local, AuthMethod, AuthMethodNamespace, Hash, Namespace, Partition } = token;
  return {
    ...{ AccessorID, Description },
    Policies: shownLinks(token.Policies, names.policy),
    Roles: shownLinks(token.Roles, names.role),
    ...{ TemplatedPolicies, ServiceIdentities, NodeIdentities, Local },
    ...{ AuthMethod, AuthMethodNamespace },
    ExpirationTime: shownTime(token.ExpirationTime),
    CreateTime: formatInstant(token.CreateTime),
    ...{ Hash, Namespace, Partition },
    ...{ CreateIndex: token.CreateIndex, ModifyIndex: token.ModifyIndex },
  };
}

export const shownRole = (role: AclRole, policyName: NameOf): PresentedAclRole => ({
  ...role,
  Policies: shownLinks(role.Policies, policyName),
});

/** A role in a list leaves out what it has none of. Source: spec/1 §2.3. */
export function roleListed({
  TemplatedPolicies,
  ServiceIdentities,
  NodeIdentities,
  ...role
}: PresentedAclRole): Partial<PresentedAclRole> {
  return {
    ...role,
    ...(TemplatedPolicies.length > 0 && { TemplatedPolicies }),
    ...(ServiceIdentities.length > 0 && { ServiceIdentities }),
    ...(NodeIdentities.length > 0 && { NodeIdentities }),
  };
}
