import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  fakeNetwork,
  forged,
  type SigningPair,
  sign,
  signingPair,
} from '../../src/server/login/login.test-helper.ts';
import { authMethods } from '../../src/state/tables.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { certificate } from '../support/certificate.ts';

const jwksUrl = 'https://keys.example/jwks';
const other = '99999999-9999-4999-8999-999999999999';
let pair: SigningPair;
let stranger: SigningPair;
let api: TestApi;
let network: ReturnType<typeof fakeNetwork>;

beforeAll(async () => {
  [pair, stranger] = await Promise.all([signingPair('RS256', 'a'), signingPair('RS256', 'b')]);
});

beforeEach(async () => {
  network = fakeNetwork({ [jwksUrl]: { keys: [pair.jwk] } });
  api = await startApi({ outbound: network.outbound });
});

const method = (changes: object = {}) => ({
  Name: 'ci',
  Type: 'jwt',
  MaxTokenTTL: '5m',
  Config: {
    JWKSURL: jwksUrl,
    BoundAudiences: ['roster'],
    ClaimMappings: { sub: 'name', team: 'team' },
    ListClaimMappings: { groups: 'groups' },
  },
  ...changes,
});

const put = (path: string, body: object, ns = '') =>
  api.call('PUT', `/v1/acl/${path}${ns}`, { body });

const bearer = (claims: object = {}, signer = pair) => {
  const now = api.world.clock.nowMs() / 1000;
  return sign(signer, { sub: 'ann', aud: 'roster', iat: now, exp: now + 60, ...claims });
};

const login = async (token: string | Promise<string>, more: object = {}, address = '10.0.0.1') =>
  api.call('POST', '/v1/acl/login', {
    token: null,
    address,
    body: { AuthMethod: 'ci', BearerToken: await token, ...more },
  });

