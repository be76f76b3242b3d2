import type { aclPolicyEndpoints } from '../contract/acl-policy.ts';
import type { aclReplicationEndpoints } from '../contract/acl-replication.ts';
import type { aclRoleEndpoints } from '../contract/acl-role.ts';
import type { aclBootstrapEndpoints, aclTokenEndpoints } from '../contract/acl-token.ts';
import type { AnswerOf } from '../contract/endpoint.ts';
import type { namespaceEndpoints, partitionEndpoints } from '../contract/namespace.ts';
import type { templatedPolicyEndpoints } from '../contract/templated-policy.ts';
import type { AclPolicy } from '../model/acl-policy/acl-policy.ts';
import type { PresentedAclRole } from '../model/acl-role/acl-role.ts';
import type { AclTokenInput, PresentedAclToken } from '../model/acl-token/acl-token.ts';
import type { Namespace } from '../model/namespace/namespace.ts';
import type { Partition } from '../model/partition/partition.ts';
import type { Input } from '../model/schema.ts';
import type { TemplatedPolicy } from '../model/templated-policy/templated-policy.ts';
import { callsOf } from './calls.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export type AclTokenWrite = Input<AclTokenInput>;
export type AclPolicyWrite = Input<AclPolicy>;
export type AclRoleWrite = Input<PresentedAclRole>;
export type NamespaceWrite = Input<Namespace>;
export type PartitionWrite = Input<Partition>;
export type { AclPolicy, Namespace, Partition, PresentedAclRole, PresentedAclToken };

export type AclPolicyListItem = AnswerOf<(typeof aclPolicyEndpoints)['list']>[number];

/** A role in a list, without its empty fields. */
export type AclRoleListItem = AnswerOf<(typeof aclRoleEndpoints)['list']>[number];

/**
 * A token with everything that affects it.
 * Source: docs/contract/access-control.md#an-expanded-token.
 */
export type ExpandedAclToken = AnswerOf<(typeof aclTokenEndpoints)['read']>;

/**
 * A token is listed if it matches all given options.
 * Source: docs/contract/access-control.md#tokens.
 */
export interface AclTokenListOptions extends ListOptions {
  /** Id of a linked policy. */
  readonly policy?: string | undefined;
  /** Id of a linked role. */
  readonly role?: string | undefined;
  readonly serviceName?: string | undefined;
  readonly authMethod?: string | undefined;
  readonly authMethodNamespace?: string | undefined;
}

export interface TemplatedPolicies {
  list(options?: ReadOptions): Promise<Answer<Readonly<Record<string, TemplatedPolicy>>>>;
  read(name: string, options?: ReadOptions): Promise<Answer<TemplatedPolicy>>;
  /** The policy of a token with this template. `variable` is the value of its variable. */
  preview(name: string, variable?: string, options?: CallOptions): Promise<Answer<AclPolicy>>;
}

export type AclReplication = AnswerOf<(typeof aclReplicationEndpoints)['replication']>;

export type Acl = ReturnType<typeof aclOf>;

export function aclOf(requester: Requester) {
  const { write, read } = callsOf<
    typeof aclBootstrapEndpoints | typeof templatedPolicyEndpoints | typeof aclReplicationEndpoints
  >(requester);
  return {
    /** Makes the first token. This works once; a secret may be given. */
    bootstrap: (secret?: string, options?: CallOptions) =>
      write('PUT /v1/acl/bootstrap', {}, options, {
        body: secret === undefined ? {} : { BootstrapSecret: secret },
      }),
    tokens: tokensOf(requester),
    policies: policiesOf(requester),
    roles: rolesOf(requester),
    templatedPolicies: {
      list: (options?: ReadOptions) => read('GET /v1/acl/templated-policies', {}, options),
      read: (name: string, options?: ReadOptions) =>
        read('GET /v1/acl/templated-policy/name/:name+', { name }, options),
      /** The policy of a token with this template. `variable` is the value of its variable. */
      preview: (name: string, variable?: string, options?: CallOptions) =>
        write('POST /v1/acl/templated-policy/preview/:name+', { name }, options, {
          body: variable === undefined ? {} : { Name: variable },
        }),
    },
    /** Whether access control is copied from another datacenter. */
    replication: (options?: ReadOptions) => read('GET /v1/acl/replication', {}, options),
  };
}

export type AclTokens = ReturnType<typeof tokensOf>;

