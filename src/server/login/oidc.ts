import { createHash } from 'node:crypto';
import * as client from 'openid-client';
import type { Clock, Secrets } from '../../base/ports.ts';
import type { SecretBox } from '../../base/secret-box.ts';
import type { OidcConfig } from '../../model/auth-method/config.ts';
import type { Claims } from '../../model/auth-method/identity.ts';
import { limits } from '../../model/limits.ts';
import { oidcSessions } from '../../state/tables.ts';
import type { State, Transaction } from '../../state/types.ts';
import { makeRoom } from '../expiring-rows.ts';
import { type Outbound, OutboundError } from './outbound.ts';
import { discover, type SigningKeyStore } from './signing-keys.ts';
import { TokenRefusal } from './token-refusal.ts';
import { verifyJwt } from './verify-jwt.ts';

/**
 * Logins through a browser: authorization code flow with PKCE (RFC 7636) and a nonce.
 *
 * Invariants
 *  O1. A session is known by its `state` alone, and expires after `oidcSession.ageMs`. It is a sealed row, which the
 *      transaction that makes the token deletes: so any leader can finish a login, and one of them once.
 *  O2. Finishing a session takes the client nonce that it was started with, so a stolen redirect is
 *      of no use without it.
 *  O3. A refused finish deletes the session as well, so nobody can try twice. A session costs two writes at most,
 *      and its start is limited by address.
 *  O4. At most `oidcSession.keptMax` sessions are kept; the oldest are dropped.
 *  O5. The signature of the id token is verified, even though it comes over TLS.
 */
export interface OidcStart {
  /** The method with its namespace: a session is finished with the method it began with. */
  readonly method: string;
  readonly redirectUri: string;
  readonly clientNonce: string;
  readonly meta: Readonly<Record<string, string>>;
}

interface Session extends OidcStart {
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface OidcFinish {
  readonly method: string;
  readonly state: string;
  readonly code: string;
  readonly clientNonce: string;
  /** `iss` of the redirect (RFC 9207), if the caller passes it on. */
  readonly issuer: string | undefined;
}

/** The user of a finished login. */
export interface OidcUser {
  /** The provider's claims about the user. */
  readonly claims: Claims;
  readonly meta: OidcStart['meta'];
  /** Uses the session up, in the transaction that makes the token. @throws TokenRefusal */
  readonly use: (transaction: Transaction) => void;
}

export interface OidcWorld {
  readonly outbound: Outbound;
  readonly keys: SigningKeyStore;
  readonly clock: Clock;
  readonly secrets: Pick<Secrets, 'bytes' | 'equal'>;
  readonly box: SecretBox;
  /** The state for sessions that begin. */
  readonly state: State;
  /** The state for what a refused login leaves behind, which is no effect of its request. */
  readonly bookkeeping: State;
}

export class OidcLogins {
  readonly #world: OidcWorld;
  /** The sessions that are being finished here. */
  readonly #underWay = new Set<string>();

  constructor(world: OidcWorld) {
    this.#world = world;
  }

