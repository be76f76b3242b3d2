import { configOf } from '../../model/auth-method/config.ts';
import { identityShape } from '../../model/auth-method/identity.ts';
import { bindingRuleFaults } from '../../model/binding-rule/bind.ts';
import { type BindingRule, BindingRuleSchema } from '../../model/binding-rule/binding-rule.ts';
import { complete } from '../../model/complete.ts';
import { type Fault, invalid, refusal, unchangeable } from '../../model/errors.ts';
import type { Scope } from '../../model/namespace/namespace.ts';
import { quote } from '../../model/path.ts';
import type { Input } from '../../model/schema.ts';
import { authMethods, bindingRules, inScope } from '../../state/tables.ts';
import type { Snapshot, Transaction, Written } from '../../state/types.ts';
import { idGiven } from '../acl/policies.ts';
import { requireSameId, requireScope, requireUuid } from '../acl/scope.ts';
import type { ServerContext } from '../context.ts';

export type BindingRuleRequest = Input<BindingRule>;

/** @throws RosterError `invalid-body`, `namespace-not-found` */
export async function createBindingRule(
  context: ServerContext,
  scope: Scope,
  request: BindingRuleRequest,
): Promise<Written<BindingRule>> {
  const rule = complete(BindingRuleSchema, request);
  return context.state.write((transaction) => {
    requireScope(transaction, scope);
    const known = idGiven('binding rule', rule.ID);
    requireRight([...known, ...faultsOf(transaction, context, scope, rule)]);
    return put(transaction, scope, { ...rule, ID: context.world.ids.uuid() });
  });
}

/**
 * Replaces a binding rule. Its auth method cannot change.
 * @throws RosterError `id-mismatch`, `binding-rule-not-found`, `immutable-field`, `invalid-body`
 */
export async function updateBindingRule(
  context: ServerContext,
  scope: Scope,
  pathId: string,
  request: BindingRuleRequest,
): Promise<Written<BindingRule>> {
  const ID = requireSameId('binding rule', request.ID, pathId);
  const rule = complete(BindingRuleSchema, request);
  return context.state.write((transaction) => {
    const stored = requireBindingRule(transaction, scope, ID);
    if (rule.AuthMethod !== '' && rule.AuthMethod !== stored.AuthMethod) {
      throw unchangeable('binding rule', ['AuthMethod']);
    }
    const whole = { ...rule, ID, AuthMethod: stored.AuthMethod };
    requireRight(faultsOf(transaction, context, scope, whole));
    return put(transaction, scope, whole);
  });
}

/** `false`: there was no such rule. */
export async function deleteBindingRule(
  { state }: ServerContext,
  scope: Scope,
  pathId: string,
): Promise<Written<boolean>> {
  const id = requireUuid(pathId);
  return state.write((transaction) =>
    transaction.table(bindingRules).delete(...inScope(scope, id)),
  );
}

/** @throws RosterError `binding-rule-not-found` */
export function requireBindingRule(snapshot: Snapshot, scope: Scope, id: string): BindingRule {
  const rule = snapshot.table(bindingRules).get(...inScope(scope, id));
  if (rule === undefined) throw refusal('binding-rule-not-found', { id });
  return rule;
}

function faultsOf(
  transaction: Transaction,
  { box }: ServerContext,
  scope: Scope,
  rule: BindingRule,
): readonly Fault[] {
  const { AuthMethod: name } = rule;
  // No name has a NUL, which separates the parts of a key.
  const method = name.includes('\0')
    ? undefined
    : transaction.table(authMethods).get(...inScope(scope, name));
  if (method === undefined) {
    const message =
      name === '' ? 'AuthMethod is required' : `AuthMethod names no auth method: ${quote(name)}`;
    return [{ pointer: '/AuthMethod', message }, ...bindingRuleFaults(rule, undefined)];
  }
  return bindingRuleFaults(rule, identityShape(configOf(method, (sealed) => box.open(sealed))));
}

function requireRight(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalid('invalid-body', faults);
}

function put(transaction: Transaction, scope: Scope, rule: BindingRule): BindingRule {
  const { namespace: Namespace, partition: Partition } = scope;
  return transaction.table(bindingRules).put({ ...rule, Namespace, Partition });
}
