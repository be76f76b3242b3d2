import type { KeyObject } from 'node:crypto';
import { type CryptoKey, compactVerify, decodeProtectedHeader, errors } from 'jose';
import type { JwtConfig, OidcConfig } from '../../model/auth-method/config.ts';
import type { Claims } from '../../model/auth-method/identity.ts';
import { leewayMs } from '../../model/auth-method/validate.ts';
import { limits } from '../../model/limits.ts';
import type { FindKey, SigningKeys } from './signing-keys.ts';
import { TokenRefusal } from './token-refusal.ts';

const told = { isTold: true };

const defaultAlgorithms = ['RS256'];

/**
 * Verifies a signed JWT against the configuration of a method.
 *
 * Invariants
 *  J1. Only the algorithms that the method names are accepted, and none of them is symmetric or
 *      `none`: a public key never serves as an HMAC secret.
 *  J2. Nothing in the token is believed before its signature was verified.
 *  J3. A token without any time in it is refused: it would be valid for ever.
 *  J4. Every error is a {@link TokenRefusal} whose sentence names the fault. Of the token's claims it
 *      shows only those that are compared.
 */
export async function verifyJwt(
  token: string,
  config: JwtConfig | OidcConfig,
  keys: SigningKeys,
  nowMs: number,
): Promise<Claims> {
  const algorithms =
    config.JWTSupportedAlgs.length === 0 ? defaultAlgorithms : [...config.JWTSupportedAlgs];
  checkHeader(token, algorithms);
  const payload = await verifiedPayload(token, keys, algorithms);
  const claims = claimsOf(payload);
  checkTimes(claims, leewaysOf(config), nowMs);
  checkIssuer(claims, 'BoundIssuer' in config ? config.BoundIssuer : '', keys);
  checkAudience(claims, config.BoundAudiences);
  return claims;
}

function checkHeader(token: string, algorithms: readonly string[]): void {
  let algorithm: unknown;
  try {
    algorithm = decodeProtectedHeader(token).alg;
  } catch {
    throw new TokenRefusal('it is no signed JWT');
  }
  if (typeof algorithm !== 'string' || !algorithms.includes(algorithm)) {
    const used = JSON.stringify(String(algorithm).slice(0, 32));
    const wanted = algorithms.join(', ');
    throw new TokenRefusal(`its signature algorithm is ${used}; this method takes ${wanted}`);
  }
}

async function verifiedPayload(
  token: string,
  keys: SigningKeys,
  algorithms: string[],
): Promise<Uint8Array> {
  if (keys.kind === 'static') return tryEach(token, keys.keys, algorithms);
  try {
    return await payloadBy(keys.find, token, algorithms);
  } catch (error) {
    if (!(error instanceof NoSuchKey)) throw error;
    // The provider may have replaced its keys under the same names.
    const again = await keys.again();
    if (again === keys.find) throw error;
    return payloadBy(again, token, algorithms);
  }
}

async function payloadBy(find: FindKey, token: string, algorithms: string[]): Promise<Uint8Array> {
  try {
    return (await compactVerify(token, find, { algorithms })).payload;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) {
      return tryEach(token, await all(error), algorithms);
    }
    throw refusedBy(error);
  }
}

/** No key verifies the token. */
class NoSuchKey extends TokenRefusal {}

type Key = KeyObject | CryptoKey;

async function all(matching: AsyncIterable<CryptoKey>): Promise<readonly Key[]> {
  const keys: Key[] = [];
  for await (const key of matching) keys.push(key);
  return keys;
}

/** Skips keys that do not fit the algorithm or the signature. */
async function tryEach(
  token: string,
  keys: readonly Key[],
  algorithms: string[],
): Promise<Uint8Array> {
  for (const key of keys) {
    try {
      return (await compactVerify(token, key, { algorithms })).payload;
    } catch (error) {
      if (error instanceof errors.JWSInvalid) throw refusedBy(error);
    }
  }
  throw new NoSuchKey('no key of this method verifies its signature');
}

