/** A body of access control is refused with all of its faults. */
import { beforeAll, expect, test } from 'vitest';
import { signingPair } from '../../src/server/login/login.test-helper.ts';
import { aclOf, nobody } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  const body = {
    Name: 'ci',
    Type: 'jwt',
    Config: { JWTValidationPubKeys: [(await signingPair('ES256', 'k')).pem] },
  };
  expect((await api.call('PUT', '/v1/acl/auth-method', { body })).status).toBe(200);
});

const faulty = { Policies: [{ Name: 'none' }], ServiceIdentities: [{ ServiceName: 'A' }] };
const faultyLinks = ['/ServiceIdentities/0/ServiceName', '/Policies/0'];

const pointersOf = async (path: string, body: object) => {
  const { status, json } = await api.call('PUT', `/v1/acl/${path}`, { body });
  expect([status, json.code]).toEqual([400, 'invalid-body']);
  return json.errors.map(({ pointer }: { pointer: string }) => pointer);
};

test.each<[about: string, path: string, body: object, pointers: readonly string[]]>([
  [
    'a new token with links that lead nowhere',
    'token',
    { ...faulty, AccessorID: 'x', Roles: [{ ID: nobody }] },
    ['/AccessorID', ...faultyLinks, '/Roles/0'],
  ],
  ['a new role with an id', 'role', { ...faulty, ID: nobody }, ['/ID', '/Name', ...faultyLinks]],
  ['a new policy with an id', 'policy', { ID: nobody, Rules: '?' }, ['/ID', '/Name', '/Rules']],
  [
    'an auth method',
    'auth-method',
    {
      Name: 'a b',
      Type: 'jwt',
      DisplayName: 'd'.repeat(257),
      MaxTokenTTL: '1s',
      TokenLocality: 'here',
      Config: { Colour: 1 },
      NamespaceRules: [{ BindNamespace: 'n'.repeat(257) }],
    },
    [
      '/Config/Colour',
      '/DisplayName',
      '/TokenLocality',
      '/NamespaceRules/0/BindNamespace',
      '/Name',
      '/MaxTokenTTL',
    ],
  ],
  [
    'an auth method without a configuration',
    'auth-method',
    { Type: 'github' },
    ['/Config', '/Type', '/Name'],
  ],
  [
    'a binding rule of no auth method',
    'binding-rule',
    { ID: nobody, AuthMethod: 'none', BindType: 'group' },
    ['/ID', '/AuthMethod', '/BindType', '/BindName'],
  ],
  [
    'a binding rule of an unknown type',
    'binding-rule',
    { AuthMethod: 'ci', BindType: 'group', BindName: '${x}', Selector: '?' },
    ['/BindType', '/Selector', '/BindName'],
  ],
])('%s', async (_about, path, body, pointers) => {
  expect(await pointersOf(path, body)).toEqual(pointers);
});

test.each([
  ['auth-method', { TokenLocality: 'here' }],
  ['binding-rule', { BindType: 'group' }],
])('a wrong choice in %s is told with the permission only', async (path, body) => {
  const { json } = await api.call('PUT', `/v1/acl/${path}`, { body, token: null });
  expect(json.code).toBe('permission-denied');
});

test('all faults are counted, and the first hundred are listed', async () => {
  const Config = { JWTValidationPubKeys: Array.from({ length: 150 }, () => 'x') };
  const body = { Name: 'many', Type: 'jwt', Config };
  const { json } = await api.call('PUT', '/v1/acl/auth-method', { body });
  expect([json.errors.length, json.detail]).toEqual([
    100,
    expect.stringContaining('The body has 150 faults'),
  ]);
});

test('an update with links that lead nowhere', async () => {
  const acl = aclOf(api);
  const { AccessorID } = await acl.token();
  expect(await pointersOf(`token/${AccessorID}`, faulty)).toEqual(faultyLinks);
  const { ID } = await acl.role('dev');
  expect(await pointersOf(`role/${ID}`, faulty)).toEqual(['/Name', ...faultyLinks]);
});
