import { builtinPoliciesOf } from '../../model/acl-policy/builtin.ts';
import { policyHash, reservedPrefix } from '../../model/acl-policy/write.ts';
import {
  anonymousAccessorId,
  anonymousSecret,
  managementPolicyId,
} from '../../model/acl-token/acl-token.ts';
import { tokenHash } from '../../model/acl-token/write.ts';
import {
  defaultNamespace,
  defaultPartition,
  defaultScope,
  type Scope,
} from '../../model/namespace/namespace.ts';
import {
  aclBootstrap,
  aclPolicies,
  aclTokens,
  inScope,
  namespaces,
  partitions,
} from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';

type World = Pick<ServerContext, 'world' | 'box'>;

/** The partition and the namespace that every cluster has. Doing it again changes nothing. */
export function seedScopes(transaction: Transaction): void {
  const table = transaction.table(partitions);
  if (!table.has(defaultPartition)) {
    table.put({ Name: defaultPartition, Description: 'Default partition' });
  }
  const spaces = transaction.table(namespaces);
  if (spaces.has(defaultPartition, defaultNamespace)) return;
  spaces.put({
    Name: defaultNamespace,
    Description: 'Default namespace',
    Partition: defaultPartition,
    Meta: null,
    Capabilities: null,
    ACLs: null,
  });
}

/** Builtin policies, the anonymous token and, where its secret is given, the root token. */
export function seedAcl(transaction: Transaction, context: World, rootSecret?: string): void {
  const nowMs = context.world.clock.nowMs();
  for (const { Name } of transaction.table(partitions).scan()) seedPolicies(transaction, Name);
  dropUnsealed(transaction);
  if (!transaction.table(aclTokens).has(...inScope(defaultScope, anonymousAccessorId))) {
    putGlobalToken(transaction, context, {
      accessor: anonymousAccessorId,
      secret: anonymousSecret,
      nowMs,
      policies: [],
      description: 'Anonymous Token',
    });
  }
  if (rootSecret === undefined) return;
  const hash = context.box.fingerprint(rootSecret);
  for (const _ of transaction
    .table(aclTokens)
    .by('secret')
    .scan({ prefix: [hash] }))
    return;
  const accessor = context.world.ids.uuid();
  putGlobalToken(transaction, context, {
    accessor,
    secret: rootSecret,
    nowMs,
    policies: [managementPolicyId],
    description: 'Initial Management Token',
  });
  transaction.table(aclBootstrap).put({ AccessorID: accessor });
}

/** The builtin policies of a partition. Doing it again changes nothing. */
export function seedPolicies(transaction: Transaction, partition: string): void {
  const policies = transaction.table(aclPolicies);
  const scope = { namespace: defaultNamespace, partition };
  for (const builtin of builtinPoliciesOf(partition)) {
    const stored = policies.get(...inScope(scope, builtin.ID));
    // An operator may have renamed the policy; the rules are those of this version.
    if (stored?.Rules === builtin.Rules) continue;
    const content = {
      ...builtin,
      Name: freeName(transaction, scope, builtin.Name),
      ...stored,
      Rules: builtin.Rules,
      Datacenters: null,
      JobACL: null,
    };
    policies.put({
      ...content,
      Hash: policyHash(content),
      Namespace: defaultNamespace,
      Partition: partition,
    });
  }
}

/** An older partition may have a policy of its own with the name of a builtin one. */
function freeName(transaction: Transaction, scope: Scope, name: string): string {
  const range = { prefix: inScope(scope, name) };
  const isFree = transaction.table(aclPolicies).by('name').scan(range).next().done;
  return isFree ? name : `${reservedPrefix}${name}`;
}

/**
 * Removes tokens of versions that could not seal secrets: nobody can be shown their secrets any
 * more.
 */
function dropUnsealed(transaction: Transaction): void {
  const tokens = transaction.table(aclTokens);
  for (const token of [...tokens.scan({ prefix: inScope(defaultScope) })]) {
    if (token.SecretSealed === '') tokens.delete(...inScope(defaultScope, token.AccessorID));
  }
}

interface GlobalToken {
  readonly accessor: string;
  readonly secret: string;
  readonly description: string;
  readonly policies: readonly string[];
  readonly nowMs: number;
}

export function putGlobalToken(transaction: Transaction, { box }: World, token: GlobalToken) {
  const content = {
    Description: token.description,
    Policies: token.policies.map((ID) => ({ ID })),
    Roles: [],
    TemplatedPolicies: [],
    ServiceIdentities: [],
    NodeIdentities: [],
    Local: false,
  };
  return transaction.table(aclTokens).put({
    ...content,
    AccessorID: token.accessor,
    SecretSealed: box.seal(token.secret),
    SecretHash: box.fingerprint(token.secret),
    AuthMethod: '',
    AuthMethodNamespace: '',
    ExpirationTime: 0,
    CreateTime: token.nowMs,
    Hash: tokenHash(content),
    Namespace: defaultNamespace,
    Partition: defaultPartition,
  });
}
