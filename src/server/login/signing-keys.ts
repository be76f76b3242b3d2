import { createPublicKey, type KeyObject } from 'node:crypto';
import type { createLocalJWKSet, JSONWebKeySet } from 'jose';
import type { Clock } from '../../base/ports.ts';
import type { JwtConfig, OidcConfig } from '../../model/auth-method/config.ts';
import { isLoopback } from '../../model/auth-method/validate.ts';
import { limits } from '../../model/limits.ts';
import { fetchJson, type Outbound, OutboundError } from './outbound.ts';

/** Finds the key that a token names, or throws; in the form that jose takes. */
export type FindKey = ReturnType<typeof createLocalJWKSet>;

/** The keys whose signatures a method accepts. */
export type SigningKeys =
  /** Tokens do not name these keys, so each key is tried. */
  | { readonly kind: 'static'; readonly keys: readonly KeyObject[] }
  | {
      readonly kind: 'fetched';
      readonly find: FindKey;
      /** The issuer that the provider names; `undefined` if only keys are known. */
      readonly issuer: string | undefined;
      /** Fetches the keys again, as they may have changed; keys that are fresh are not fetched. */
      readonly again: () => Promise<FindKey>;
    };

interface Fetched {
  readonly find: FindKey;
  readonly issuer: string | undefined;
  readonly atMs: number;
}

/**
 * Keys by their source, fetched on demand and kept for a while. A token with an unknown key causes
 * another fetch at most every `keysRefetchMs`, so that guessing puts no load on the provider.
 */
export class SigningKeyStore {
  readonly #outbound: Outbound;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Fetched>();
  readonly #underWay = new Map<string, Promise<Fetched>>();

  constructor(outbound: Outbound, clock: Clock) {
    this.#outbound = outbound;
    this.#clock = clock;
  }

  /** @throws OutboundError when the provider cannot be reached */
  async keysOf(config: JwtConfig | OidcConfig, fresh = false): Promise<SigningKeys> {
    if ('JWTValidationPubKeys' in config && config.JWTValidationPubKeys.length > 0) {
      return {
        kind: 'static',
        keys: config.JWTValidationPubKeys.map((pem) => createPublicKey(pem)),
      };
    }
    const { keysAgeMs, keysRefetchMs } = limits.outbound;
    const { find, issuer } = await this.#fetchUnlessFresh(config, fresh ? -1 : keysAgeMs);
    const again = async () => (await this.#fetchUnlessFresh(config, keysRefetchMs)).find;
    return { kind: 'fetched', find, issuer, again };
  }

  async #fetchUnlessFresh(config: JwtConfig | OidcConfig, ageMs: number): Promise<Fetched> {
    const place = JSON.stringify(placeOf(config));
    const known = this.#kept.get(place);
    if (known !== undefined && this.#clock.monotonicMs() - known.atMs <= ageMs) return known;
    const underWay = this.#underWay.get(place);
    if (underWay !== undefined) return underWay;
    const fetching = this.#fetch(config).finally(() => this.#underWay.delete(place));
    this.#underWay.set(place, fetching);
    const fetched = await fetching;
    this.#kept.delete(place);
    this.#kept.set(place, fetched);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= limits.outbound.providersKept) break;
      this.#kept.delete(oldest);
    }
    return fetched;
  }

  async #fetch(config: JwtConfig | OidcConfig): Promise<Fetched> {
    const { jwksUrl, discoveryUrl, caCertificate } = placeOf(config);
    let url = jwksUrl;
    let issuer: string | undefined;
    if (discoveryUrl !== '') {
      const metadata = await discover(this.#outbound, discoveryUrl, caCertificate);
      issuer = metadata.issuer;
      url = metadata.jwksUri;
    }
    const jwks = await fetchJson(this.#outbound, { url, caCertificate });
    if (!Array.isArray(jwks.keys)) throw new OutboundError(`${url} answered with no key set`);
    const { createLocalJWKSet } = await import('jose');
    try {
      const find = createLocalJWKSet(jwks as unknown as JSONWebKeySet);
      return { find, issuer, atMs: this.#clock.monotonicMs() };
    } catch {
      throw new OutboundError(`${url} answered with no key set`);
    }
  }
}

function placeOf(config: JwtConfig | OidcConfig) {
  const jwksUrl = 'JWKSURL' in config ? config.JWKSURL : '';
  const discoveryUrl = config.OIDCDiscoveryURL;
  const jwksCertificate = 'JWKSCACert' in config ? config.JWKSCACert : '';
  const caCertificate = discoveryUrl === '' ? jwksCertificate : config.OIDCDiscoveryCACert;
  return { jwksUrl, discoveryUrl, caCertificate };
}

export interface ProviderMetadata {
  readonly issuer: string;
  readonly jwksUri: string;
  /** The whole document. */
  readonly document: Readonly<Record<string, unknown>>;
}

const usedEndpoints = [
  'jwks_uri',
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
] as const;

/**
 * An attacker who can change keys on their way can log in as anybody. So only a provider on this
 * machine may name addresses without TLS, and only addresses of this machine.
 */
function isSafe(endpoint: unknown, base: string): boolean {
  const parsed = typeof endpoint === 'string' ? URL.parse(endpoint) : null;
  if (parsed?.protocol === 'https:') return true;
  return parsed?.protocol === 'http:' && base.startsWith('http:') && isLoopback(parsed.hostname);
}

/** The provider's metadata (OpenID Connect Discovery 1.0 §4). @throws OutboundError */
export async function discover(
  outbound: Outbound,
  discoveryUrl: string,
  caCertificate: string,
): Promise<ProviderMetadata> {
  const base = discoveryUrl
    .replace(/\/+$/, '')
    .replace(/\/\.well-known\/openid-configuration$/, '');
  const url = `${base}/.well-known/openid-configuration`;
  const document = await fetchJson(outbound, { url, caCertificate });
  const { issuer, jwks_uri: jwksUri } = document;
  if (typeof issuer !== 'string' || typeof jwksUri !== 'string') {
    throw new OutboundError(`${url} names no issuer or no jwks_uri`);
  }
  for (const field of usedEndpoints) {
    const endpoint = document[field];
    if (endpoint !== undefined && !isSafe(endpoint, base)) {
      throw new OutboundError(`${url} names a ${field} that is no https URL`);
    }
  }
  // A document for another issuer would let this provider sign in the other's name.
  if (issuer.replace(/\/+$/, '') !== base) {
    throw new OutboundError(`${url} is of the issuer "${issuer.slice(0, 256)}", not of "${base}"`);
  }
  return { issuer, jwksUri, document };
}
