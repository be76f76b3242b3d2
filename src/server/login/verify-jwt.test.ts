import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { type JwtConfig, readConfig } from '../../model/auth-method/config.ts';
import {
  type FakeNetwork,
  fakeNetwork,
  forged,
  type SigningPair,
  sign,
  signingPair,
} from './login.test-helper.ts';
import { SigningKeyStore, type SigningKeys } from './signing-keys.ts';
import { verifyJwt } from './verify-jwt.ts';

const jwksUrl = 'https://keys.example/jwks';
const issuer = 'https://login.example';
const nowMs = Date.UTC(2026, 0, 1);
const now = nowMs / 1000;

let rsa: SigningPair;
let otherRsa: SigningPair;
let ec: SigningPair;
let ed: SigningPair;
let network: FakeNetwork;

beforeAll(async () => {
  [rsa, otherRsa, ec, ed] = await Promise.all([
    signingPair('RS256', 'rsa'),
    signingPair('RS256', 'other'),
    signingPair('ES256', 'ec'),
    signingPair('EdDSA', 'ed'),
  ]);
});

const configOf = (raw: object): JwtConfig => {
  const { typed, faults } = readConfig('jwt', raw as Record<string, unknown>);
  expect(faults).toEqual([]);
  return typed!.config as JwtConfig;
};

async function verify(token: string, raw: object = {}, keys?: SigningKeys) {
  network = fakeNetwork({ [jwksUrl]: { keys: [rsa.jwk, ec.jwk, ed.jwk] } });
  const whole = 'JWTValidationPubKeys' in raw ? raw : { JWKSURL: jwksUrl, ...raw };
  const config = configOf(whole);
  const store = new SigningKeyStore(network.outbound, new SimulatedWorld(1).clock);
  return verifyJwt(token, config, keys ?? (await store.keysOf(config)), nowMs);
}

const good = { sub: 'ann', iss: issuer, aud: 'roster', iat: now, exp: now + 300 };

describe('accepted tokens', () => {
  test.each([
    ['a published RSA key', () => sign(rsa, good), {}],
    ['a published EC key', () => sign(ec, good), { JWTSupportedAlgs: ['ES256'] }],
    ['a published Ed25519 key', () => sign(ed, good), { JWTSupportedAlgs: ['EdDSA'] }],
    ['the bound issuer', () => sign(rsa, good), { BoundIssuer: issuer }],
    [
      'one of the bound audiences',
      () => sign(rsa, { ...good, aud: ['x', 'roster'] }),
      { BoundAudiences: ['roster', 'y'] },
    ],
    ['expired within the leeway', () => sign(rsa, { ...good, exp: now - 149 }), {}],
    [
      'expired within a leeway of its own',
      () => sign(rsa, { ...good, exp: now - 500 }),
      { ExpirationLeeway: '10m' },
    ],
    [
      'expired within the skew',
      () => sign(rsa, { ...good, exp: now - 59 }),
      { ExpirationLeeway: -1 },
    ],
    ['not yet valid within the leeway', () => sign(rsa, { ...good, nbf: now + 149 }), {}],
    ['no expiry, but issued just now', () => sign(rsa, { iat: now - 100 }), {}],
  ] as const)('%s', async (_, token, config) => {
    expect(await verify(await token(), config)).toMatchObject({});
  });

  test('a static key, whatever key the token names', async () => {
    const token = await sign(rsa, good, { kid: 'nobody' });
    const claims = await verify(token, { JWTValidationPubKeys: [ec.pem, otherRsa.pem, rsa.pem] });
    expect(claims).toEqual(good);
  });
});

const none = (claims: object): string => forged({ alg: 'none' }, claims);

/** The RSA public key as an HMAC secret: the classic key confusion. */
const confused = (alg: string, claims: object): string => {
  const text = forged({ alg, kid: 'rsa' }, claims).slice(0, -1);
  return `${text}.${createHmac('sha256', rsa.pem).update(text).digest('base64url')}`;
};