function tokensOf(requester: Requester) {
  const { read, write } = callsOf<typeof aclTokenEndpoints>(requester);
  return {
    list: (options: AclTokenListOptions = {}) =>
      read('GET /v1/acl/tokens', {}, options, {
        ...listQuery(options),
        policy: options.policy || undefined,
        role: options.role || undefined,
        servicename: options.serviceName || undefined,
        authmethod: options.authMethod || undefined,
        'authmethod-ns': options.authMethodNamespace || undefined,
      }),
    create: (token: AclTokenWrite, options?: CallOptions) =>
      write('PUT /v1/acl/token', {}, options, { body: token }),
    read: (accessor: string, options: ReadOptions & { readonly expanded?: boolean } = {}) =>
      read('GET /v1/acl/token/:accessor_id', { accessor_id: accessor }, options, {
        expanded: options.expanded || undefined,
      }),
    /** The client's own token with its secret. */
    self: (options?: ReadOptions) => read('GET /v1/acl/token/self', {}, options),
    update: (accessor: string, token: AclTokenWrite, options?: CallOptions) =>
      write('PUT /v1/acl/token/:accessor_id', { accessor_id: accessor }, options, { body: token }),
    clone: (accessor: string, Description: string, options?: CallOptions) =>
      write('PUT /v1/acl/token/:accessor_id/clone', { accessor_id: accessor }, options, {
        body: {
          Description,
        },
      }),
    /** `false`: there was no such token. */
    delete: (accessor: string, options?: CallOptions) =>
      write('DELETE /v1/acl/token/:accessor_id', { accessor_id: accessor }, options),
  };
}

export type AclPolicies = ReturnType<typeof policiesOf>;

function policiesOf(requester: Requester) {
  const { read, write } = callsOf<typeof aclPolicyEndpoints>(requester);
  return {
    list: (options: ListOptions = {}) =>
      read('GET /v1/acl/policies', {}, options, listQuery(options)),
    create: (policy: AclPolicyWrite, options?: CallOptions) =>
      write('PUT /v1/acl/policy', {}, options, { body: policy }),
    read: (id: string, options?: ReadOptions) =>
      read('GET /v1/acl/policy/:policy_id', { policy_id: id }, options),
    readNamed: (name: string, options?: ReadOptions) =>
      read('GET /v1/acl/policy/name/:name+', { name }, options),
    update: (id: string, policy: AclPolicyWrite, options?: CallOptions) =>
      write('PUT /v1/acl/policy/:policy_id', { policy_id: id }, options, { body: policy }),
    delete: (id: string, options?: CallOptions) =>
      write('DELETE /v1/acl/policy/:policy_id', { policy_id: id }, options),
  };
}

export type AclRoles = ReturnType<typeof rolesOf>;

function rolesOf(requester: Requester) {
  const { read, write } = callsOf<typeof aclRoleEndpoints>(requester);
  return {
    list: (options: ListOptions & { readonly policy?: string | undefined } = {}) =>
      read('GET /v1/acl/roles', {}, options, {
        ...listQuery(options),
        policy: options.policy || undefined,
      }),
    create: (role: AclRoleWrite, options?: CallOptions) =>
      write('PUT /v1/acl/role', {}, options, { body: role }),
    read: (id: string, options?: ReadOptions) =>
      read('GET /v1/acl/role/:role_id', { role_id: id }, options),
    readNamed: (name: string, options?: ReadOptions) =>
      read('GET /v1/acl/role/name/:name', { name }, options),
    update: (id: string, role: AclRoleWrite, options?: CallOptions) =>
      write('PUT /v1/acl/role/:role_id', { role_id: id }, options, { body: role }),
    delete: (id: string, options?: CallOptions) =>
      write('DELETE /v1/acl/role/:role_id', { role_id: id }, options),
  };
}

export type Namespaces = ReturnType<typeof namespacesOf>;

export function namespacesOf(requester: Requester) {
  const { read, write } = callsOf<typeof namespaceEndpoints>(requester);
  return {
    list: (options: ListOptions = {}) =>
      read('GET /v1/namespaces', {}, options, listQuery(options)),
    read: (name: string, options?: ReadOptions) =>
      read('GET /v1/namespace/:name', { name }, options),
    /** Creates or replaces the namespace. */
    write: (name: string, namespace: NamespaceWrite, options?: CallOptions) =>
      write('PUT /v1/namespace/:name', { name }, options, { body: namespace }),
    delete: (name: string, options?: CallOptions) =>
      write('DELETE /v1/namespace/:name', { name }, options),
  };
}

export type Partitions = ReturnType<typeof partitionsOf>;

export function partitionsOf(requester: Requester) {
  const { read, write } = callsOf<typeof partitionEndpoints>(requester);
  return {
    list: (options: ListOptions = {}) =>
      read('GET /v1/partitions', {}, options, listQuery(options)),
    read: (name: string, options?: ReadOptions) =>
      read('GET /v1/partition/:name', { name }, options),
    write: (name: string, partition: PartitionWrite, options?: CallOptions) =>
      write('PUT /v1/partition/:name', { name }, options, { body: partition }),
    delete: (name: string, options?: CallOptions) =>
      write('DELETE /v1/partition/:name', { name }, options),
  };
}