  /** The address to open in a browser. @throws TokenRefusal, OutboundError */
  async start(config: OidcConfig, start: OidcStart): Promise<string> {
    if (!config.AllowedRedirectURIs.some((allowed) => isAllowed(allowed, start.redirectUri))) {
      throw new TokenRefusal('the redirect URI is not among its AllowedRedirectURIs');
    }
    const provider = await this.#provider(config, start.redirectUri);
    const [state, nonce, codeVerifier] = [this.#random(), this.#random(), this.#random()];
    await this.#keepSession(state, { ...start, nonce, codeVerifier });
    const scopes = new Set(['openid', ...config.OIDCScopes]);
    const url = client.buildAuthorizationUrl(provider, {
      redirect_uri: start.redirectUri,
      scope: [...scopes].join(' '),
      response_type: 'code',
      state,
      nonce,
      code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...(config.OIDCACRValues.length > 0 && { acr_values: config.OIDCACRValues.join(' ') }),
    });
    return url.href;
  }

  /** @throws TokenRefusal, OutboundError, and what `issue` throws */
  async finish<T>(
    config: OidcConfig,
    finish: OidcFinish,
    issue: (user: OidcUser) => Promise<T>,
  ): Promise<T> {
    const id = this.#world.box.fingerprint(finish.state);
    const session = this.#findSession(id);
    this.#underWay.add(id);
    try {
      const claims = await this.#claimsOf(config, session, finish);
      const use = (transaction: Transaction) => {
        if (!transaction.table(oidcSessions).delete(id)) throw usedBefore();
      };
      return await issue({ claims, meta: session.meta, use });
    } catch (error) {
      // After any other error nobody knows, or nothing was done.
      if (error instanceof TokenRefusal || error instanceof OutboundError) {
        await this.#world.bookkeeping.write((transaction) =>
          transaction.table(oidcSessions).delete(id),
        );
      }
      throw error;
    } finally {
      this.#underWay.delete(id);
    }
  }

  async #claimsOf(config: OidcConfig, session: Session, finish: OidcFinish): Promise<Claims> {
    this.#requireSame(session, finish);
    const provider = await this.#provider(config, session.redirectUri);
    const tokens = await this.#exchange(provider, session, finish);
    const idToken = tokens.id_token ?? '';
    const keys = await this.#world.keys.keysOf(config);
    const verified = await verifyJwt(idToken, config, keys, this.#world.clock.nowMs());
    const more = await userInfo(provider, tokens, String(verified.sub));
    // Signed claims win over those of the user info.
    return { ...more, ...verified };
  }

  #findSession(id: string): Session {
    const { bookkeeping, box, clock } = this.#world;
    const row = bookkeeping.head().table(oidcSessions).get(id);
    const isKnown = row !== undefined && row.ExpireMs > clock.nowMs();
    if (!isKnown || this.#underWay.has(id)) throw usedBefore();
    return JSON.parse(box.open(row.Sealed)) as Session;
  }

  #requireSame(session: Session, { method, clientNonce }: OidcFinish): void {
    if (session.method !== method)
      throw new TokenRefusal('its state is of another auth method', { isTold: true });
    if (!this.#world.secrets.equal(session.clientNonce, clientNonce)) {
      throw new TokenRefusal('the client nonce is not the one that it began with', {
        isTold: true,
      });
    }
  }

  async #keepSession(state: string, session: Session): Promise<void> {
    const { box, clock } = this.#world;
    const text = JSON.stringify(session);
    const { keptMax: rowsMax, ageMs, lengthMax } = limits.oidcSession;
    if (text.length > lengthMax) {
      throw new TokenRefusal('its redirect URI, client nonce and meta are too long', {
        isTold: true,
      });
    }
    const nowMs = clock.nowMs();
    const { removedAtOnceMax: removedMax } = limits.aclLogin;
    await this.#world.state.write((transaction) => {
      makeRoom(transaction, oidcSessions, { nowMs, rowsMax, removedMax });
      const ID = box.fingerprint(state);
      const row = { ID, Sealed: box.seal(text), ExpireMs: nowMs + ageMs };
      transaction.table(oidcSessions).put(row);
    });
  }

  async #provider(config: OidcConfig, redirectUri: string): Promise<client.Configuration> {
    const { outbound } = this.#world;
    const { OIDCDiscoveryURL: url, OIDCDiscoveryCACert: caCertificate } = config;
    const { document } = await discover(outbound, url, caCertificate);
    const provider = new client.Configuration(
      document as unknown as client.ServerMetadata,
      config.OIDCClientID,
      { client_secret: config.OIDCClientSecret, [client.clockTolerance]: clockToleranceSeconds },
      authentication(config, document),
    );
    // The validation of a method allows plain http for loopback addresses only.
    if (url.startsWith('http:')) client.allowInsecureRequests(provider);
    provider[client.customFetch] = fetchOver(outbound, caCertificate, redirectUri);
    return provider;
  }

  async #exchange(
    provider: client.Configuration,
    session: Session,
    finish: OidcFinish,
  ): ReturnType<typeof client.authorizationCodeGrant> {
    const url = new URL(session.redirectUri);
    url.searchParams.set('code', finish.code);
    url.searchParams.set('state', finish.state);
    url.searchParams.set('iss', finish.issuer ?? provider.serverMetadata().issuer);
    try {
      return await client.authorizationCodeGrant(provider, url, {
        expectedState: finish.state,
        expectedNonce: session.nonce,
        pkceCodeVerifier: session.codeVerifier,
        idTokenExpected: true,
      });
    } catch (error) {
      throw refusedBy(error);
    }
  }

  #random(): string {
    return Buffer.from(this.#world.secrets.bytes(32)).toString('base64url');
  }
}

