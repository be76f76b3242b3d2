import type { AclPolicy } from '../model/acl-policy/acl-policy.ts';
import type { ListedAclRole, PresentedAclRole } from '../model/acl-role/acl-role.ts';
import type { AclTokenInput, PresentedAclToken } from '../model/acl-token/acl-token.ts';
import type { Namespace } from '../model/namespace/namespace.ts';
import type { Partition } from '../model/partition/partition.ts';
import type { Input } from '../model/schema.ts';
import type { TemplatedPolicy } from '../model/templated-policy/templated-policy.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export type AclTokenWrite = Input<AclTokenInput>;
export type AclPolicyWrite = Input<AclPolicy>;
export type AclRoleWrite = Input<PresentedAclRole>;
export type NamespaceWrite = Input<Namespace>;
export type PartitionWrite = Input<Partition>;
export type { AclPolicy, Namespace, Partition, PresentedAclRole, PresentedAclToken };

/** A policy in a list. */
export type AclPolicyListItem = Omit<AclPolicy, 'Rules'>;

/** A role in a list leaves out what it has none of. */
export type AclRoleListItem = ListedAclRole;

/** A token with all that affects it. Source: docs/contract/access-control.md#an-expanded-token. */
export interface ExpandedAclToken extends PresentedAclToken {
  readonly ExpandedPolicies?: readonly AclPolicy[] | null;
  readonly ExpandedRoles?: readonly PresentedAclRole[] | null;
  /** What its namespace gives every token in it. */
  readonly NamespaceDefaultPolicies?: PresentedAclToken['Policies'] | null;
  readonly NamespaceDefaultRoles?: PresentedAclToken['Roles'] | null;
  /** What decides where no rule speaks: `allow` or `deny`. */
  readonly AgentACLDefaultPolicy?: string;
}

/** All that are given have to fit. Source: docs/contract/access-control.md#tokens. */
export interface AclTokenListOptions extends ListOptions {
  /** Id of a linked policy. */
  readonly policy?: string | undefined;
  /** Id of a linked role. */
  readonly role?: string | undefined;
  readonly serviceName?: string | undefined;
  readonly authMethod?: string | undefined;
  readonly authMethodNamespace?: string | undefined;
}

export interface AclTokens {
  list(options?: AclTokenListOptions): Promise<Answer<readonly PresentedAclToken[]>>;
  create(token: AclTokenWrite, options?: CallOptions): Promise<Answer<PresentedAclToken>>;
  read(
    accessor: string,
    options?: ReadOptions & { readonly expanded?: boolean },
  ): Promise<Answer<ExpandedAclToken>>;
  /** The token that asks, with its secret. */
  self(options?: ReadOptions): Promise<Answer<PresentedAclToken>>;
  update(
    accessor: string,
    token: AclTokenWrite,
    options?: CallOptions,
  ): Promise<Answer<PresentedAclToken>>;
  clone(
    accessor: string,
    description: string,
    options?: CallOptions,
  ): Promise<Answer<PresentedAclToken>>;
  /** `false` when there was none. */
  delete(accessor: string, options?: CallOptions): Promise<Answer<boolean>>;
}

export interface AclPolicies {
  list(options?: ListOptions): Promise<Answer<readonly AclPolicyListItem[]>>;
  create(policy: AclPolicyWrite, options?: CallOptions): Promise<Answer<AclPolicy>>;
  read(id: string, options?: ReadOptions): Promise<Answer<AclPolicy>>;
  readNamed(name: string, options?: ReadOptions): Promise<Answer<AclPolicy>>;
  update(id: string, policy: AclPolicyWrite, options?: CallOptions): Promise<Answer<AclPolicy>>;
  delete(id: string, options?: CallOptions): Promise<Answer<boolean>>;
}

export interface AclRoles {
  list(
    options?: ListOptions & { readonly policy?: string | undefined },
  ): Promise<Answer<readonly AclRoleListItem[]>>;
  create(role: AclRoleWrite, options?: CallOptions): Promise<Answer<PresentedAclRole>>;
  read(id: string, options?: ReadOptions): Promise<Answer<PresentedAclRole>>;
  readNamed(name: string, options?: ReadOptions): Promise<Answer<PresentedAclRole>>;
  update(id: string, role: AclRoleWrite, options?: CallOptions): Promise<Answer<PresentedAclRole>>;
  delete(id: string, options?: CallOptions): Promise<Answer<boolean>>;
}

export interface TemplatedPolicies {
  list(options?: ReadOptions): Promise<Answer<Readonly<Record<string, TemplatedPolicy>>>>;
  read(name: string, options?: ReadOptions): Promise<Answer<TemplatedPolicy>>;
  /** The policy that a token with this template would have. `variable` fills its gap. */
  preview(name: string, variable?: string, options?: CallOptions): Promise<Answer<AclPolicy>>;
}

export interface AclReplication {
  readonly Enabled: boolean;
  readonly Running: boolean;
  readonly LastErrorMessage: string;
}

