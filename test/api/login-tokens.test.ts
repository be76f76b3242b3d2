/** Tokens verified with keys from the network: accepted and refused ones. */
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { forged, sign } from '../../src/server/login/login.test-helper.ts';
import { useKeyLogins } from '../support/key-logins.ts';
import { jwksPath, startKeyServer } from '../support/key-server.ts';

const logins = useKeyLogins();
const { claims, now, bearer, expectAccepted, expectRefused, prepare } = logins;
const { keysAgeMs } = limits.outbound;

/** The public key, in forms that a verifier could mistake for an HMAC secret. */
const confused = (secret: string, header: object = {}) => {
  const text = forged({ alg: 'HS256', kid: 'first', ...header }, claims()).slice(0, -1);
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};

describe('tokens', () => {
  test.each<[string, () => string | Promise<string>, RegExp]>([
    ['alg none', () => forged({ alg: 'none' }, claims()), /algorithm is "none"/],
    ['alg none, with a key', () => forged({ alg: 'none', kid: 'first' }, claims()), /"none"/],
    ['alg NONE', () => forged({ alg: 'NONE', kid: 'first' }, claims()), /algorithm is "NONE"/],
    ['no alg', () => forged({ kid: 'first' }, claims()), /algorithm is "undefined"/],
    [
      'RS256 without a signature',
      () => forged({ alg: 'RS256', kid: 'first' }, claims()),
      /signature is wrong/,
    ],
    ['the public key as a secret', () => confused(logins.first.pem), /algorithm is "HS256"/],
    ['the published key as a secret', () => confused(JSON.stringify(logins.first.jwk)), /"HS256"/],
    [
      'the public key as a secret, under the name of RS256',
      () => confused(logins.first.pem, { alg: 'RS256' }),
      /signature is wrong/,
    ],
    ['a stranger', () => bearer({}, logins.stranger), /does not publish/],
    [
      "a stranger with another's name",
      () => sign(logins.stranger, claims(), { kid: 'first' }),
      /signature is wrong/,
    ],
    ['the claims of another', async () => swapped(await bearer()), /signature is wrong/],
  ])('with %s are refused', async (_, token, reason) => {
    await prepare();
    await expectRefused(token(), reason);
  });

  test('with a key or a link to one are refused, and the link is not followed', async () => {
    const evil = await startKeyServer([{ ...logins.stranger.jwk, kid: 'first' }]);
    await prepare();
    for (const header of [
      { jwk: logins.stranger.jwk },
      { jku: evil.jwksUrl },
      { x5u: evil.jwksUrl },
    ]) {
      await expectRefused(sign(logins.stranger, claims(), { kid: 'first', ...header }), /is wrong/);
    }
    expect(evil.asked).toEqual([]);
    await evil.close();
  });

  test('signed with a public value as the secret are refused', async () => {
    await prepare();
    const k = Buffer.from('s'.repeat(32));
    logins.server.answer(jwksPath, {
      body: { keys: [{ kty: 'oct', kid: 'first', k: k.toString('base64url') }] },
    });
    await logins.api.world.advance(keysAgeMs + 1);
    await expectRefused(confused(k.toString()), /algorithm is "HS256"/);
    await expectRefused(confused(k.toString(), { alg: 'RS256' }), /does not publish/);
  });

  test.each<[what: string, claims: () => object, reason: RegExp]>([
    ['another audience', () => ({ aud: 'other' }), /audience is "other"; this method takes roster/],
    ['other audiences', () => ({ aud: ['a', 'b'] }), /audience is \["a","b"\]/],
    ['no audience', () => ({ aud: undefined }), /audience is null/],
    ['an invalid audience', () => ({ aud: { roster: 1 } }), /audience/],
    ['no time', () => ({ iat: undefined, exp: undefined }), /none of the claims iat, nbf and exp/],
    ['an invalid time', () => ({ exp: 'tomorrow' }), /claim exp is no time/],
  ])('with %s are refused', async (_, more, reason) => {
    await prepare();
    await expectRefused(bearer(more()), reason);
  });

  test('with the audience among others are accepted', async () => {
    await prepare();
    await expectAccepted(bearer({ aud: ['other', 'roster'] }));
  });

  const none = { ExpirationLeeway: -1, NotBeforeLeeway: -1, ClockSkewLeeway: -1 };
  /** The deciding claim, and its greatest distance from now in seconds. */
  test.each<[what: string, leeways: object, claim: 'exp' | 'nbf' | 'iat', seconds: number]>([
    ['by default', {}, 'exp', 150],
    ['by default', {}, 'nbf', 150],
    ['by default', {}, 'iat', 150],
    ['of its own', { ExpirationLeeway: '10m' }, 'exp', 600],
    ['of its own', { NotBeforeLeeway: '10m' }, 'nbf', 600],
    ['of the clocks, when that is wider', { ...none, ClockSkewLeeway: '20s' }, 'exp', 20],
    ['of the clocks, when that is wider', { ...none, ClockSkewLeeway: '20s' }, 'nbf', 20],
    ['of the clocks by default', { ...none, ClockSkewLeeway: 0 }, 'exp', 60],
    ['of none', none, 'exp', 0],
    ['of none', none, 'nbf', 0],
    ['of none', none, 'iat', 0],
  ])('are accepted within a leeway %s (%j, %s), and not beyond it', async (...row) => {
    const [, leeways, claim, seconds] = row;
    await prepare({ JWKSURL: logins.server.jwksUrl, ...leeways });
    const at = (beyond: number) =>
      claim === 'exp'
        ? { iat: now() - 3600, exp: now() - beyond }
        : { nbf: now() - 3600, iat: now() - 3600, exp: now() + 3600, [claim]: now() + beyond };
    await expectAccepted(bearer(at(seconds)));
    const reasons = { exp: /is expired since/, nbf: /not valid before/, iat: /in the future/ };
    await expectRefused(bearer(at(seconds + 1)), reasons[claim]);
  });
});

/** With the claims of someone else. */
function swapped(token: string): string {
  const [header, , signature] = token.split('.');
  const other = Buffer.from(JSON.stringify(claims({ sub: 'root' }))).toString('base64url');
  return `${header}.${other}.${signature}`;
}
