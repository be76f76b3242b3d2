import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { forged, signingPair } from '../../src/server/login/login.test-helper.ts';
import { aclOf, callsTo } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { certificate } from '../support/certificate.ts';

let pem: string;
let api: TestApi;
let acl: ReturnType<typeof aclOf>;
beforeAll(async () => {
  pem = (await signingPair('ES256', 'k')).pem;
});
beforeEach(async () => {
  api = await startApi();
  acl = aclOf(api);
  await api.call('PUT', '/v1/namespace/dev', { body: {} });
});
const { put, get, remove } = callsTo(() => api);
const jwt = (more: object = {}) => ({
  Name: 'ci',
  Type: 'jwt',
  Config: {
    JWTValidationPubKeys: [pem],
    ClaimMappings: { team: 'team' },
    ListClaimMappings: { groups: 'groups' },
  },
  ...more,
});
const faultsOf = async (path: string, body: object) =>
  ((await put(path, body)).json.errors ?? []).map((one: { pointer: string }) => one.pointer);

/** Starts a blocking read, makes the change, and returns the answer. */
async function waits(path: string, change: () => Promise<unknown>) {
  const index = (await get(path)).headers['x-registry-index'];
  let isAnswered = false;
  const waiting = get(`${path}?index=${index}`).finally(() => {
    isAnswered = true;
  });
  await acl.role(`unrelated-${index}`);
  await api.settle();
  expect(isAnswered).toBe(false);
  await change();
  await api.settle();
  expect(isAnswered).toBe(true);
  const answer = await waiting;
  expect(Number(answer.headers['x-registry-index'])).toBeGreaterThan(Number(index));
  return answer;
}

describe('an auth method', () => {
  test('is shown with every field of the contract, and listed without Config', async () => {
    const { json } = await put('auth-method', jwt());
    expect(json).toEqual({
      ...jwt(),
      Description: '',
      DisplayName: '',
      MaxTokenTTL: '0s',
      TokenLocality: '',
      NamespaceRules: [],
      Namespace: 'default',
      Partition: 'default',
      CreateIndex: json.CreateIndex,
      ModifyIndex: json.CreateIndex,
    });
    const { Config: _, ...listed } = json;
    expect((await get('auth-methods')).json).toEqual([listed]);
  });

  test('has a unique name in its namespace, and ns=* lists all namespaces', async () => {
    await put('auth-method', jwt());
    const again = await put('auth-method', jwt());
    expect([again.status, again.json.code]).toEqual([409, 'name-taken']);
    expect(again.json.detail).toBe('The name "ci" is taken: another auth method has it.');
    expect((await put('auth-method?ns=dev', jwt())).status).toBe(200);
    const places = async (query: string) =>
      (await get(`auth-methods${query}`)).json.map((one: { Namespace: string }) => one.Namespace);
    expect(await places('')).toEqual(['default']);
    expect(await places('?ns=*')).toEqual(['default', 'dev']);
    expect(await places(`?ns=*&filter=${encodeURIComponent('Namespace == dev')}`)).toEqual(['dev']);
  });

  test('wakes blocking queries, also those for a method that does not exist yet', async () => {
    await put('auth-method', jwt());
    const change = () => put('auth-method/ci', jwt({ Description: 'new' }));
    expect((await waits('auth-method/ci', change)).json.Description).toBe('new');
    expect((await waits('auth-methods', () => remove('auth-method/ci'))).json).toEqual([]);
    const made = await waits('auth-method/later', () => put('auth-method', jwt({ Name: 'later' })));
    expect(made.status).toBe(200);
  });

  test('is not made with a secret that was hidden', async () => {
    const Config = {
      OIDCDiscoveryURL: 'https://127.0.0.1:1',
      OIDCClientID: 'roster',
      OIDCClientSecret: '<hidden>',
      AllowedRedirectURIs: ['http://localhost/ui'],
    };
    const body = { Name: 'sso', Type: 'oidc', MaxTokenTTL: '1h', Config };
    expect(await faultsOf('auth-method', body)).toEqual(['/Config/OIDCClientSecret']);
  });

  test('of one namespace makes no tokens in another', async () => {
    const Config = {
      Host: 'https://127.0.0.1:1',
      CACert: certificate,
      MapNamespaces: true,
      ServiceAccountJWT: `${forged({ alg: 'RS256' }, { sub: 'reviewer' })}c2ln`,
    };
    const cluster = { Name: 'k', Type: 'kubernetes', Config };
    expect(await faultsOf('auth-method?ns=dev', cluster)).toEqual(['/Config/MapNamespaces']);
    expect((await put('auth-method', cluster)).status).toBe(200);
    const rules = { NamespaceRules: [{ BindNamespace: 'default' }] };
    expect(await faultsOf('auth-method?ns=dev', jwt(rules))).toEqual(['/NamespaceRules']);
  });

  test('is deleted with its binding rules in one transaction', async () => {
    await put('auth-method', jwt());
    await put('binding-rule', { AuthMethod: 'ci', BindType: 'service', BindName: 'a' });
    await put('binding-rule', { AuthMethod: 'ci', BindType: 'service', BindName: 'b' });
    const before = api.state.read().index;
    expect((await remove('auth-method/ci')).json).toBe(true);
    expect(api.state.read().index).toBe(before + 1);
    expect((await get('binding-rules')).json).toEqual([]);
  });
});

