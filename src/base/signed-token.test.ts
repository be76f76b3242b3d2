import { createLocalJWKSet, importJWK, jwtVerify, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { claimsIn, looksSigned, readToken, signingKey, signToken } from './signed-token.ts';

// `jose` is the oracle.

const seed = (first: number) => Uint8Array.from({ length: 32 }, (_, at) => (at + first) % 256);
const key = signingKey('k1', seed(1));
const other = signingKey('k1', seed(2));
const jwkOf = (one: typeof key) => ({ kty: 'OKP', crv: 'Ed25519', x: one.publicKey, kid: one.id });
const claims = { sub: 'global:default:web:g:t:default', aud: ['roster'], ünïcode: '🦊' };

const verified = (text: string, publicKey = key.publicKey) => {
  const token = readToken(text);
  return token && claimsIn(token, publicKey);
};

test('`jose` verifies a token that was signed here', async () => {
  const keys = createLocalJWKSet({ keys: [{ ...jwkOf(key), alg: 'EdDSA', use: 'sig' }] });
  const { payload, protectedHeader } = await jwtVerify(signToken(claims, key), keys);
  expect(payload).toEqual(claims);
  expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: 'k1', typ: 'JWT' });
});

test('a token that `jose` signed is verified here', async () => {
  const d = Buffer.from(seed(1)).toString('base64url');
  const signing = await importJWK({ ...jwkOf(key), d }, 'EdDSA');
  const text = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA', kid: 'k1' })
    .sign(signing);
  expect(readToken(text)?.keyId).toBe('k1');
  expect(verified(text)).toEqual(claims);
});

const [head, body, signature] = signToken(claims, key).split('.') as [string, string, string];
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
test.each([
  ['another key', () => [head, body, signToken(claims, other).split('.')[2]]],
  ['other claims', () => [head, encode({ ...claims, sub: 'root' }), signature]],
  ['another header', () => [encode({ alg: 'EdDSA', kid: 'k1' }), body, signature]],
  ['no algorithm', () => [encode({ alg: 'none', kid: 'k1' }), body, signature]],
  ['a shared secret', () => [encode({ alg: 'HS256', kid: 'k1' }), body, signature]],
  ['no key', () => [encode({ alg: 'EdDSA' }), body, signature]],
  [
    'a critical extension',
    () => [encode({ alg: 'EdDSA', kid: 'k1', crit: ['x'] }), body, signature],
  ],
  ['a cut signature', () => [head, body, signature.slice(0, -4)]],
  ['a header that is no JSON', () => ['eyJhb', body, signature]],
  ['two parts', () => [head, body]],
  ['four parts', () => [head, body, signature, signature]],
])('refused: %s', (_, parts) => {
  expect(verified(parts().join('.'))).toBeUndefined();
});

test('a secret does not look like a signed token', () => {
  expect(looksSigned('11111111-1111-4111-8111-111111111111')).toBe(false);
  expect(looksSigned('')).toBe(false);
});
