/** Keys for the verification of logins, fetched over the network. */
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { type SigningPair, sign } from '../../src/server/login/login.test-helper.ts';
import { useKeyLogins } from '../support/key-logins.ts';
import { discoveryPath, jwksPath, type KeyReply, startKeyServer } from '../support/key-server.ts';

const logins = useKeyLogins();
const { claims, bearer, expectAccepted, expectRefused, makeMethod, prepare, publish } = logins;
const { keysAgeMs, keysRefetchMs, timeoutMs, answerBytesMax } = limits.outbound;

/** The ways of finding the keys, with the requests that follow. */
const sources: readonly [string, () => object, readonly string[]][] = [
  ['JWKSURL', () => ({ JWKSURL: logins.server.jwksUrl }), [jwksPath]],
  [
    'OIDCDiscoveryURL',
    () => ({ OIDCDiscoveryURL: logins.server.origin }),
    [discoveryPath, jwksPath],
  ],
];

describe.each(sources)('keys by %s', (_, config, paths) => {
  beforeEach(() => prepare(config()));

  test('are fetched when the method is written, and used until they are old', async () => {
    await expectAccepted(bearer());
    await logins.api.world.advance(keysAgeMs);
    await expectAccepted(bearer());
    expect(logins.server.asked).toEqual([]);
    await logins.api.world.advance(1);
    await expectAccepted(bearer());
    await expectAccepted(bearer());
    expect(logins.server.asked).toEqual(paths);
  });

  test('are fetched again for a new key, but not for every unknown key', async () => {
    publish(logins.first, logins.second);
    await expectRefused(bearer({}, logins.second), /does not publish/);
    expect(logins.server.asked).toEqual([]);
    await logins.api.world.advance(keysRefetchMs + 1);
    await expectAccepted(bearer({}, logins.second));
    await expectAccepted(bearer());
    for (let guess = 0; guess < 5; guess++) {
      await expectRefused(bearer({}, logins.stranger), /does not publish/);
    }
    expect(logins.server.asked).toEqual(paths);
  });

  test('that were revoked verify nothing after the next fetch', async () => {
    publish(logins.second);
    await logins.api.world.advance(keysRefetchMs + 1);
    await expectAccepted(bearer({}, logins.second));
    await expectRefused(bearer(), /does not publish/);
  });

  test('may change without a new name', async () => {
    logins.server.answer(jwksPath, { body: { keys: [{ ...logins.second.jwk, kid: 'first' }] } });
    await logins.api.world.advance(keysRefetchMs + 1);
    await expectAccepted(sign(logins.second, claims(), { kid: 'first' }));
    await expectRefused(bearer(), /signature is wrong/);
  });

  test('may have no names', async () => {
    const nameless = (pair: SigningPair): SigningPair => {
      const { kid: _, ...jwk } = pair.jwk;
      return { ...pair, jwk };
    };
    publish(nameless(logins.stranger), nameless(logins.second));
    await logins.api.world.advance(keysRefetchMs + 1);
    await expectAccepted(bearer({}, nameless(logins.second)));
    await expectRefused(bearer({}, nameless(logins.first)), /no key of this method verifies/);
    publish(nameless(logins.first));
    await logins.api.world.advance(keysRefetchMs + 1);
    await expectAccepted(bearer({}, nameless(logins.first)));
  });

  test('are fetched once for concurrent logins', async () => {
    await logins.api.world.advance(keysAgeMs + 1);
    await Promise.all(Array.from({ length: 20 }, () => expectAccepted(bearer())));
    expect(logins.server.asked).toEqual(paths);
  });

  test('that are fresh are used while the server is down, and are missing afterwards', async () => {
    await logins.server.close();
    await expectAccepted(bearer());
    await logins.api.world.advance(keysRefetchMs + 1);
    await expectAccepted(bearer());
    await expectRefused(bearer({}, logins.second), /cannot be reached: ECONNREFUSED/, 503);
    await logins.api.world.advance(keysAgeMs);
    await expectRefused(bearer(), /cannot be reached: ECONNREFUSED/, 503);
  });

  test.each<[what: string, reply: KeyReply, reason: RegExp]>([
    ['404', { status: 404, body: { keys: [] } }, /answered with the status 404/],
    ['500', { status: 500, body: { keys: [] } }, /answered with the status 500/],
    ['no body', { status: 204, body: '' }, /answered with the status 204/],
    ['a page', { body: '<h1>It works!</h1>' }, /something other than a JSON object/],
    ['nothing', { body: '' }, /something other than a JSON object/],
    ['a list', { body: [] }, /something other than a JSON object/],
    ['null', { body: 'null' }, /something other than a JSON object/],
    ['half of it', { body: '{"keys":[' }, /something other than a JSON object/],
    ['no keys', { body: { hello: 1 } }, /answered with no key set/],
    ['keys that are no list', { body: { keys: { a: 1 } } }, /answered with no key set/],
    ['keys that are no objects', { body: { keys: ['a'] } }, /answered with no key set/],
    [
      'a longer body than it says',
      (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.end('{"keys":[]}');
        response.socket?.end();
      },
      /cannot be reached/,
    ],
    ['no answer', (response) => void response.socket?.destroy(), /cannot be reached/],
    ['no HTTP', (response) => void response.socket?.end('hello\r\n\r\n'), /cannot be reached/],
    [
      'packed, though nobody asked for that',
      (response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        response.end(gzipSync('{"keys":[]}'));
      },
      /something other than a JSON object/,
    ],
  ])('answered with %s give a reason', async (_, reply, reason) => {
    logins.server.answer(jwksPath, reply);
    await logins.api.world.advance(keysAgeMs + 1);
    await expectRefused(bearer(), reason, 503);
    publish(logins.first);
    await expectAccepted(bearer());
  });

  test('of unknown kinds are skipped', async () => {
    const odd = [
      { kty: 'oct', k: 'c2VjcmV0' },
      { kty: 'new' },
      {},
      { ...logins.first.jwk, n: '!' },
    ];
    logins.server.answer(jwksPath, { body: { keys: [...odd, logins.second.jwk] } });
    await logins.api.world.advance(keysAgeMs + 1);
    await expectAccepted(bearer({}, logins.second));
    await expectRefused(bearer(), /no signed JWT that can be verified/);
  });

  test('are not fetched from redirects', async () => {
    const evil = await startKeyServer([logins.first.jwk]);
    logins.server.answer(jwksPath, { status: 302, headers: { location: evil.jwksUrl }, body: '' });
    await logins.api.world.advance(keysAgeMs + 1);
    await expectRefused(bearer(), /answered with the status 302/, 503);
    expect(evil.asked).toEqual([]);
    await evil.close();
  });

  test('that do not arrive are waited for up to the limit', async () => {
    const asked = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    logins.server.answer(jwksPath, (response) => {
      response.once('close', gone.resolve);
      asked.resolve();
    });
    await logins.api.world.advance(keysAgeMs + 1);
    const answer = logins.login(bearer());
    await asked.promise;
    await logins.api.world.advance(timeoutMs - 1);
    expect(await Promise.race([answer, logins.api.settle()])).toBeUndefined();
    await logins.api.world.advance(1);
    expect((await answer).status).toBe(503);
    expect((await answer).json.detail).toContain('did not answer within 10 s');
    await gone.promise;
  });

  test('that arrive slowly are waited for up to the limit', async () => {
    const gone = Promise.withResolvers<void>();
    const half = Promise.withResolvers<void>();
    logins.server.answer(jwksPath, (response) => {
      response.once('close', gone.resolve);
      response.writeHead(200);
      response.write('{"keys":[', () => half.resolve());
    });
    await logins.api.world.advance(keysAgeMs + 1);
    const answer = logins.login(bearer());
    await half.promise;
    await logins.api.world.advance(timeoutMs);
    expect((await answer).json.detail).toContain('did not answer within 10 s');
    await gone.promise;
  });

  test.each([
    ['says so', { 'content-length': String(answerBytesMax + 1) }],
    ['does not', {}],
  ])('above the limit are not read further, where the server %s', async (_, headers) => {
    const gone = Promise.withResolvers<number>();
    logins.server.answer(jwksPath, (response) => {
      const { socket } = response;
      response.once('close', () => gone.resolve(socket?.bytesWritten ?? 0));
      response.writeHead(200, headers);
      response.write(`{"keys":[],"more":"${' '.repeat(answerBytesMax)}`);
    });
    await logins.api.world.advance(keysAgeMs + 1);
    await expectRefused(bearer(), new RegExp(`more than ${answerBytesMax} bytes`), 503);
    expect(await gone.promise).toBeGreaterThan(0);
  });

  test('of exactly the greatest size are read', async () => {
    const body = JSON.stringify({ keys: [logins.first.jwk], more: '' });
    const padding = ' '.repeat(answerBytesMax - body.length);
    logins.server.answer(jwksPath, { body: body.replace(/""\}$/, `"${padding}"}`) });
    await logins.api.world.advance(keysAgeMs + 1);
    await expectAccepted(bearer());
  });
});

