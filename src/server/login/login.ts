import type { AclToken } from '../../model/acl-token/acl-token.ts';
import type { AuthMethod } from '../../model/auth-method/auth-method.ts';
import { configOf, type TypedConfig } from '../../model/auth-method/config.ts';
import { identityOfClaims } from '../../model/auth-method/identity.ts';
import { type Fault, invalid, type RosterError, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Scope } from '../../model/namespace/namespace.ts';
import { aclTokens, authMethods, inScope } from '../../state/tables.ts';
import type { State, Written } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { Attempts, LoginGuard } from './attempts.ts';
import { type Issue, issueToken, type Verified } from './issue-token.ts';
import type { OidcLogins } from './oidc.ts';
import { type Outbound, OutboundError, unreachable } from './outbound.ts';
import { SignInLinks } from './sign-in-links.ts';
import { SigningKeyStore } from './signing-keys.ts';
import { TokenRefusal } from './token-refusal.ts';
import { UsedUpLimits } from './used-up.ts';
import { verifyKubernetes } from './verify-kubernetes.ts';

export interface LoginRequest {
  readonly authMethod: string;
  readonly bearerToken: string;
  readonly meta: Readonly<Record<string, string>>;
}

export interface OidcStartRequest {
  readonly authMethod: string;
  readonly redirectUri: string;
  readonly clientNonce: string;
  readonly meta: Readonly<Record<string, string>>;
}

export interface OidcFinishRequest {
  readonly authMethod: string;
  readonly state: string;
  readonly code: string;
  readonly clientNonce: string;
  readonly issuer: string | undefined;
}

export interface LoginOptions {
  readonly context: ServerContext;
  /** The state for what a refused login leaves behind, which is no effect of its request. */
  readonly bookkeeping: State;
  readonly outbound: Outbound;
  /** The datacenter of node identities that logins grant. */
  readonly datacenter: string;
}

/**
 * Logins: a credential that an auth method accepts is exchanged for a token with everything that
 * the binding rules grant. Source: docs/behaviour/access-control.md#logging-in-and-out.
 *
 * Invariants
 *  L1. The method, its rules and their roles and policies are read in the transaction that makes the
 *      token: after a deletion they grant nothing.
 *  L2. Credentials are neither kept nor logged.
 *  L3. A failure counts against the address it came from. Its reason is logged; the caller, who may
 *      be anybody, learns nothing of the method, not even whether it exists.
 */
export class LoginService {
  readonly keys: SigningKeyStore;
  /** Links for the web interface. */
  readonly links: SignInLinks;
  readonly #options: LoginOptions;
  readonly #guard: LoginGuard;
  readonly #starts: Attempts;
  #oidc: Promise<OidcLogins> | undefined;

