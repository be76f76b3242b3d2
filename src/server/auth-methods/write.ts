import type { SecretBox } from '../../base/secret-box.ts';
import {
  type AuthMethod,
  AuthMethodSchema,
  type AuthMethodType,
  authMethodTypes,
  hiddenSecret,
} from '../../model/auth-method/auth-method.ts';
import { readConfig, secretFields, type TypedConfig } from '../../model/auth-method/config.ts';
import { authMethodFaults } from '../../model/auth-method/validate.ts';
import { complete } from '../../model/complete.ts';
import { type Fault, invalid, refusal, unchangeable } from '../../model/errors.ts';
import type { Scope } from '../../model/namespace/namespace.ts';
import type { Input } from '../../model/schema.ts';
import { aclTokens, authMethods, bindingRules, inScope } from '../../state/tables.ts';
import type { Snapshot, Transaction, Unstamped, Written } from '../../state/types.ts';
import { requireScope } from '../acl/scope.ts';
import { requireSameName } from '../checks.ts';
import type { ServerContext } from '../context.ts';
import { OutboundError } from '../login/outbound.ts';
import type { SigningKeyStore } from '../login/signing-keys.ts';

export type AuthMethodRequest = Input<AuthMethod>;

export interface AuthMethodContext extends ServerContext {
  readonly keys: SigningKeyStore;
}

/**
 * Makes an auth method. Its keys are fetched before anything is stored, so that a wrong address
 * shows now and not at the first login.
 * @throws RosterError `invalid-body`, `name-taken`, `namespace-not-found`
 */
export async function createAuthMethod(
  context: AuthMethodContext,
  scope: Scope,
  request: AuthMethodRequest,
): Promise<Written<AuthMethod>> {
  const checked = checkedMethod(context.box, scope, request, undefined);
  refuseTaken(context.state.head(), scope, checked.row.Name);
  await contact(context, checked.typed);
  return context.state.write((transaction) => {
    requireScope(transaction, scope);
    refuseTaken(transaction, scope, checked.row.Name);
    return put(transaction, context.box, checked);
  });
}

/**
 * Replaces an auth method. Its name and type cannot change. A secret given as `<hidden>` stays as
 * it is. Source: docs/contract/access-control.md#update-an-auth-method.
 * @throws RosterError `id-mismatch`, `auth-method-not-found`, `immutable-field`, `invalid-body`
 */
export async function updateAuthMethod(
  context: AuthMethodContext,
  scope: Scope,
  name: string,
  request: AuthMethodRequest,
): Promise<Written<AuthMethod>> {
  requireSameName('auth method', request.Name, name);
  const stored = requireAuthMethod(context.state.head(), scope, name);
  if (request.Type && request.Type !== stored.Type) {
    throw unchangeable('auth method', ['Type']);
  }
  const whole = { ...request, Name: name, Type: stored.Type };
  const checked = checkedMethod(context.box, scope, whole, stored);
  await contact(context, checked.typed);
  return context.state.write((transaction) => {
    // While the provider answered, the method may have been deleted or made anew.
    const now = requireAuthMethod(transaction, scope, name);
    if (now.Type !== checked.row.Type) {
      throw unchangeable('auth method', ['Type']);
    }
    return put(transaction, context.box, checked);
  });
}

/** Secrets are sealed in the transaction that stores them (`keyring/keyring.ts` K2). */
function put(transaction: Transaction, box: SecretBox, { row, given, type }: Checked): AuthMethod {
  const { open, sealed } = apart(box, type, given);
  return transaction.table(authMethods).put({ ...row, Config: open, SealedConfig: sealed });
}

/**
 * Deletes the method, its binding rules and every token that it made, in one transaction. `false`:
 * there was no such method. Source: docs/contract/access-control.md#delete-an-auth-method.
 */
export async function deleteAuthMethod(
  { state }: ServerContext,
  scope: Scope,
  name: string,
): Promise<Written<boolean>> {
  return state.write((transaction) => {
    if (!transaction.table(authMethods).delete(...inScope(scope, name))) return false;
    const range = { prefix: inScope(scope, name) };
    const rules = transaction.table(bindingRules);
    for (const { ID } of [...rules.by('method').scan(range)]) rules.delete(...inScope(scope, ID));
    deleteTokensOf(transaction, range);
    return true;
  });
}

function deleteTokensOf(
  transaction: Transaction,
  range: { readonly prefix: readonly string[] },
): void {
  const tokens = transaction.table(aclTokens);
  for (const { Partition, Namespace, AccessorID } of [...tokens.by('method').scan(range)]) {
    tokens.delete(Partition, Namespace, AccessorID);
  }
}