export interface Acl {
  /** Makes the first token, once. A secret may be given. */
  bootstrap(secret?: string, options?: CallOptions): Promise<Answer<PresentedAclToken>>;
  readonly tokens: AclTokens;
  readonly policies: AclPolicies;
  readonly roles: AclRoles;
  readonly templatedPolicies: TemplatedPolicies;
  /** Whether access control is copied from another datacenter. */
  replication(options?: ReadOptions): Promise<Answer<AclReplication>>;
}

export interface Namespaces {
  list(options?: ListOptions): Promise<Answer<readonly Namespace[]>>;
  read(name: string, options?: ReadOptions): Promise<Answer<Namespace>>;
  /** Creates or replaces. */
  write(name: string, namespace: NamespaceWrite, options?: CallOptions): Promise<Answer<Namespace>>;
  delete(name: string, options?: CallOptions): Promise<Answer<boolean>>;
}

export interface Partitions {
  list(options?: ListOptions): Promise<Answer<readonly Partition[]>>;
  read(name: string, options?: ReadOptions): Promise<Answer<Partition>>;
  write(name: string, partition: PartitionWrite, options?: CallOptions): Promise<Answer<Partition>>;
  delete(name: string, options?: CallOptions): Promise<Answer<boolean>>;
}

export const aclOf = (requester: Requester): Acl => ({
  bootstrap: (secret, options) =>
    requester.write(
      ...(['PUT', '/v1/acl/bootstrap', options] as const),
      secret === undefined ? {} : { BootstrapSecret: secret },
    ),
  tokens: tokensOf(requester),
  policies: policiesOf(requester),
  roles: rolesOf(requester),
  templatedPolicies: {
    list: (options) => requester.read('/v1/acl/templated-policies', options),
    read: (name, options) => requester.read(path`/v1/acl/templated-policy/name/${name}`, options),
    preview: (name, variable, options) =>
      requester.write(
        ...(['POST', path`/v1/acl/templated-policy/preview/${name}`, options] as const),
        variable === undefined ? {} : { Name: variable },
      ),
  },
  replication: (options) => requester.read('/v1/acl/replication', options),
});

const tokensOf = (requester: Requester): AclTokens => ({
  list: (options = {}) =>
    requester.read('/v1/acl/tokens', options, {
      ...listQuery(options),
      policy: options.policy || undefined,
      role: options.role || undefined,
      servicename: options.serviceName || undefined,
      authmethod: options.authMethod || undefined,
      'authmethod-ns': options.authMethodNamespace || undefined,
    }),
  create: (token, options) => requester.write('PUT', '/v1/acl/token', options, token),
  read: (accessor, options = {}) =>
    requester.read(path`/v1/acl/token/${accessor}`, options, {
      expanded: options.expanded || undefined,
    }),
  self: (options) => requester.read('/v1/acl/token/self', options),
  update: (accessor, token, options) =>
    requester.write('PUT', path`/v1/acl/token/${accessor}`, options, token),
  clone: (accessor, Description, options) =>
    requester.write('PUT', path`/v1/acl/token/${accessor}/clone`, options, { Description }),
  delete: (accessor, options) =>
    requester.write('DELETE', path`/v1/acl/token/${accessor}`, options),
});

const policiesOf = (requester: Requester): AclPolicies => ({
  list: (options = {}) => requester.read('/v1/acl/policies', options, listQuery(options)),
  create: (policy, options) => requester.write('PUT', '/v1/acl/policy', options, policy),
  read: (id, options) => requester.read(path`/v1/acl/policy/${id}`, options),
  readNamed: (name, options) => requester.read(path`/v1/acl/policy/name/${name}`, options),
  update: (id, policy, options) =>
    requester.write('PUT', path`/v1/acl/policy/${id}`, options, policy),
  delete: (id, options) => requester.write('DELETE', path`/v1/acl/policy/${id}`, options),
});

const rolesOf = (requester: Requester): AclRoles => ({
  list: (options = {}) =>
    requester.read('/v1/acl/roles', options, {
      ...listQuery(options),
      policy: options.policy || undefined,
    }),
  create: (role, options) => requester.write('PUT', '/v1/acl/role', options, role),
  read: (id, options) => requester.read(path`/v1/acl/role/${id}`, options),
  readNamed: (name, options) => requester.read(path`/v1/acl/role/name/${name}`, options),
  update: (id, role, options) => requester.write('PUT', path`/v1/acl/role/${id}`, options, role),
  delete: (id, options) => requester.write('DELETE', path`/v1/acl/role/${id}`, options),
});

export const namespacesOf = (requester: Requester): Namespaces => ({
  list: (options = {}) => requester.read('/v1/namespaces', options, listQuery(options)),
  read: (name, options) => requester.read(path`/v1/namespace/${name}`, options),
  write: (name, namespace, options) =>
    requester.write('PUT', path`/v1/namespace/${name}`, options, namespace),
  delete: (name, options) => requester.write('DELETE', path`/v1/namespace/${name}`, options),
});

export const partitionsOf = (requester: Requester): Partitions => ({
  list: (options = {}) => requester.read('/v1/partitions', options, listQuery(options)),
  read: (name, options) => requester.read(path`/v1/partition/${name}`, options),
  write: (name, partition, options) =>
    requester.write('PUT', path`/v1/partition/${name}`, options, partition),
  delete: (name, options) => requester.write('DELETE', path`/v1/partition/${name}`, options),
});