const usedBefore = () =>
  new TokenRefusal('its state is unknown, was used before or is too old', { isTold: true });

const clockToleranceSeconds = limits.aclLogin.clockSkewDefaultMs / 1000;

/** The address must be in the list; of a loopback address the port may differ (RFC 8252 §7.3). */
function isAllowed(allowed: string, given: string): boolean {
  if (allowed === given) return true;
  const [left, right] = [URL.parse(allowed), URL.parse(given)];
  if (left === null || right === null || !/^(127\.0\.0\.1|\[::1\])$/.test(left.hostname))
    return false;
  left.port = right.port;
  return left.href === right.href;
}

/** The provider's authentication method that shows the secret in the fewest places. */
function authentication(
  { OIDCClientSecret }: OidcConfig,
  document: Readonly<Record<string, unknown>>,
): client.ClientAuth {
  const offered = document.token_endpoint_auth_methods_supported;
  const isPostOnly =
    Array.isArray(offered) &&
    offered.includes('client_secret_post') &&
    !offered.includes('client_secret_basic');
  const basic = client.ClientSecretBasic(OIDCClientSecret);
  return isPostOnly ? client.ClientSecretPost(OIDCClientSecret) : basic;
}

/** Requests of `openid-client` go through the port, with its limits. */
function fetchOver(
  outbound: Outbound,
  caCertificate: string,
  redirectUri: string,
): client.CustomFetch {
  return async (url, { method, headers, body }) => {
    // The library leaves out the query of the redirect URI, but the provider compares the whole
    // URI.
    if (body instanceof URLSearchParams && body.has('redirect_uri')) {
      body.set('redirect_uri', redirectUri);
    }
    const answer = await outbound({
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers: Object.fromEntries(new Headers(headers as Record<string, string>)),
      ...(body !== null && body !== undefined && { body: String(body) }),
      caCertificate,
    });
    const { 'content-encoding': _, 'transfer-encoding': __, ...told } = answer.headers;
    const empty = answer.status === 204 || answer.status === 304;
    return new Response(empty ? null : answer.body, { status: answer.status, headers: told });
  };
}

/** Many providers report groups only there. A provider without such an endpoint is fine. */
async function userInfo(
  provider: client.Configuration,
  { access_token: accessToken }: { readonly access_token: string },
  subject: string,
): Promise<Claims> {
  if (provider.serverMetadata().userinfo_endpoint === undefined) return {};
  try {
    return await client.fetchUserInfo(provider, accessToken, subject);
  } catch (error) {
    throw refusedBy(error);
  }
}

/** Unwraps the library's errors; a network error stays a network error. */
function refusedBy(error: unknown): Error {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof OutboundError) return cause;
  }
  if (error instanceof client.ResponseBodyError) {
    const described = error.error_description ?? error.error;
    return new TokenRefusal(`the provider says: ${described.slice(0, 256)}`, { isTold: true });
  }
  if (
    error instanceof client.ClientError ||
    error instanceof client.WWWAuthenticateChallengeError
  ) {
    return new TokenRefusal(`the answer of the provider is not accepted: ${error.message}`);
  }
  return error as Error;
}
