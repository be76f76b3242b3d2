import type { AclPolicy } from '../../model/acl-policy/acl-policy.ts';
import type { AclBootstrap } from '../../model/acl-policy/bootstrap.ts';
import type { AclRole } from '../../model/acl-role/acl-role.ts';
import { type AclToken, isManagement } from '../../model/acl-token/acl-token.ts';
import type { AuthMethod } from '../../model/auth-method/auth-method.ts';
import type { BindingRule } from '../../model/binding-rule/binding-rule.ts';
import type { KeptAnswer } from '../../model/kept-answer/kept-answer.ts';
import type { KeyringKey } from '../../model/keyring/keyring-key.ts';
import type { OidcSession, UsedUpLimit } from '../../model/login/login.ts';
import {
  defaultNamespace,
  defaultPartition,
  type Namespace,
} from '../../model/namespace/namespace.ts';
import type { Partition } from '../../model/partition/partition.ts';
import type { SealedItems, VariableMetadata } from '../../model/variable/variable.ts';
import { inNamespace, numberPart, scopeOf, table } from './definition.ts';

export const partitions = table<Partition>({
  name: 'partitions',
  version: 1,
  key: (partition) => [partition.Name],
  indexes: {},
});

export const namespaces = table<Namespace>({
  name: 'namespaces',
  version: 2,
  key: (namespace) => [namespace.Partition, namespace.Name],
  indexes: {},
  upcast: (row) => ({ ...(row as Namespace), Partition: defaultPartition, ACLs: null }),
});

export const aclPolicies = table<AclPolicy, 'id' | 'name' | 'job'>({
  name: 'acl-policies',
  version: 2,
  key: (policy) => [...scopeOf(policy), policy.ID],
  indexes: {
    id: { key: (policy) => [policy.ID] },
    name: { key: (policy) => [...scopeOf(policy), policy.Name] },
    /** Policies that the workloads of a job have by themselves, by job. */
    job: { key: ({ JobACL }) => (JobACL === null ? undefined : [JobACL.Namespace, JobACL.JobID]) },
  },
  upcast: (row) => ({ ...(row as AclPolicy), JobACL: null }),
});

export const aclRoles = table<AclRole, 'id' | 'name'>({
  name: 'acl-roles',
  version: 1,
  key: (role) => [...scopeOf(role), role.ID],
  indexes: {
    id: { key: (role) => [role.ID] },
    name: { key: (role) => [...scopeOf(role), role.Name] },
  },
});

export const aclTokens = table<
  AclToken,
  'accessor' | 'secret' | 'management' | 'expiration' | 'method'
>({
  name: 'acl-tokens',
  version: 2,
  scopeParts: 2,
  key: (token) => [...scopeOf(token), token.AccessorID],
  indexes: {
    accessor: { key: (token) => [token.AccessorID] },
    /** By the hash of the secret, so that no lookup compares secrets. */
    secret: { key: (token) => [token.SecretHash] },
    management: { key: (token) => (isManagement(token) ? ['management'] : undefined) },
    /** Tokens that expire, by expiry. */
    expiration: {
      key: ({ ExpirationTime }) =>
        ExpirationTime === 0 ? undefined : [numberPart(ExpirationTime)],
    },
    /** Tokens of logins, by auth method. */
    method: {
      key: ({ Partition, AuthMethodNamespace, AuthMethod }) =>
        AuthMethod === '' ? undefined : [Partition, AuthMethodNamespace, AuthMethod],
    },
  },
  // Version 1 held only the root token and the anonymous token, and only the hashes of their secrets.
  // `server/acl/seed.ts` writes both anew.
  upcast: (row) => {
    const { AccessorID, SecretHash, Description, CreateIndex, ModifyIndex } = row as AclToken;
    return {
      AccessorID,
      SecretHash,
      Description,
      CreateIndex,
      ModifyIndex,
      SecretSealed: '',
      Policies: [],
      Roles: [],
      TemplatedPolicies: [],
      ServiceIdentities: [],
      NodeIdentities: [],
      Local: false,
      AuthMethod: '',
      AuthMethodNamespace: '',
      ExpirationTime: 0,
      CreateTime: 0,
      Hash: '',
      Namespace: defaultNamespace,
      Partition: defaultPartition,
    };
  },
});

/** A single row: whether the first token was made. */
export const aclBootstrap = table<AclBootstrap>({
  name: 'acl-bootstrap',
  version: 1,
  key: () => ['bootstrap'],
  indexes: {},
});

export const authMethods = table<AuthMethod>({
  name: 'auth-methods',
  version: 1,
  key: (method) => [...scopeOf(method), method.Name],
  indexes: {},
});

export const bindingRules = table<BindingRule, 'method'>({
  name: 'binding-rules',
  version: 1,
  key: (rule) => [...scopeOf(rule), rule.ID],
  indexes: { method: { key: (rule) => [...scopeOf(rule), rule.AuthMethod] } },
});

export const keyringKeys = table<KeyringKey>({
  name: 'keyring-keys',
  version: 1,
  key: (key) => [key.KeyID],
  indexes: {},
});

/** Variables as lists show them, without their items. */
export const variables = table<VariableMetadata>({
  name: 'variables',
  version: 1,
  scopeParts: 2,
  key: ({ Namespace, Path }) => inNamespace(Namespace, Path),
  indexes: {},
});

/** The items of each variable, sealed. */
export const variableItems = table<SealedItems>({
  name: 'variable-items',
  version: 1,
  key: ({ Namespace, Path }) => inNamespace(Namespace, Path),
  indexes: {},
});

/** Logins with a browser that have begun. */
export const oidcSessions = table<OidcSession, 'expiry'>({
  name: 'oidc-sessions',
  version: 1,
  isOmittedUnused: true,
  key: ({ ID }) => [ID],
  indexes: { expiry: { key: ({ ExpireMs }) => [numberPart(ExpireMs)] } },
});

/** Limits of logins that are used up, for the next leader. */
export const usedUpLimits = table<UsedUpLimit, 'expiry'>({
  name: 'used-up-limits',
  version: 1,
  isOmittedUnused: true,
  key: ({ Kind, Name }) => [Kind, Name],
  indexes: { expiry: { key: ({ ExpireMs }) => [numberPart(ExpireMs)] } },
});

/** Answers to writes with an `Idempotency-Key`. */
export const keptAnswers = table<KeptAnswer, 'expiry'>({
  name: 'kept-answers',
  version: 1,
  isOmittedUnused: true,
  key: ({ Accessor, Route, Key }) => [Accessor, Route, Key],
  indexes: { expiry: { key: ({ ExpireMs }) => [numberPart(ExpireMs)] } },
});