type Row = readonly [string, () => string | Promise<string>, object, RegExp];

describe('refused tokens, in the order of the checks', () => {
  test.each<Row>([
    ['no JWT', () => 'garbage', {}, /no signed JWT/],
    ['two parts', () => 'e30.e30', {}, /no signed JWT/],
    ['alg none', () => none(good), {}, /signature algorithm is "none"/],
    ['alg None', () => forged({ alg: 'None' }, good), {}, /signature algorithm is "None"/],
    ['no alg', () => forged({}, good), {}, /signature algorithm/],
    ['key confusion', () => confused('HS256', good), {}, /signature algorithm is "HS256"/],
    ['an algorithm that the method does not take', () => sign(ec, good), {}, /takes RS256/],
    ['a key confused with another kind', () => confused('RS256', good), {}, /signature is wrong/],
    ['a key nobody published', () => sign(otherRsa, good), {}, /does not publish/],
    [
      'a key that poses as another',
      () => sign(otherRsa, good, { kid: 'rsa' }),
      {},
      /signature is wrong/,
    ],
    ['changed claims', async () => tampered(await sign(rsa, good)), {}, /signature is wrong/],
    ['no times at all', () => sign(rsa, { sub: 'ann' }), {}, /none of the claims/],
    ['an invalid time', () => sign(rsa, { ...good, nbf: 'soon' as never }), {}, /nbf is no time/],
    ['expired', () => sign(rsa, { ...good, exp: now - 151 }), {}, /expired since/],
    [
      'expired, with all leeways off',
      () => sign(rsa, { ...good, exp: now - 1 }),
      { ExpirationLeeway: -1, ClockSkewLeeway: -1 },
      /expired since/,
    ],
    ['no expiry and issued long ago', () => sign(rsa, { iat: now - 151 }), {}, /too old/],
    ['not yet valid', () => sign(rsa, { ...good, nbf: now + 151 }), {}, /not valid before/],
    [
      'issued in the future',
      () => sign(rsa, { ...good, nbf: now, iat: now + 151, exp: now + 400 }),
      {},
      /issued in the future/,
    ],
    ['another issuer', () => sign(rsa, good), { BoundIssuer: 'https://evil.example' }, /issuer is/],
    [
      'no issuer where one is bound',
      () => sign(rsa, { iat: now }),
      { BoundIssuer: issuer },
      /names no issuer/,
    ],
    [
      'another audience',
      () => sign(rsa, good),
      { BoundAudiences: ['other'] },
      /audience is "roster"/,
    ],
    [
      'no audience where one is bound',
      () => sign(rsa, { iat: now }),
      { BoundAudiences: ['a'] },
      /audience is null/,
    ],
  ])('%s', async (_, token, config, reason) => {
    await expect(verify(await token(), config)).rejects.toThrow(reason);
    await expect(verify(await token(), config)).rejects.toHaveProperty('name', 'TokenRefusal');
  });

  test.each([
    ['static keys and an unknown signer', () => sign(otherRsa, good), /no key of this method/],
    [
      'static keys and key confusion',
      () => confused('HS256', good),
      /signature algorithm is "HS256"/,
    ],
    ['static keys and alg none', () => none(good), /signature algorithm is "none"/],
  ] as const)('%s', async (_, token, reason) => {
    const config = { JWTValidationPubKeys: [rsa.pem, ec.pem] };
    await expect(verify(await token(), config)).rejects.toThrow(reason);
  });

  test('a symmetric key among the published ones is never used', async () => {
    const secret = Buffer.from('s'.repeat(32));
    network = fakeNetwork({
      [jwksUrl]: { keys: [{ kty: 'oct', kid: 'h', k: secret.toString('base64url') }] },
    });
    const config = configOf({ JWKSURL: jwksUrl });
    const store = new SigningKeyStore(network.outbound, new SimulatedWorld(1).clock);
    const text = forged({ alg: 'HS256', kid: 'h' }, good).slice(0, -1);
    const token = `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    const keys = await store.keysOf(config);
    await expect(verifyJwt(token, config, keys, nowMs)).rejects.toThrow(/signature algorithm/);
  });
});

function tampered(token: string): string {
  const [header, , signature] = token.split('.');
  const claims = Buffer.from(JSON.stringify({ ...good, sub: 'root' })).toString('base64url');
  return [header, claims, signature].join('.');
}

describe('where keys come from', () => {
  const store = () => {
    const world = new SimulatedWorld(1);
    return { world, keys: new SigningKeyStore(network.outbound, world.clock) };
  };

  test('keys are fetched once, and again when a token names another key, but not at every guess', async () => {
    network = fakeNetwork({ [jwksUrl]: { keys: [rsa.jwk] } });
    const { world, keys } = store();
    const config = configOf({ JWKSURL: jwksUrl });
    const login = async (pair: SigningPair) =>
      verifyJwt(await sign(pair, good), config, await keys.keysOf(config), nowMs);
    await login(rsa);
    await login(rsa);
    expect(network.asked).toEqual([jwksUrl]);
    await expect(login(otherRsa)).rejects.toThrow(/does not publish/);
    await expect(login(otherRsa)).rejects.toThrow(/does not publish/);
    expect(network.asked).toHaveLength(1);
    network.pages.set(jwksUrl, { body: { keys: [rsa.jwk, otherRsa.jwk] } });
    await world.advance(30_001);
    await login(otherRsa);
    expect(network.asked).toHaveLength(2);
  });

  test('discovery tells the keys and the issuer, which tokens must then name', async () => {
    const configuration = `${issuer}/.well-known/openid-configuration`;
    network = fakeNetwork({
      [configuration]: { issuer, jwks_uri: jwksUrl },
      [jwksUrl]: { keys: [rsa.jwk] },
    });
    const config = configOf({ OIDCDiscoveryURL: `${issuer}/` });
    const keys = await store().keys.keysOf(config);
    expect(network.asked).toEqual([configuration, jwksUrl]);
    await verifyJwt(await sign(rsa, good), config, keys, nowMs);
    const stranger = await sign(rsa, { ...good, iss: 'https://other.example' });
    await expect(verifyJwt(stranger, config, keys, nowMs)).rejects.toThrow(/issuer is/);
  });

  test.each([
    ['unreachable', {}, /ECONNREFUSED/],
    ['another status', { [jwksUrl]: undefined }, /status 500/],
    ['no JSON', { [jwksUrl]: 'hello' }, /something other than a JSON object/],
    ['a list', { [jwksUrl]: [] }, /something other than a JSON object/],
    ['no keys', { [jwksUrl]: { hello: 1 } }, /no key set/],
    ['invalid keys', { [jwksUrl]: { keys: [1] } }, /no key set/],
  ] as const)('%s', async (_, pages, reason) => {
    network = fakeNetwork(pages);
    for (const [url, body] of Object.entries(pages)) {
      if (body === undefined) network.pages.set(url, { status: 500, body: {} });
    }
    await expect(store().keys.keysOf(configOf({ JWKSURL: jwksUrl }))).rejects.toThrow(reason);
  });

  test.each([
    ['another issuer', { issuer: 'https://evil.example', jwks_uri: jwksUrl }, /is of the issuer/],
    ['no keys named', { issuer }, /names no issuer or no jwks_uri/],
  ] as const)('discovery with %s', async (_, document, reason) => {
    network = fakeNetwork({ [`${issuer}/.well-known/openid-configuration`]: document });
    await expect(store().keys.keysOf(configOf({ OIDCDiscoveryURL: issuer }))).rejects.toThrow(
      reason,
    );
  });
});