describe('auth methods', () => {
  test('are created, read, listed without Config, replaced and deleted', async () => {
    const made = await put('auth-method', method({ Description: 'd', DisplayName: 'CI' }));
    expect(made.json).toMatchObject({ Name: 'ci', Type: 'jwt', MaxTokenTTL: '5m0s' });
    expect(made.json).toMatchObject({
      Description: 'd',
      DisplayName: 'CI',
      Config: method().Config,
    });
    expect(made.json.CreateIndex).toBe(made.json.ModifyIndex);
    const read = await api.call('GET', '/v1/acl/auth-method/ci');
    expect(read.json).toEqual(made.json);
    expect(read.headers['x-registry-index']).toBe(String(made.json.ModifyIndex));
    const { json: list } = await api.call('GET', '/v1/acl/auth-methods');
    expect(list).toHaveLength(1);
    expect(list[0]).not.toHaveProperty('Config');
    const changed = { Config: { JWTValidationPubKeys: [pair.pem] }, Description: 'new' };
    const replaced = await put('auth-method/ci', changed);
    expect(replaced.json).toMatchObject({
      Name: 'ci',
      Type: 'jwt',
      ...changed,
    });
    expect(replaced.json.MaxTokenTTL).toBe('0s');
    expect(replaced.json.CreateIndex).toBe(made.json.CreateIndex);
    expect((await api.call('DELETE', '/v1/acl/auth-method/ci')).json).toBe(true);
    expect((await api.call('DELETE', '/v1/acl/auth-method/ci')).json).toBe(false);
    expect((await api.call('GET', '/v1/acl/auth-method/ci')).status).toBe(404);
  });

  test('can be sent back as they were read', async () => {
    const { json } = await put('auth-method', method());
    expect((await put('auth-method/ci', json)).status).toBe(200);
  });

  const jwt = (config: object) => method({ Config: config });
  const kubernetes = (config: object) => method({ Type: 'kubernetes', Config: config });
  const oidc = (config: object, more: object = {}) =>
    method({ Type: 'oidc', Config: config, ...more });
  test.each([
    ['no name', method({ Name: '' }), '/Name'],
    ['a name with a space', method({ Name: 'a b' }), '/Name'],
    ['a name that is too long', method({ Name: 'x'.repeat(129) }), '/Name'],
    ['no type', method({ Type: undefined }), '/Type'],
    ['an unknown type', method({ Type: 'ldap' }), '/Type'],
    ['a TTL below a minute', method({ MaxTokenTTL: '59s' }), '/MaxTokenTTL'],
    ['a TTL above a day', method({ MaxTokenTTL: '24h1s' }), '/MaxTokenTTL'],
    ['an unknown locality', method({ TokenLocality: 'remote' }), '/TokenLocality'],
    ['an unknown field', method({ Hello: 1 }), '/Hello'],
    ['no Config', method({ Config: undefined }), '/Config'],
    ['a field that Config does not have', jwt({ JWKSURL: jwksUrl, Hello: 1 }), '/Config/Hello'],
    ['a field of the wrong type', jwt({ JWKSURL: 1 }), '/Config/JWKSURL'],
    ['no source of keys', jwt({}), '/Config'],
    ['two sources of keys', jwt({ JWKSURL: jwksUrl, OIDCDiscoveryURL: jwksUrl }), '/Config'],
    ['HS256', jwt({ JWKSURL: jwksUrl, JWTSupportedAlgs: ['HS256'] }), '/Config/JWTSupportedAlgs/0'],
    ['none', jwt({ JWKSURL: jwksUrl, JWTSupportedAlgs: ['none'] }), '/Config/JWTSupportedAlgs/0'],
    ['an invalid URL', jwt({ JWKSURL: 'keys' }), '/Config/JWKSURL'],
    ['plain http', jwt({ JWKSURL: 'http://keys.example/' }), '/Config/JWKSURL'],
    ['unreachable keys', jwt({ JWKSURL: 'https://gone.example/' }), '/Config/JWKSURL'],
    [
      'an unreachable provider',
      jwt({ OIDCDiscoveryURL: 'https://gone.example' }),
      '/Config/OIDCDiscoveryURL',
    ],
    ['an invalid key', jwt({ JWTValidationPubKeys: ['hello'] }), '/Config/JWTValidationPubKeys/0'],
    [
      'two claims with one name',
      jwt({ JWKSURL: jwksUrl, ClaimMappings: { a: 'x', b: 'x' } }),
      '/Config/ClaimMappings/b',
    ],
    ['an invalid certificate', jwt({ JWKSURL: jwksUrl, JWKSCACert: 'x' }), '/Config/JWKSCACert'],
    ['oidc without a TTL', oidc({}, { MaxTokenTTL: 0 }), '/MaxTokenTTL'],
    ['oidc without its address', oidc({}), '/Config/OIDCDiscoveryURL'],
    ['oidc with what only jwt has', oidc({ JWKSURL: jwksUrl }), '/Config/JWKSURL'],
    ['kubernetes without a host', kubernetes({}), '/Config/Host'],
    [
      'kubernetes without a certificate',
      kubernetes({ Host: 'https://k8s.example' }),
      '/Config/CACert',
    ],
    ['kubernetes with no JWT', kubernetes({ ServiceAccountJWT: 'x' }), '/Config/ServiceAccountJWT'],
    [
      'a wrong selector',
      method({ NamespaceRules: [{ Selector: 'value.nobody == x', BindNamespace: 'a' }] }),
      '/NamespaceRules/0/Selector',
    ],
    ['no namespace to bind', method({ NamespaceRules: [{}] }), '/NamespaceRules/0/BindNamespace'],
    [
      'an unknown variable',
      method({ NamespaceRules: [{ BindNamespace: '${value.x}' }] }),
      '/NamespaceRules/0/BindNamespace',
    ],
  ])('are refused with %s', async (_, body, pointer) => {
    const answer = await put('auth-method', body);
    expect(answer.status).toBe(400);
    expect(answer.json.errors.map((fault: { pointer: string }) => fault.pointer)).toContain(
      pointer,
    );
    expect((await api.call('GET', '/v1/acl/auth-methods')).json).toEqual([]);
  });

  test.each([
    ['the name is taken', () => put('auth-method', method()), 409],
    ['another name in the body', () => put('auth-method/ci', method({ Name: 'x' })), 400],
    ['another type', () => put('auth-method/ci', method({ Type: 'oidc' })), 400],
    ['no Config', () => put('auth-method/ci', {}), 400],
    ['there is none', () => put('auth-method/nobody', method({ Name: 'nobody' })), 404],
  ])('are not updated or created again with %s', async (_, run, status) => {
    await put('auth-method', method());
    expect((await run()).status).toBe(status);
  });

  test('keep secrets in Config: hidden without acl:write, sealed at rest, kept when sent back hidden', async () => {
    const secret = `${forged({ alg: 'RS256' }, { sub: 'system' })}c2lnbmF0dXJl`;
    const Config = { Host: 'https://k8s.example', CACert: certificate, ServiceAccountJWT: secret };
    await put('policy', { Name: 'reader', Rules: 'acl = "read"' });
    const { json: reader } = await put('token', {
      SecretID: other,
      Policies: [{ Name: 'reader' }],
    });
    expect(reader.SecretID).toBe(other);
    const made = await put('auth-method', method({ Type: 'kubernetes', Config }));
    expect(made.json.Config.ServiceAccountJWT).toBe(secret);
    const read = await api.call('GET', '/v1/acl/auth-method/ci', { token: other });
    expect(read.json.Config).toEqual({ ...Config, ServiceAccountJWT: '<hidden>' });
    const sent = await put('auth-method/ci', { ...read.json, Description: 'still' });
    expect(sent.json).toMatchObject({ Description: 'still', Config });
    const rows = JSON.stringify([...api.state.read().table(authMethods).scan()]);
    expect(rows).not.toContain(secret);
  });
});