  constructor(options: LoginOptions) {
    this.#options = options;
    const { outbound, bookkeeping } = options;
    const { box, world } = options.context;
    const { clock } = world;
    this.keys = new SigningKeyStore(outbound, clock);
    const usedUp = new UsedUpLimits({ state: bookkeeping, box, clock });
    this.#guard = new LoginGuard({ clock, usedUp });
    this.links = new SignInLinks(options.context, this.#guard);
    const { startsBurst: burst, startRefillMs: refillMs } = limits.oidcSession;
    this.#starts = new Attempts({ kind: 'start', clock, usedUp, burst, refillMs });
  }

  /** Its libraries are loaded at the first login. */
  #oidcLogins(): Promise<OidcLogins> {
    const { outbound, bookkeeping, context } = this.#options;
    const { state, box, world } = context;
    const { clock, secrets } = world;
    const { keys } = this;
    this.#oidc ??= import('./oidc.ts').then(
      ({ OidcLogins }) =>
        new OidcLogins({ outbound, keys, clock, secrets, box, state, bookkeeping }),
    );
    return this.#oidc;
  }

  /** @throws RosterError `login-refused`, `too-many-logins`, `identity-provider-unreachable` */
  async login(scope: Scope, request: LoginRequest, address: string): Promise<Written<AclToken>> {
    requireGiven({ AuthMethod: request.authMethod, BearerToken: request.bearerToken });
    return this.#attempt(scope, request.authMethod, address, async (method, typed) => {
      const verified = await this.#verify(typed, request.bearerToken.trim());
      return this.#issue({ method, typed, verified, meta: request.meta });
    });
  }

  /** The address to open in a browser. @throws RosterError as {@link login} */
  async oidcAuthUrl(scope: Scope, request: OidcStartRequest, address: string): Promise<string> {
    const { authMethod, redirectUri, clientNonce, meta } = request;
    requireGiven({ AuthMethod: authMethod, RedirectURI: redirectUri, ClientNonce: clientNonce });
    // Starting a login reveals nothing, but causes work at the provider.
    if (!(await this.#starts.take(address))) {
      throw refusal('too-many-logins', { whence: 'from this address' });
    }
    const method = methodKey(scope, authMethod);
    const start = { method, redirectUri, clientNonce, meta };
    return this.#attempt(scope, authMethod, address, async (_, typed) =>
      (await this.#oidcLogins()).start(oidcOf(typed), start),
    );
  }

  /** @throws RosterError as {@link login} */
  async oidcCallback(
    scope: Scope,
    request: OidcFinishRequest,
    address: string,
  ): Promise<Written<AclToken>> {
    const { authMethod, state, code, clientNonce, issuer } = request;
    const given = { AuthMethod: authMethod, State: state, Code: code, ClientNonce: clientNonce };
    requireGiven(given);
    const finish = { method: methodKey(scope, authMethod), state, code, clientNonce, issuer };
    return this.#attempt(scope, authMethod, address, async (method, typed) => {
      const oidc = await this.#oidcLogins();
      return oidc.finish(oidcOf(typed), finish, async ({ claims, meta, use }) => {
        const identity = identityOfClaims(typed as Extract<TypedConfig, { type: 'oidc' }>, claims);
        if (typeof identity === 'string') throw new TokenRefusal(identity);
        return this.#issue({ method, typed, verified: { identity }, meta, use });
      });
    });
  }

  /**
   * Deletes the token of a login; `undefined`: the caller has no token.
   * @throws RosterError `not-logged-in`, `token-not-from-login`
   */
  async logout(accessor: string | undefined): Promise<Written<boolean>> {
    if (accessor === undefined) throw refusal('not-logged-in');
    return this.#options.context.state.write((transaction) => {
      const tokens = transaction.table(aclTokens);
      const token = tokens.by('accessor').find({ prefix: [accessor] });
      if (token === undefined) throw refusal('not-logged-in');
      if (token.AuthMethod === '') throw refusal('token-not-from-login');
      return tokens.delete(token.Partition, token.Namespace, token.AccessorID);
    });
  }

  async #attempt<T>(
    scope: Scope,
    name: string,
    address: string,
    run: (method: AuthMethod, typed: TypedConfig) => Promise<T>,
  ): Promise<T> {
    return this.#guard.attempt(address, methodKey(scope, name), async () => {
      const { state, box } = this.#options.context;
      const method = name.includes('\0')
        ? undefined
        : state
            .head()
            .table(authMethods)
            .get(...inScope(scope, name));
      try {
        if (method === undefined) {
          throw new TokenRefusal(
            `there is none of that name in the namespace "${scope.namespace}"`,
          );
        }
        return await run(
          method,
          configOf(method, (sealed) => box.open(sealed)),
        );
      } catch (error) {
        if (error instanceof TokenRefusal) throw this.#refuseLogin(name, error);
        if (error instanceof OutboundError) unreachable(error);
        throw error;
      }
    });
  }

  #refuseLogin(name: string, { message, isTold }: TokenRefusal): RosterError {
    const method = name.slice(0, limits.names.lengthMax);
    this.#options.context.log.info({ method, reason: message }, 'a login was refused');
    const reason = isTold
      ? message
      : 'it is not there, or takes no such credential (the log of the server says why)';
    return refusal('login-refused', { method, reason });
  }

  async #verify(typed: TypedConfig, bearer: string): Promise<Verified> {
    if (bearer.length > limits.aclLogin.bearerLengthMax) {
      throw new TokenRefusal(`it is longer than ${limits.aclLogin.bearerLengthMax} characters`);
    }
    switch (typed.type) {
      case 'oidc':
        throw new TokenRefusal(
          'it is for logins with a browser, which begin at /v1/acl/oidc/auth-url',
        );
      case 'kubernetes': {
        const login = await verifyKubernetes(bearer, typed.config, this.#options.outbound);
        const { MapNamespaces, NamespacePrefix, NamespaceOverrides } = typed.config;
        if (!MapNamespaces) return { identity: login.identity };
        const mapped = NamespaceOverrides[login.namespace] ?? NamespacePrefix + login.namespace;
        return { identity: login.identity, namespace: mapped };
      }
      case 'jwt': {
        const { verifyJwt } = await import('./verify-jwt.ts');
        const keys = await this.keys.keysOf(typed.config);
        const nowMs = this.#options.context.world.clock.nowMs();
        const claims = await verifyJwt(bearer, typed.config, keys, nowMs);
        const identity = identityOfClaims(typed, claims);
        if (typeof identity === 'string') throw new TokenRefusal(identity);
        return { identity };
      }
    }
  }

  #issue(issue: Omit<Issue, 'datacenter'>): Promise<Written<AclToken>> {
    const { context, datacenter } = this.#options;
    return issueToken(context, { ...issue, datacenter });
  }
}

const methodKey = ({ partition, namespace }: Scope, name: string): string =>
  JSON.stringify([partition, namespace, name]);

function oidcOf(typed: TypedConfig) {
  if (typed.type === 'oidc') return typed.config;
  throw new TokenRefusal(
    `it is of the type ${typed.type}, which takes a credential at /v1/acl/login`,
  );
}

/** @throws RosterError `invalid-body` naming what is missing. */
function requireGiven(fields: Readonly<Record<string, string>>): void {
  const faults: Fault[] = Object.entries(fields)
    .filter(([, value]) => value.trim() === '')
    .map(([name]) => ({ pointer: `/${name}`, message: `${name} is required` }));
  if (faults.length > 0) throw invalid('invalid-body', faults);
}
