import { formatInstant } from '../../base/instant.ts';
import type { AclRole, ListedAclRole, PresentedAclRole } from '../acl-role/acl-role.ts';
import type { AclToken, PresentedAclToken } from './acl-token.ts';
import type { StoredLink } from './identities.ts';
import { shownTime } from './write.ts';

/** The present name of an id; `undefined` when its row is gone. */
export type NameOf = (id: string) => string | undefined;

/** Links with their names, without links to deleted rows. Source: docs/behaviour/access-control.md#links. */
export function shownLinks(links: readonly StoredLink[], nameOf: NameOf) {
  const shown: { ID: string; Name: string }[] = [];
  for (const { ID } of links) {
    const Name = nameOf(ID);
    if (Name !== undefined) shown.push({ ID, Name });
  }
  return shown;
}

interface Names {
  readonly policy: NameOf;
  readonly role: NameOf;
}

type ShownToken = Omit<PresentedAclToken, 'SecretID'>;

/** A token as it is shown, without its secret. */
export function shownToken(token: AclToken, names: Names): ShownToken {
  const { AccessorID, Description, TemplatedPolicies, ServiceIdentities, NodeIdentities } = token;
  const { Local, AuthMethod, AuthMethodNamespace, Hash, Namespace, Partition } = token;
  return {
    AccessorID,
    Description,
    Policies: shownLinks(token.Policies, names.policy),
    Roles: shownLinks(token.Roles, names.role),
    TemplatedPolicies,
    ServiceIdentities,
    NodeIdentities,
    Local,
    AuthMethod,
    AuthMethodNamespace,
    ExpirationTime: shownTime(token.ExpirationTime),
    CreateTime: formatInstant(token.CreateTime),
    Hash,
    Namespace,
    Partition,
    CreateIndex: token.CreateIndex,
    ModifyIndex: token.ModifyIndex,
  };
}

/** A shown token for filters, which read few fields of every token: expensive fields are made on demand. */
export class TokenRecord implements ShownToken {
  readonly #token: AclToken;
  readonly #names: Names;

  constructor(token: AclToken, names: Names) {
    this.#token = token;
    this.#names = names;
  }

  get AccessorID() {
    return this.#token.AccessorID;
  }
  get Description() {
    return this.#token.Description;
  }
  get Policies() {
    return shownLinks(this.#token.Policies, this.#names.policy);
  }
  get Roles() {
    return shownLinks(this.#token.Roles, this.#names.role);
  }
  get TemplatedPolicies() {
    return this.#token.TemplatedPolicies;
  }
  get ServiceIdentities() {
    return this.#token.ServiceIdentities;
  }
  get NodeIdentities() {
    return this.#token.NodeIdentities;
  }
  get Local() {
    return this.#token.Local;
  }
  get AuthMethod() {
    return this.#token.AuthMethod;
  }
  get AuthMethodNamespace() {
    return this.#token.AuthMethodNamespace;
  }
  get ExpirationTime() {
    return shownTime(this.#token.ExpirationTime);
  }
  get CreateTime() {
    return formatInstant(this.#token.CreateTime);
  }
  get Hash() {
    return this.#token.Hash;
  }
  get Namespace() {
    return this.#token.Namespace;
  }
  get Partition() {
    return this.#token.Partition;
  }
  get CreateIndex() {
    return this.#token.CreateIndex;
  }
  get ModifyIndex() {
    return this.#token.ModifyIndex;
  }
}

export const shownRole = (role: AclRole, policyName: NameOf): PresentedAclRole => ({
  ...role,
  Policies: shownLinks(role.Policies, policyName),
});

/** A role in a list: kinds of links of which it has none are left out. */
export function roleListed({
  TemplatedPolicies,
  ServiceIdentities,
  NodeIdentities,
  ...role
}: PresentedAclRole): ListedAclRole {
  return {
    ...role,
    ...(TemplatedPolicies.length > 0 && { TemplatedPolicies }),
    ...(ServiceIdentities.length > 0 && { ServiceIdentities }),
    ...(NodeIdentities.length > 0 && { NodeIdentities }),
  };
}