describe('login', () => {
  const bind = (BindType: string, BindName: string, more: object = {}) =>
    put('binding-rule', { AuthMethod: 'ci', BindType, BindName, ...more });

  test('makes a local, expiring token with everything that the rules bind', async () => {
    await put('auth-method', method());
    await put('role', { Name: 'Deployers' });
    await put('policy', { Name: 'reads', Rules: 'operator = "read"' });
    await bind('service', 'web-${value.team}');
    await bind('node', '${value.name}');
    await bind('role', 'Deployers', { Selector: '"dev" in list.groups' });
    await bind('role', 'nobody');
    await bind('policy', 'reads', { Selector: 'value.team == "other"' });
    await bind('templated-policy', 'builtin/service', { BindVars: { Name: 'api-${value.team}' } });
    const answer = await login(bearer({ team: 'Shop', groups: ['dev'] }), { Meta: { run: '7' } });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      Description: 'token created via login: {"run":"7"}',
      AuthMethod: 'ci',
      Local: true,
      Roles: [{ Name: 'Deployers' }],
      ServiceIdentities: [{ ServiceName: 'web-shop' }],
      NodeIdentities: [{ NodeName: 'ann', Datacenter: 'dc1' }],
      TemplatedPolicies: [
        { TemplateName: 'builtin/service', TemplateVariables: { name: 'api-shop' } },
      ],
    });
    expect(Date.parse(answer.json.ExpirationTime) - Date.parse(answer.json.CreateTime)).toBe(
      300_000,
    );
    const self = await api.call('GET', '/v1/acl/token/self', { token: answer.json.SecretID });
    expect(self.json.AccessorID).toBe(answer.json.AccessorID);
    await api.world.advance(300_001);
    const late = await api.call('GET', '/v1/acl/token/self', { token: answer.json.SecretID });
    expect(late.status).toBe(403);
  });

  test('makes a global token without expiry if the method sets none', async () => {
    await put('auth-method', method({ TokenLocality: 'global', MaxTokenTTL: 0 }));
    await bind('service', 'web');
    const { json } = await login(bearer());
    expect(json).toMatchObject({ Local: false, Description: 'token created via login' });
    expect(json.ExpirationTime ?? null).toBeNull();
  });

  test.each<[string, () => Promise<string>, object, number, RegExp]>([
    ['no method', bearer, { AuthMethod: '' }, 400, /AuthMethod is required/],
    ['no credential', async () => ' ', {}, 400, /BearerToken is required/],
    ['an unknown field', bearer, { Hello: 1 }, 400, /Hello/],
    ['an unknown method', bearer, { AuthMethod: 'nobody' }, 403, /there is none of that name/],
    ['garbage', async () => 'garbage', {}, 403, /no signed JWT/],
    [
      'alg none',
      async () => forged({ alg: 'none' }, { sub: 'ann' }),
      {},
      403,
      /algorithm is "none"/,
    ],
    ['a stranger', () => bearer({}, stranger), {}, 403, /does not publish/],
    ['the wrong audience', () => bearer({ aud: 'x' }), {}, 403, /audience/],
    ['expired', () => bearer({ exp: 1 }), {}, 403, /expired/],
    ['a claim that cannot be mapped', () => bearer({ team: {} }), {}, 403, /claim "team"/],
    ['a name that no service has', () => bearer({ team: '!' }), {}, 403, /no service can be named/],
  ])('is refused: %s', async (_, token, more, status, reason) => {
    await put('auth-method', method());
    await bind('service', 'web-${value.team}x');
    const answer = await login(token(), more);
    expect(answer.status).toBe(status);
    expect(api.whyRefused(answer)).toMatch(reason);
  });

  test.each<[what: string, token: () => Promise<string>, more: object]>([
    ['an unknown method', bearer, { AuthMethod: 'nobody' }],
    ['garbage', async () => 'garbage', {}],
    ['another algorithm', async () => forged({ alg: 'none' }, { sub: 'ann' }), {}],
    ['a stranger', () => bearer({}, stranger), {}],
    ['the wrong audience', () => bearer({ aud: 'x' }), {}],
    ['another issuer', () => bearer({ iss: 'https://evil.example' }), {}],
    ['a name that no service has', () => bearer({ team: '!' }), {}],
  ])('does not reveal whether a method exists or what it accepts: %s', async (_, token, more) => {
    const { Config } = method() as { Config: object };
    await put('auth-method', method({ Config: { ...Config, BoundIssuer: 'https://ci.example' } }));
    await bind('service', 'web-${value.team}x');
    const answer = await login(token(), more);
    const { AuthMethod = 'ci' } = more as { AuthMethod?: string };
    expect(answer.json).toMatchObject({
      code: 'login-refused',
      detail: `The auth method "${AuthMethod}" refuses the login: it is not there, or takes no such credential (the log of the server says why).`,
    });
  });

  test('with a token without issuer is explained in the log', async () => {
    const { Config } = method() as { Config: object };
    await put('auth-method', method({ Config: { ...Config, BoundIssuer: 'https://ci.example' } }));
    const answer = await login(bearer({ iss: undefined }));
    expect(api.whyRefused(answer)).toContain('it names no issuer; this method takes');
  });

  test('is refused when no rule matches', async () => {
    await put('auth-method', method());
    await bind('role', 'nobody');
    const answer = await login(bearer());
    expect(answer.status).toBe(403);
    expect(answer.json.detail).toContain('Permission denied');
  });

  test('namespace rules choose the namespace of the token, and the first match wins', async () => {
    await api.call('PUT', '/v1/namespace/shop', { body: {} });
    const NamespaceRules = [
      { Selector: 'value.team == "none"', BindNamespace: 'default' },
      { Selector: '', BindNamespace: '${value.team}' },
    ];
    await put('auth-method', method({ NamespaceRules }));
    await bind('service', 'web');
    expect((await login(bearer({ team: 'shop' }))).json.Namespace).toBe('shop');
    expect((await login(bearer({ team: 'none' }))).json.Namespace).toBe('default');
    const nowhere = await login(bearer({ team: 'gone' }));
    expect(nowhere.status).toBe(403);
    expect(api.whyRefused(nowhere)).toContain('namespace "gone"');
  });

  test('an unreachable provider is not counted against the credential', async () => {
    await put('auth-method', method());
    await bind('service', 'web');
    network.pages.clear();
    await api.world.advance(600_001);
    const answer = await login(bearer());
    expect(answer.status).toBe(503);
    expect(answer.json.code).toBe('identity-provider-unreachable');
  });

  test('deleting the method deletes its tokens and rules with the same index', async () => {
    await put('auth-method', method());
    await bind('service', 'web');
    const { json: token } = await login(bearer());
    const gone = await api.call('DELETE', '/v1/acl/auth-method/ci');
    expect(gone.json).toBe(true);
    expect((await api.call('GET', `/v1/acl/token/${token.AccessorID}`)).status).toBe(404);
    expect((await api.call('GET', '/v1/acl/binding-rules')).json).toEqual([]);
    const { headers } = await api.call('GET', '/v1/acl/auth-methods');
    expect(headers['x-registry-index']).toBe(gone.headers['x-registry-index']);
  });

  test('repeated failures block their address for some time', async () => {
    await put('auth-method', method());
    await bind('service', 'web');
    const statuses = [];
    for (let count = 0; count < 22; count++) statuses.push((await login('guess')).status);
    expect(statuses.slice(0, 20).every((status) => status === 403)).toBe(true);
    expect(statuses.slice(20)).toEqual([429, 429]);
    const held = await login(bearer());
    expect(held.status).toBe(429);
    expect(held.headers['retry-after']).toBeDefined();
    expect((await login(bearer(), {}, '10.0.0.2')).status).toBe(200);
    await api.world.advance(3_000);
    expect((await login(bearer())).status).toBe(200);
    expect((await login(bearer())).status).toBe(200);
  });

  test('logout deletes the token of a login, and no other token', async () => {
    await put('auth-method', method());
    await bind('service', 'web');
    const { SecretID } = (await login(bearer())).json;
    const logout = (token: string | null) => api.call('POST', '/v1/acl/logout', { token });
    expect((await logout(null)).status).toBe(401);
    const root = await api.call('POST', '/v1/acl/logout');
    expect(root.status).toBe(403);
    expect(root.json.detail).toContain("wasn't created via login");
    expect((await logout(SecretID)).json).toBe(true);
    expect((await logout(SecretID)).status).toBe(403);
  });
});