/** @throws RosterError `auth-method-not-found` */
export function requireAuthMethod(snapshot: Snapshot, scope: Scope, name: string): AuthMethod {
  const method = snapshot.table(authMethods).get(...inScope(scope, name));
  if (method !== undefined) return method;
  throw refusal('auth-method-not-found', { name, namespace: scope.namespace });
}

function refuseTaken(snapshot: Snapshot, scope: Scope, name: string): void {
  if (!snapshot.table(authMethods).has(...inScope(scope, name))) return;
  throw refusal('name-taken', { noun: 'auth method', name });
}

interface Checked {
  /** All fields but the configuration. */
  readonly row: Unstamped<AuthMethod>;
  readonly type: AuthMethodType;
  /** The configuration as the caller wrote it, with its secrets in clear. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly typed: TypedConfig;
}

function checkedMethod(
  box: SecretBox,
  { namespace: Namespace, partition: Partition }: Scope,
  request: AuthMethodRequest,
  stored: AuthMethod | undefined,
): Checked {
  const { CreateIndex: _, ModifyIndex: __, ...method } = complete(AuthMethodSchema, request);
  const placed = { ...method, Namespace, Partition };
  const faults: Fault[] = [];
  if (method.Type === '') {
    const message = `Type must be one of ${authMethodTypes.join(', ')}`;
    faults.push({ pointer: '/Type', message });
  }
  const { Config } = request;
  if (!Config) faults.push({ pointer: '/Config', message: 'Config is required' });
  const type = authMethodTypes.find((known) => known === method.Type);
  const read =
    type && Config ? readConfig(type, withStoredSecrets(box, type, Config, stored)) : undefined;
  faults.push(...(read?.faults ?? []), ...authMethodFaults(placed, read?.typed));
  if (type) faults.push(...unknownSecretFaults(type, read?.given ?? {}));
  if (type === undefined || read?.typed === undefined || faults.length > 0) {
    throw invalid('invalid-body', faults);
  }
  const row = { ...placed, Config: null, SealedConfig: null };
  return { row, type, given: read.given, typed: read.typed };
}

/** A method that was read with its secrets hidden can be sent back as it is. */
function withStoredSecrets(
  box: SecretBox,
  type: AuthMethodType,
  config: Readonly<Record<string, unknown>>,
  stored: AuthMethod | undefined,
): Readonly<Record<string, unknown>> {
  const names = new Map(secretFields[type].map((name) => [name.toLowerCase(), name]));
  const entries = Object.entries(config).map(([key, value]) => {
    const name = names.get(key.toLowerCase());
    const sealed = name === undefined ? undefined : stored?.SealedConfig?.[name];
    return [key, value === hiddenSecret && sealed !== undefined ? box.open(sealed) : value];
  });
  return Object.fromEntries(entries);
}

/** Nothing is stored that a hidden secret could keep. */
const unknownSecretFaults = (type: AuthMethodType, given: Readonly<Record<string, unknown>>) =>
  secretFields[type]
    .filter((name) => given[name] === hiddenSecret)
    .map((name) => ({
      pointer: `/Config/${name}`,
      message: `Config.${name} was hidden from you: give the secret itself`,
    }));

function apart(
  box: SecretBox,
  type: AuthMethodType,
  given: Readonly<Record<string, unknown>>,
): {
  readonly open: Readonly<Record<string, unknown>>;
  readonly sealed: Readonly<Record<string, string>> | null;
} {
  const isSecret = ([name]: [string, unknown]) => secretFields[type].includes(name);
  const entries = Object.entries(given);
  const sealed = entries
    .filter(isSecret)
    .map(([name, value]) => [name, box.seal(String(value))] as const);
  return {
    open: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    sealed: sealed.length === 0 ? null : Object.fromEntries(sealed),
  };
}

/** Clusters are not contacted: they have no harmless request, and may be started later. */
async function contact({ keys }: AuthMethodContext, { type, config }: TypedConfig): Promise<void> {
  if (type === 'kubernetes') return;
  try {
    await keys.keysOf(config, true);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const field = config.OIDCDiscoveryURL === '' ? 'JWKSURL' : 'OIDCDiscoveryURL';
    const message = `Config.${field} cannot be used: ${error.message}`;
    throw invalid('invalid-body', [{ pointer: `/Config/${field}`, message }]);
  }
}
