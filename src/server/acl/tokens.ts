import { type AclToken, anonymousAccessorId, isExpired } from '../../model/acl-token/acl-token.ts';
import {
  type CheckedToken,
  changedImmutables,
  checkedToken,
  checkGivenId,
  expirationOf,
  type TokenContent,
  type TokenRequest,
  type TokenRules,
  tokenHash,
} from '../../model/acl-token/write.ts';
import { invalid, refusal, unchangeable } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Scope } from '../../model/namespace/namespace.ts';
import { below } from '../../model/path.ts';
import { aclTokens, inScope } from '../../state/tables.ts';
import type { Snapshot, Transaction, Written } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { type Linker, LinkResolver } from './links.ts';
import { requireSameId, requireScope, requireUuid } from './scope.ts';

/** @throws RosterError `invalid-body`, `namespace-not-found`, `id-taken` */
export async function createToken(
  context: ServerContext,
  scope: Scope,
  request: TokenRequest,
  linker: Linker,
): Promise<Written<AclToken>> {
  const nowMs = context.world.clock.nowMs();
  let ExpirationTime = 0;
  const rules: TokenRules = (given, report) => {
    checkGivenId(given.AccessorID, 'AccessorID', report);
    checkGivenId(given.SecretID, 'SecretID', report);
    if (given.AuthMethod !== '') {
      report(below(null, 'AuthMethod'), 'cannot be given: only a login makes such a token');
    }
    ExpirationTime = expirationOf(given, nowMs, report);
  };
  const checked = checkedToken(request, rules, (given) =>
    new LinkResolver(context.state.head(), scope, linker).faultsOf(given),
  );
  const { AccessorID, SecretID } = checked.given;
  return context.state.write((transaction) => {
    requireScope(transaction, scope);
    return insertToken(transaction, context, scope, {
      ...contentOf(new LinkResolver(transaction, scope, linker), checked),
      AuthMethod: '',
      AuthMethodNamespace: '',
      CreateTime: nowMs,
      ExpirationTime,
      accessor: AccessorID.toLowerCase(),
      secret: SecretID,
    });
  });
}

export interface NewToken extends TokenContent {
  readonly AuthMethod: string;
  readonly AuthMethodNamespace: string;
  /** Unix milliseconds from which the expiration was counted. */
  readonly CreateTime: number;
  /** Unix milliseconds; 0: never. */
  readonly ExpirationTime: number;
  /** As the caller gave it; empty: the server makes one. */
  readonly accessor: string;
  readonly secret: string;
}

/**
 * Stores a token whose content was checked. Its accessor and its secret differ from every accessor
 * and every secret.
 * @throws RosterError `id-taken`
 */
export function insertToken(
  transaction: Transaction,
  { world, box }: Pick<ServerContext, 'world' | 'box'>,
  { namespace, partition }: Scope,
  { accessor, secret, ...content }: NewToken,
): AclToken {
  const table = transaction.table(aclTokens);
  const AccessorID = accessor || world.ids.uuid();
  const SecretID = secret || world.secrets.uuid();
  const isTaken = (id: string): boolean => {
    // Accessors are stored in lower case, secrets as they were given.
    const found =
      table.by('accessor').find({ prefix: [id.toLowerCase()] }) ??
      table.by('secret').find({ prefix: [box.fingerprint(id)] });
    return found !== undefined;
  };
  if (isTaken(AccessorID)) throw refusal('id-taken', { field: 'AccessorID' });
  if (isTaken(SecretID) || SecretID.toLowerCase() === AccessorID) {
    throw refusal('id-taken', { field: 'SecretID' });
  }
  return table.put({
    AccessorID,
    ...content,
    SecretSealed: box.seal(SecretID),
    SecretHash: box.fingerprint(SecretID),
    Hash: tokenHash(content),
    Namespace: namespace,
    Partition: partition,
  });
}

export interface TokenUpdate {
  readonly pathAccessor: string;
  readonly request: TokenRequest;
  readonly linker: Linker;
}

/**
 * Replaces the fields of a token that may change.
 * @throws RosterError `id-mismatch`, `invalid-body`, `accessor-not-found`, `immutable-field`
 */