describe('discovery', () => {
  const document = (changes: object) => ({
    body: { issuer: logins.server.origin, jwks_uri: logins.server.jwksUrl, ...changes },
  });

  test('sets the issuer', async () => {
    await prepare({ OIDCDiscoveryURL: `${logins.server.origin}/` });
    await expectAccepted(bearer());
    await expectRefused(bearer({ iss: 'https://evil.example' }), /issuer is "https:\/\/evil/);
    await expectRefused(bearer({ iss: undefined }), /it names no issuer/);
  });

  test.each<[what: string, reply: () => KeyReply, reason: RegExp]>([
    ['another issuer', () => document({ issuer: 'https://evil.example' }), /is of the issuer/],
    ['no issuer', () => document({ issuer: undefined }), /names no issuer or no jwks_uri/],
    ['no keys', () => document({ jwks_uri: undefined }), /names no issuer or no jwks_uri/],
    ['keys that are no address', () => document({ jwks_uri: 'keys' }), /no https URL/],
    ['keys in a file', () => document({ jwks_uri: 'file:///etc/passwd' }), /no https URL/],
    ['keys without TLS', () => document({ jwks_uri: 'http://keys.example/' }), /no https URL/],
    [
      'another address without TLS',
      () => document({ token_endpoint: 'http://login.example/token' }),
      /token_endpoint that is no https URL/,
    ],
    [
      'an invalid page',
      () => document({ authorization_endpoint: 'javascript:alert(1)' }),
      /authorization_endpoint that is no https URL/,
    ],
    ['no JSON', () => ({ body: 'hello' }), /something other than a JSON object/],
    ['404', () => ({ status: 404, body: {} }), /answered with the status 404/],
  ])('with %s is refused when a method is written, and at a login', async (...row) => {
    const [, reply, reason] = row;
    await prepare({ OIDCDiscoveryURL: logins.server.origin });
    logins.server.answer(discoveryPath, reply());
    await logins.api.world.advance(keysAgeMs + 1);
    await expectRefused(bearer(), reason, 503);
    const body = { Config: { OIDCDiscoveryURL: logins.server.origin } };
    const written = await logins.api.call('PUT', '/v1/acl/auth-method/ci', { body });
    expect(written.status).toBe(400);
    expect(written.json.errors).toMatchObject([
      { pointer: '/Config/OIDCDiscoveryURL', message: expect.stringMatching(reason) },
    ]);
  });
});

test('a method whose keys cannot be fetched is refused', async () => {
  logins.server.answer(jwksPath, { body: 'hello' });
  const { status, json } = await makeMethod({ JWKSURL: logins.server.jwksUrl });
  expect([status, json.errors]).toMatchObject([400, [{ pointer: '/Config/JWKSURL' }]]);
  await logins.server.close();
  expect((await makeMethod({ OIDCDiscoveryURL: logins.server.origin })).json.errors).toMatchObject([
    { pointer: '/Config/OIDCDiscoveryURL', message: expect.stringContaining('ECONNREFUSED') },
  ]);
});
