import { beforeEach, expect, test } from 'vitest';
import { fakeNetwork } from '../../src/server/login/login.test-helper.ts';
import { startApi, type TestApi } from '../support/api.ts';

const otherId = '99999999-9999-4999-8999-999999999999';
const jwksUrl = 'https://keys.example/jwks';
let api: TestApi;

const put = (path: string, body: object) => api.call('PUT', `/v1/acl/${path}`, { body });

beforeEach(async () => {
  api = await startApi({ outbound: fakeNetwork({ [jwksUrl]: { keys: [] } }).outbound });
  await put('auth-method', {
    Name: 'ci',
    Type: 'jwt',
    MaxTokenTTL: '5m',
    Config: {
      JWKSURL: jwksUrl,
      ClaimMappings: { team: 'team' },
      ListClaimMappings: { groups: 'groups' },
    },
  });
});

const rule = (changes: object = {}) => ({
  AuthMethod: 'ci',
  BindType: 'service',
  BindName: 'web-${value.team}',
  Selector: 'value.team == "shop" and "dev" in list.groups',
  ...changes,
});

test('binding rules are created, read, listed by method, replaced and deleted', async () => {
  const made = await put('binding-rule', rule({ Description: 'd' }));
  expect(made.json).toMatchObject(rule({ Description: 'd' }));
  const path = `binding-rule/${made.json.ID}`;
  expect((await api.call('GET', `/v1/acl/${path}`)).json).toEqual(made.json);
  const replaced = await put(path, { BindType: 'role', BindName: 'r' });
  expect(replaced.json).toMatchObject({ AuthMethod: 'ci', BindType: 'role', Selector: '' });
  const list = (query: string) => api.call('GET', `/v1/acl/binding-rules${query}`);
  expect((await list('')).json).toEqual([replaced.json]);
  expect((await list('?authmethod=ci')).json).toHaveLength(1);
  expect((await list('?authmethod=other')).json).toHaveLength(0);
  expect((await api.call('DELETE', `/v1/acl/${path}`)).json).toBe(true);
  expect((await api.call('DELETE', `/v1/acl/${path}`)).json).toBe(false);
  expect((await api.call('GET', `/v1/acl/${path}`)).status).toBe(404);
});

test.each([
  ['no method', rule({ AuthMethod: '' }), '/AuthMethod'],
  ['an unknown method', rule({ AuthMethod: 'nobody' }), '/AuthMethod'],
  ['a selector that cannot be read', rule({ Selector: 'value.team ==' }), '/Selector'],
  ['a selector over an unmapped claim', rule({ Selector: 'value.x == 1' }), '/Selector'],
  ['no bind type', rule({ BindType: '' }), '/BindType'],
  ['an unknown bind type', rule({ BindType: 'group' }), '/BindType'],
  ['no bind name', rule({ BindName: '' }), '/BindName'],
  ['an open brace', rule({ BindName: '${value.team' }), '/BindName'],
  ['an unknown variable', rule({ BindName: '${value.x}' }), '/BindName'],
  ['a list as a variable', rule({ BindName: '${list.groups}' }), '/BindName'],
  ['a name that no service has', rule({ BindName: '-${value.team}' }), '/BindName'],
  ['variables where there are none', rule({ BindVars: { Name: 'x' } }), '/BindVars'],
  ['an id', rule({ ID: otherId }), '/ID'],
])('a binding rule is refused with %s', async (_, body, pointer) => {
  const answer = await put('binding-rule', body);
  expect(answer.status).toBe(400);
  expect(answer.json.errors.map((fault: { pointer: string }) => fault.pointer)).toContain(pointer);
});

test.each([
  ['another id in the body', { ID: otherId }, 400],
  ['another method', { AuthMethod: 'x' }, 400],
])('a binding rule is not updated with %s', async (_, changes, status) => {
  const { json } = await put('binding-rule', rule());
  expect((await put(`binding-rule/${json.ID}`, rule(changes))).status).toBe(status);
});