export async function updateToken(
  context: ServerContext,
  scope: Scope,
  { pathAccessor, request, linker }: TokenUpdate,
): Promise<Written<AclToken>> {
  const accessor = requireSameId('token', request.AccessorID, pathAccessor);
  const { state, world, box } = context;
  const checked = checkedToken(
    request,
    () => {},
    (given) => {
      const stored = readToken(state.head(), scope, accessor, world.clock.nowMs());
      return stored === undefined
        ? []
        : new LinkResolver(state.head(), scope, linker, linksIn(stored)).faultsOf(given);
    },
  );
  const { given } = checked;
  const fingerprint = given.SecretID === '' ? undefined : box.fingerprint(given.SecretID);
  return state.write((transaction) => {
    const stored = requireToken(transaction, scope, accessor, world.clock.nowMs());
    const fits = fingerprint === undefined || world.secrets.equal(fingerprint, stored.SecretHash);
    const changed = changedImmutables(given, stored, fits);
    if (changed.length > 0) throw unchangeable('token', changed);
    const resolver = new LinkResolver(transaction, scope, linker, linksIn(stored));
    const content = contentOf(resolver, checked);
    return transaction.table(aclTokens).put({ ...stored, ...content, Hash: tokenHash(content) });
  });
}

/**
 * Makes a token with the links of another one.
 * Source: docs/contract/access-control.md#clone-a-token.
 * @throws RosterError `accessor-not-found`, `login-token-clone`, `invalid-body`
 */
export async function cloneToken(
  context: ServerContext,
  scope: Scope,
  pathAccessor: string,
  description: string,
): Promise<Written<AclToken>> {
  const accessor = requireUuid(pathAccessor);
  return context.state.write((transaction) => {
    const nowMs = context.world.clock.nowMs();
    const source = requireToken(transaction, scope, accessor, nowMs);
    if (source.AuthMethod !== '') throw refusal('login-token-clone');
    const { Policies, Roles, TemplatedPolicies, ServiceIdentities, NodeIdentities } = source;
    const { Local, ExpirationTime, AuthMethod, AuthMethodNamespace } = source;
    if (ExpirationTime !== 0 && ExpirationTime - nowMs < limits.acl.tokenTtlMinMs) {
      const message = 'the token to clone expires in less than a minute, and so would its clone';
      throw invalid('invalid-body', [{ pointer: '/ExpirationTime', message }]);
    }
    return insertToken(transaction, context, scope, {
      Description: description || source.Description,
      Policies,
      Roles,
      TemplatedPolicies,
      ServiceIdentities,
      NodeIdentities,
      Local,
      CreateTime: nowMs,
      ExpirationTime,
      AuthMethod,
      AuthMethodNamespace,
      accessor: '',
      secret: '',
    });
  });
}

/**
 * `false`: there was no such token. `callerAccessor` is the token of the caller.
 * @throws RosterError `builtin-protected`, `own-token`
 */
export async function deleteToken(
  { state, world }: ServerContext,
  scope: Scope,
  pathAccessor: string,
  callerAccessor: string | undefined,
): Promise<Written<boolean>> {
  const accessor = requireUuid(pathAccessor);
  if (accessor === anonymousAccessorId) {
    const reason = 'it cannot be deleted';
    throw refusal('builtin-protected', { noun: 'token', name: 'Anonymous Token', reason });
  }
  if (accessor === callerAccessor) throw refusal('own-token');
  return state.write((transaction) => {
    const stored = readToken(transaction, scope, accessor, world.clock.nowMs());
    if (stored === undefined) return false;
    return transaction.table(aclTokens).delete(...inScope(scope, accessor));
  });
}

/** `undefined` for a token that has expired. */
export function readToken(
  snapshot: Snapshot,
  scope: Scope,
  accessor: string,
  nowMs: number,
): AclToken | undefined {
  const token = snapshot.table(aclTokens).get(...inScope(scope, accessor));
  return token === undefined || isExpired(token, nowMs) ? undefined : token;
}

/** @throws RosterError `accessor-not-found` */
export function requireToken(
  snapshot: Snapshot,
  scope: Scope,
  accessor: string,
  nowMs: number,
): AclToken {
  const token = readToken(snapshot, scope, accessor, nowMs);
  if (token === undefined) throw refusal('accessor-not-found', { accessor });
  return token;
}

const linksIn = ({ Policies, Roles }: AclToken) => [...Policies, ...Roles];

function contentOf(resolver: LinkResolver, { given, identities }: CheckedToken): TokenContent {
  const Policies = resolver.policies(given.Policies);
  const Roles = resolver.roles(given.Roles);
  resolver.check();
  const { Description, Local } = given;
  return { Description, Policies, Roles, ...identities, Local };
}
