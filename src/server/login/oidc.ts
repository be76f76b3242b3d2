import { createHash } from 'node:crypto';
import * as client from 'openid-client';
import type { Clock, Secrets } from '../../base/ports.ts';
import type { OidcConfig } from '../../model/auth-method/config.ts';
import type { Claims } from '../../model/auth-method/identity.ts';
import { limits } from '../../model/limits.ts';
import { type Outbound, OutboundError } from './outbound.ts';
import { discover, type SigningKeyStore } from './signing-keys.ts';
import { TokenRefusal, verifyJwt } from './verify-jwt.ts';

/**
 * Logins through a browser: authorization code flow with PKCE (RFC 7636) and a nonce.
 *
 * Invariants
 *  O1. A session is known by its `state` alone, is used once, and expires after `oidcSession.ageMs`.
 *  O2. Finishing a session takes the client nonce that it was started with, so a stolen redirect is
 *      of no use without it.
 *  O3. At most `oidcSession.keptMax` sessions are kept; the oldest are dropped.
 *  O4. The signature of the id token is verified, even though it comes over TLS.
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
  readonly startedMs: number;
}

export interface OidcFinish {
  readonly method: string;
  readonly state: string;
  readonly code: string;
  readonly clientNonce: string;
  /** `iss` of the redirect (RFC 9207), if the caller passes it on. */
  readonly issuer: string | undefined;
}

export interface OidcWorld {
  readonly outbound: Outbound;
  readonly keys: SigningKeyStore;
  readonly clock: Clock;
  readonly secrets: Pick<Secrets, 'bytes' | 'equal'>;
}

export class OidcLogins {
  readonly #world: OidcWorld;
  readonly #sessions = new Map<string, Session>();

  constructor(world: OidcWorld) {
    this.#world = world;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** The address to open in a browser. @throws TokenRefusal, OutboundError */
  async start(config: OidcConfig, start: OidcStart): Promise<string> {
    if (!config.AllowedRedirectURIs.some((allowed) => isAllowed(allowed, start.redirectUri))) {
      throw new TokenRefusal('the redirect URI is not among its AllowedRedirectURIs');
    }
    const provider = await this.#provider(config, start.redirectUri);
    const [state, nonce, codeVerifier] = [this.#random(), this.#random(), this.#random()];
    const startedMs = this.#world.clock.monotonicMs();
    this.#keepSession(state, { ...start, nonce, codeVerifier, startedMs });
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

  /** The provider's claims about the user. @throws TokenRefusal, OutboundError */
  async finish(
    config: OidcConfig,
    finish: OidcFinish,
  ): Promise<{ readonly claims: Claims; readonly meta: OidcStart['meta'] }> {
    const session = this.#takeSession(finish);
    const provider = await this.#provider(config, session.redirectUri);
    const tokens = await this.#exchange(provider, session, finish);
    const idToken = tokens.id_token ?? '';
    const keys = await this.#world.keys.keysOf(config);
    const verified = await verifyJwt(idToken, config, keys, this.#world.clock.nowMs());
    const more = await userInfo(provider, tokens, String(verified.sub));
    // Signed claims win over those of the user info.
    return { claims: { ...more, ...verified }, meta: session.meta };
  }

  /** Removes the session whatever comes of it, so that nobody can try twice. */
  #takeSession({ method, state, clientNonce }: OidcFinish): Session {
    const session = this.#sessions.get(state);
    this.#sessions.delete(state);
    const { ageMs } = limits.oidcSession;
    if (session === undefined || this.#world.clock.monotonicMs() - session.startedMs > ageMs) {
      throw new TokenRefusal('its state is unknown, was used before or is too old', {
        isTold: true,
      });
    }
    if (session.method !== method)
      throw new TokenRefusal('its state is of another auth method', { isTold: true });
    if (!this.#world.secrets.equal(session.clientNonce, clientNonce)) {
      throw new TokenRefusal('the client nonce is not the one that it began with', {
        isTold: true,
      });
    }
    return session;
  }

  #keepSession(state: string, session: Session): void {
    this.#sessions.set(state, session);
    const { keptMax, ageMs } = limits.oidcSession;
    for (const [oldest, { startedMs }] of this.#sessions) {
      const isOver = session.startedMs - startedMs > ageMs;
      if (!isOver && this.#sessions.size <= keptMax) break;
      this.#sessions.delete(oldest);
    }
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
    return new TokenRefusal(`what the provider answered is not accepted: ${error.message}`);
  }
  return error as Error;
}