/** Every error that a token can cause in the verification is a refusal. */
function refusedBy(error: unknown): TokenRefusal {
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new NoSuchKey('its signature is wrong');
  }
  if (error instanceof errors.JWKSNoMatchingKey) {
    return new NoSuchKey('it is signed with a key that the provider does not publish');
  }
  return new TokenRefusal('it is no signed JWT that can be verified');
}

function claimsOf(payload: Uint8Array): Claims {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder('utf8', { fatal: true }).decode(payload));
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
      return parsed as Claims;
    }
  } catch {
    // The error below says so.
  }
  throw new TokenRefusal('its claims are no JSON object');
}

interface Leeways {
  readonly expirationMs: number;
  readonly notBeforeMs: number;
  readonly skewMs: number;
}

function leewaysOf(config: JwtConfig | OidcConfig): Leeways {
  const { leewayDefaultMs, clockSkewDefaultMs } = limits.aclLogin;
  const jwt = 'ExpirationLeeway' in config ? config : undefined;
  return {
    expirationMs: leewayMs(jwt?.ExpirationLeeway ?? 0, leewayDefaultMs),
    notBeforeMs: leewayMs(jwt?.NotBeforeLeeway ?? 0, leewayDefaultMs),
    skewMs: leewayMs(jwt?.ClockSkewLeeway ?? 0, clockSkewDefaultMs),
  };
}

/** A missing time follows from the others. Of two leeways the wider one holds. */
function checkTimes(claims: Claims, leeways: Leeways, nowMs: number): void {
  const issuedMs = timeOf(claims, 'iat');
  const givenExpiryMs = timeOf(claims, 'exp');
  const givenStartMs = timeOf(claims, 'nbf');
  if (issuedMs === undefined && givenExpiryMs === undefined && givenStartMs === undefined) {
    throw new TokenRefusal('it has none of the claims iat, nbf and exp', told);
  }
  const startMs = givenStartMs ?? issuedMs ?? Number.NEGATIVE_INFINITY;
  const expiryMs = givenExpiryMs ?? Math.max(issuedMs ?? 0, givenStartMs ?? 0);
  const { expirationMs, notBeforeMs, skewMs } = leeways;
  if (nowMs > expiryMs + Math.max(expirationMs, skewMs)) {
    const claim = givenExpiryMs === undefined ? 'too old' : 'expired';
    throw new TokenRefusal(`it is ${claim} since ${new Date(expiryMs).toISOString()}`, told);
  }
  if (nowMs < startMs - Math.max(notBeforeMs, skewMs)) {
    throw new TokenRefusal(`it is not valid before ${new Date(startMs).toISOString()}`, told);
  }
  if (issuedMs !== undefined && nowMs < issuedMs - Math.max(notBeforeMs, skewMs)) {
    const issued = new Date(issuedMs).toISOString();
    throw new TokenRefusal(`it is issued in the future, at ${issued}`, told);
  }
}

/** The last second that a Date can show. */
const lastSecond = 8.64e12;

function timeOf(claims: Claims, name: 'iat' | 'exp' | 'nbf'): number | undefined {
  const value = claims[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value) || Math.abs(value) > lastSecond) {
    throw new TokenRefusal(`its claim ${name} is no time`, told);
  }
  return value * 1000;
}

function checkIssuer(claims: Claims, boundIssuer: string, keys: SigningKeys): void {
  const provider = keys.kind === 'fetched' ? keys.issuer : undefined;
  for (const wanted of [boundIssuer, provider]) {
    if (wanted === undefined || wanted === '' || claims.iss === wanted) continue;
    const got = JSON.stringify(claims.iss)?.slice(0, 256);
    const found = got === undefined ? 'it names no issuer' : `its issuer is ${got}`;
    throw new TokenRefusal(`${found}; this method takes "${wanted}"`);
  }
}

function checkAudience(claims: Claims, bound: readonly string[]): void {
  if (bound.length === 0) return;
  const audiences = Array.isArray(claims.aud) ? (claims.aud as unknown[]) : [claims.aud];
  if (audiences.some((one) => bound.includes(one as string))) return;
  const got = JSON.stringify(claims.aud ?? null).slice(0, 256);
  throw new TokenRefusal(`its audience is ${got}; this method takes ${bound.join(', ')}`);
}
