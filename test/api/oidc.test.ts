import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { realWorld } from '../../src/base/ports-real.ts';
import { limits } from '../../src/model/limits.ts';
import { HttpOutbound } from '../../src/server/login/outbound-http.ts';
import { oidcSessions } from '../../src/state/tables.ts';
import { startApi, type TestApi } from '../support/api.ts';
import {
  clientId,
  clientSecret,
  type RunningProvider,
  redirectUri,
  startOidcProvider,
} from '../support/oidc-provider.ts';

let provider: RunningProvider;
let api: TestApi;
const outbound = new HttpOutbound(realWorld.timers);

beforeAll(async () => {
  provider = await startOidcProvider();
});
afterAll(async () => {
  await outbound.close();
  await provider.close();
});

const method = (config: object = {}) => ({
  Name: 'sso',
  Type: 'oidc',
  MaxTokenTTL: '1h',
  Config: {
    OIDCDiscoveryURL: provider.issuer,
    OIDCClientID: clientId,
    OIDCClientSecret: clientSecret,
    AllowedRedirectURIs: [redirectUri],
    OIDCScopes: ['profile'],
    ClaimMappings: { name: 'name' },
    ListClaimMappings: { groups: 'groups' },
    ...config,
  },
});

beforeEach(async () => {
  // The provider's tokens use real time.
  api = await startApi({ outbound: outbound.call, startMs: Date.now() });
});

async function prepare(config: object = {}) {
  const made = await api.call('PUT', '/v1/acl/auth-method', { body: method(config) });
  expect(made.status).toBe(200);
  const body = {
    AuthMethod: 'sso',
    BindType: 'service',
    BindName: 'of-${value.name}',
    Selector: '"anns" in list.groups',
  };
  expect((await api.call('PUT', '/v1/acl/binding-rule', { body })).status).toBe(200);
}

const post = (path: string, body: object) =>
  api.call('POST', `/v1/acl/oidc/${path}`, { token: null, body });

const begin = (more: object = {}) =>
  post('auth-url', { AuthMethod: 'sso', RedirectURI: redirectUri, ClientNonce: 'n', ...more });

/** The parameters of the redirect, as a client passes them on. */
async function redirected(login = 'ann', more: object = {}) {
  const { json } = await begin(more);
  const back = await provider.browse(json.AuthURL, login);
  const [State, Code] = ['state', 'code'].map((name) => back.searchParams.get(name));
  return { AuthMethod: 'sso', State, Code, ClientNonce: 'n' };
}

