import type { AclPolicy } from '../../model/acl-policy/acl-policy.ts';
import { builtinPolicyOf } from '../../model/acl-policy/builtin.ts';
import { type AclPolicyInput, policyContent, policyHash } from '../../model/acl-policy/write.ts';
import { type Fault, refusal } from '../../model/errors.ts';
import type { Scope } from '../../model/namespace/namespace.ts';
import { aclPolicies, inScope } from '../../state/tables.ts';
import type { Snapshot, Written } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { requireFreeName, requireSameId, requireScope, requireUuid } from './scope.ts';

/** @throws RosterError `invalid-body`, `namespace-not-found`, `name-taken` */
export async function createPolicy(
  { state, world }: ServerContext,
  scope: Scope,
  input: AclPolicyInput,
): Promise<Written<AclPolicy>> {
  const content = policyContent(input, undefined, idGiven('policy', input.ID));
  const ID = world.ids.uuid();
  return state.write((transaction) => {
    requireScope(transaction, scope);
    requireFreeName(transaction, aclPolicies, { noun: 'policy', scope, name: content.Name });
    return transaction.table(aclPolicies).put({
      ID,
      ...content,
      Hash: policyHash(content),
      Namespace: scope.namespace,
      Partition: scope.partition,
    });
  });
}

/**
 * Replaces a policy. Links to it stay, also under a new name.
 * @throws RosterError `id-mismatch`, `invalid-body`, `policy-not-found`, `builtin-protected`,
 * `name-taken`
 */
export async function updatePolicy(
  { state }: ServerContext,
  scope: Scope,
  pathId: string,
  input: AclPolicyInput,
): Promise<Written<AclPolicy>> {
  const id = requireSameId('policy', input.ID, pathId);
  // A fault of the body is reported even if the policy does not exist.
  const builtin = builtinPolicyOf(scope.partition, id);
  const before = state.peek((now) => readPolicy(now, scope, id));
  const checked = builtin === undefined ? policyContent(input, before) : undefined;
  return state.write((transaction) => {
    const stored = readPolicy(transaction, scope, id);
    if (stored === undefined) throw missingPolicy(id, scope);
    // Rules are long to read: a thousand of them take 5 ms.
    const content = stored === before && checked ? checked : policyContent(input, stored);
    if (content.Name !== stored.Name)
      requireFreeName(transaction, aclPolicies, { noun: 'policy', scope, name: content.Name });
    return transaction.table(aclPolicies).put({ ...stored, ...content, Hash: policyHash(content) });
  });
}

/** `false`: there was no such policy. Links to it lead nowhere from then on. */
export async function deletePolicy(
  { state }: ServerContext,
  scope: Scope,
  pathId: string,
): Promise<Written<boolean>> {
  const id = requireUuid(pathId);
  return state.write((transaction) => {
    const stored = readPolicy(transaction, scope, id);
    if (stored === undefined) return false;
    if (builtinPolicyOf(scope.partition, id) !== undefined) {
      const reason = 'it cannot be deleted';
      throw refusal('builtin-protected', { noun: 'policy', name: stored.Name, reason });
    }
    return transaction.table(aclPolicies).delete(...inScope(scope, id));
  });
}

export const readPolicy = (snapshot: Snapshot, scope: Scope, id: string) =>
  snapshot.table(aclPolicies).get(...inScope(scope, id));

export const missingPolicy = (policy: string, { namespace }: Scope) =>
  refusal('policy-not-found', { policy, namespace });

/** The fault of a new record that is given an id. */
export const idGiven = (noun: string, id: string | null | undefined): readonly Fault[] =>
  id
    ? [{ pointer: '/ID', message: `ID cannot be given for a new ${noun}: the server makes it` }]
    : [];