describe('a binding rule', () => {
  const rule = (more: object = {}) => ({
    AuthMethod: 'ci',
    BindType: 'service',
    BindName: 'web',
    ...more,
  });
  const templated = (BindName: string, Name?: string) =>
    rule({
      BindType: 'templated-policy',
      BindName,
      ...(Name !== undefined && { BindVars: { Name } }),
    });
  beforeEach(() => put('auth-method', jwt()));

  test.each([
    ['nothing at all', {}, ['/AuthMethod', '/BindType', '/BindName']],
    ['a method that is not there', rule({ AuthMethod: 'x' }), ['/AuthMethod']],
    ['a method that nothing can be named', rule({ AuthMethod: 'a\0b' }), ['/AuthMethod']],
    ['an id', rule({ ID: '99999999-9999-4999-8999-999999999999' }), ['/ID']],
    ['no type', rule({ BindType: '' }), ['/BindType']],
    ['an unknown type', rule({ BindType: 'x' }), ['/BindType']],
    ['no name', rule({ BindName: '' }), ['/BindName']],
    ['a name that no service can have', rule({ BindName: 'a b' }), ['/BindName']],
    ['an unknown variable', rule({ BindName: '${value.x}' }), ['/BindName']],
    ['a brace that is not closed', rule({ BindName: '${value.team' }), ['/BindName']],
    ['an invalid selector', rule({ Selector: 'value.team ==' }), ['/Selector']],
    ['a selector over nothing', rule({ Selector: 'value.x == a' }), ['/Selector']],
    ['a variable that nobody reads', rule({ BindVars: { Name: 'x' } }), ['/BindVars']],
    ['a template that is not there', templated('builtin/x', 'a'), ['/BindName']],
    ['an invalid template', templated('x', 'a'), ['/BindName']],
    ['a template without its variable', templated('builtin/service'), ['/BindVars/Name']],
    ['a variable that is no name', templated('builtin/service', 'A B'), ['/BindVars/Name']],
    ['a variable of a template without', templated('builtin/dns', 'a'), ['/BindVars/Name']],
    ['an unknown field', rule({ Colour: 1 }), ['/Colour']],
    ['several faults', rule({ BindName: 'a b', Selector: 'x ==' }), ['/Selector', '/BindName']],
  ])('with %s is refused', async (_title, body, pointers) => {
    const { status, json } = await put('binding-rule', body);
    expect([status, json.code]).toEqual([400, 'invalid-body']);
    expect(json.errors.map((one: { pointer: string }) => one.pointer)).toEqual(pointers);
  });

  test.each([
    ['a policy whose name has a slash', rule({ BindType: 'policy', BindName: 'team/web' })],
    ['a builtin policy', rule({ BindType: 'policy', BindName: 'builtin/global-read-only' })],
    ['a name in capitals, which is lowered', rule({ BindName: 'WEB' })],
    ['a name from the claims of the identity', rule({ BindName: 'web-${value.team}' })],
    ['a template without a variable', templated('builtin/dns')],
    ['a template with its variable', templated('builtin/service', '${value.team}')],
    ['a template that the identity names', templated('builtin/${value.team}', 'a')],
  ])('may bind %s', async (_title, body) => {
    const { status, json, text } = await put('binding-rule', body);
    expect(status, text).toBe(200);
    expect((await get(`binding-rule/${json.ID}`)).json).toEqual(json);
    expect((await put(`binding-rule/${json.ID}`, json)).status).toBe(200);
  });

  test('wakes blocking queries', async () => {
    const { ID } = (await put('binding-rule', rule())).json;
    const change = () => put(`binding-rule/${ID}`, rule({ Description: 'new' }));
    expect((await waits(`binding-rule/${ID}`, change)).json.Description).toBe('new');
    expect((await waits('binding-rules', () => remove(`binding-rule/${ID}`))).json).toEqual([]);
  });

  test('keeps its method and its id', async () => {
    const { ID } = (await put('binding-rule', rule())).json;
    const update = async (body: object) => (await put(`binding-rule/${ID}`, body)).json;
    expect((await update({ BindType: 'node', BindName: 'n' })).AuthMethod).toBe('ci');
    expect((await update(rule({ AuthMethod: 'other' }))).code).toBe('immutable-field');
    const other = '99999999-9999-4999-8999-999999999999';
    expect((await update(rule({ ID: other }))).code).toBe('id-mismatch');
    expect((await put('binding-rule/x', rule())).json.code).toBe('invalid-path');
    expect((await put(`binding-rule/${other}`, rule())).json.code).toBe('binding-rule-not-found');
  });
});