describe('a login through a real provider', () => {
  test('makes a token with everything that the claims bind', async () => {
    await prepare();
    const answer = await post('callback', await redirected('ann', { Meta: { from: 'test' } }));
    expect(answer.json).toMatchObject({
      AuthMethod: 'sso',
      Description: 'token created via login: {"from":"test"}',
      ServiceIdentities: [{ ServiceName: 'of-ann' }],
    });
    const token = answer.json.SecretID;
    expect((await api.call('GET', '/v1/acl/token/self', { token })).status).toBe(200);
  });

  test('uses PKCE, a nonce and a state', async () => {
    await prepare();
    const url = new URL((await begin()).json.AuthURL);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'openid profile',
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(url.searchParams.get(name)).toMatch(/^[\w-]{43}$/);
    }
    expect(url.href).not.toContain(clientSecret);
  });

  test('is refused for a person without a matching rule', async () => {
    await prepare();
    const answer = await post('callback', await redirected('bob'));
    expect(answer.status).toBe(403);
    expect(answer.json.detail).toContain('Permission denied');
  });

  test('accepts a redirect once', async () => {
    await prepare();
    const body = await redirected();
    expect((await post('callback', body)).status).toBe(200);
    const again = await post('callback', body);
    expect(again.status).toBe(403);
    expect(again.json.detail).toContain('used before');
  });

  test('is a sealed row until it is finished or refused', async () => {
    await prepare();
    const rows = () => [...api.state.read().table(oidcSessions).scan()];
    const body = await redirected('ann', { ClientNonce: 'a nonce of the client' });
    const [row] = rows();
    expect(rows()).toHaveLength(1);
    for (const hidden of [body.State!, 'a nonce of the client', redirectUri]) {
      expect(JSON.stringify(row)).not.toContain(hidden);
    }
    const finish = { ...body, ClientNonce: 'a nonce of the client' };
    expect((await post('callback', finish)).status).toBe(200);
    expect(rows()).toEqual([]);
    const other = await redirected();
    expect((await post('callback', { ...other, ClientNonce: 'a guess' })).status).toBe(403);
    expect(rows()).toEqual([]);
    // Without the nonce once, it is lost for its owner as well.
    expect((await post('callback', other)).json.detail).toContain('used before');
  });

  test('is finished under the keys of a rotation', async () => {
    await prepare();
    const body = await redirected();
    await api.call('PUT', '/v1/operator/keyring/rotate');
    await api.call('PUT', '/v1/operator/keyring/rotate');
    expect((await post('callback', body)).status).toBe(200);
  });

  test('is finished once of two at the same time', async () => {
    await prepare();
    const body = await redirected();
    const both = await Promise.all([post('callback', body), post('callback', body)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 403]);
  });

  test('refuses the code of another login', async () => {
    await prepare();
    const [{ Code }, { State }] = [await redirected(), await redirected()];
    const body = { AuthMethod: 'sso', State, Code, ClientNonce: 'n' };
    const answer = await post('callback', body);
    expect(answer.status).toBe(403);
    expect(answer.json.detail).toContain('the provider says');
  });

  test('refuses an expired session', async () => {
    await prepare();
    const { json } = await begin();
    const State = new URL(json.AuthURL).searchParams.get('state');
    await api.world.advance(600_001);
    const answer = await post('callback', {
      AuthMethod: 'sso',
      State,
      Code: 'x',
      ClientNonce: 'n',
    });
    expect(answer.status).toBe(403);
    expect(answer.json.detail).toContain('too old');
    await api.world.advance(limits.garbage.intervalMs);
    expect(api.state.read().table(oidcSessions).size).toBe(0);
  });

  test.each<[string, object, RegExp]>([
    ['another client nonce', { ClientNonce: 'stolen' }, /client nonce/],
    ['another state', { State: 'made-up' }, /state is unknown/],
    ['another code', { Code: 'made-up' }, /the provider says/],
    ['another issuer', { Issuer: 'https://evil.example' }, /not accepted/],
  ])('is refused with %s', async (_, changes, reason) => {
    await prepare();
    const answer = await post('callback', { ...(await redirected()), ...changes });
    expect(answer.status).toBe(403);
    expect(api.whyRefused(answer)).toMatch(reason);
  });

  test('is refused if the provider signs with an algorithm that the method does not accept', async () => {
    await prepare({ JWTSupportedAlgs: ['ES256'] });
    const answer = await post('callback', await redirected());
    expect(answer.status).toBe(403);
    expect(api.whyRefused(answer)).toContain('takes ES256');
  });

  test('is refused if the client secret is wrong', async () => {
    await prepare({ OIDCClientSecret: 'wrong-and-telling' });
    const answer = await post('callback', await redirected());
    expect(answer.status).toBe(403);
    expect(answer.text).not.toContain('wrong-and-telling');
  });

  test.each<[string, object, number, RegExp]>([
    [
      'a redirect URI that is not allowed',
      { RedirectURI: 'https://evil.example/' },
      403,
      /AllowedRedirectURIs/,
    ],
    [
      'texts that are too long',
      { Meta: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [at, 'x'.repeat(500)])) },
      403,
      /too long/,
    ],
    ['no redirect URI', { RedirectURI: '' }, 400, /RedirectURI is required/],
    ['no client nonce', { ClientNonce: '' }, 400, /ClientNonce is required/],
    ['an unknown method', { AuthMethod: 'nobody' }, 403, /none of that name/],
  ])('does not begin with %s', async (_, changes, status, reason) => {
    await prepare();
    const answer = await begin(changes);
    expect(answer.status).toBe(status);
    expect(api.whyRefused(answer)).toMatch(reason);
  });

  test('does not begin with a credential', async () => {
    await prepare();
    const body = { AuthMethod: 'sso', BearerToken: 'x' };
    const answer = await api.call('POST', '/v1/acl/login', { token: null, body });
    expect(answer.status).toBe(403);
    expect(api.whyRefused(answer)).toContain('browser');
  });

  test('accepts another port of a loopback address', async () => {
    await prepare();
    const answer = await begin({ RedirectURI: 'http://127.0.0.1:9999/oidc/callback' });
    expect(answer.status).toBe(200);
  });
});

test('a jwt method works with keys and issuer of a real provider', async () => {
  const Config = { OIDCDiscoveryURL: provider.issuer, ClaimMappings: { sub: 'name' } };
  const body = { Name: 'm', Type: 'jwt', Config };
  expect((await api.call('PUT', '/v1/acl/auth-method', { body })).status).toBe(200);
});
