import { expect, test } from 'vitest';
import { run } from '../harness.test-helper.ts';

const place = { Namespace: 'default', Partition: 'default', CreateIndex: 1, ModifyIndex: 1 };
const method = {
  Name: 'ci',
  Type: 'jwt',
  Description: 'builds',
  DisplayName: '',
  MaxTokenTTL: '5m0s',
  TokenLocality: '',
  NamespaceRules: [],
  Config: { JWKSURL: 'https://keys.example' },
  ...place,
};
const id = 'c0000000-0000-4000-8000-000000000000';
const rule = {
  ID: id,
  Description: '',
  AuthMethod: 'ci',
  Selector: 'value.team == shop',
  BindType: 'service',
  BindName: 'web',
  ...place,
};
const server = {
  'PUT /v1/acl/auth-method': { json: method },
  'PUT /v1/acl/auth-method/ci': { json: method },
  'GET /v1/acl/auth-method/ci': { json: method },
  'DELETE /v1/acl/auth-method/ci': { json: true },
  'DELETE /v1/acl/auth-method/x': { json: false },
  'GET /v1/acl/auth-methods': { json: [{ ...method, Config: undefined }] },
  'PUT /v1/acl/binding-rule': { json: rule },
  [`PUT /v1/acl/binding-rule/${id}`]: { json: rule },
  [`GET /v1/acl/binding-rule/${id}`]: { json: rule },
  [`DELETE /v1/acl/binding-rule/${id}`]: { json: true },
  'GET /v1/acl/binding-rules': { json: [rule] },
  'GET /v1/operator/keyring/keys': {
    json: [{ KeyID: id, State: 'active', Algorithm: 'aes256-gcm', CreateTime: 0 }],
  },
  'PUT /v1/operator/keyring/rotate': { json: { Key: { KeyID: id } } },
};
const files = { config: JSON.stringify(method.Config), bad: '{' };
const cli = (words: string) => run(words.split(' '), { server, files });
const lastBody = async (words: string) => (await cli(words)).seen.at(-1)!.body;

test('an auth method is created from flags and a file', async () => {
  const words = 'acl auth-method create -type=jwt -max-token-ttl=5m -config=config ci';
  const written = { Name: 'ci', Type: 'jwt', MaxTokenTTL: '5m', Config: method.Config };
  expect(await lastBody(words)).toEqual(written);
});

test('an update keeps fields that are not given', async () => {
  const body = await lastBody('acl auth-method update -display-name=CI ci');
  expect(body).toEqual({ ...method, DisplayName: 'CI' });
});

test('an auth method is shown, listed and deleted', async () => {
  expect((await cli('acl auth-method read ci')).stdout).toContain('https://keys.example');
  expect((await cli('acl auth-method list')).stdout).toBe(
    'Name  Type  Token TTL  About\nci    jwt   5m0s       builds\n',
  );
  expect((await cli('acl auth-method delete ci')).stdout).toBe('Auth method "ci" deleted.\n');
});

test('a binding rule that no longer gives a template loses its variable', async () => {
  const templated = { ...rule, BindType: 'templated-policy', BindName: 'builtin/service' };
  const stored = { ...templated, BindVars: { Name: 'web' } };
  const updated = async (words: string) => {
    const update = `acl binding-rule update ${words} c0000000`.split(' ');
    const { seen } = await run(update, {
      server: {
        'GET /v1/acl/binding-rules': { json: [stored] },
        [`GET /v1/acl/binding-rule/${id}`]: { json: stored },
        [`PUT /v1/acl/binding-rule/${id}`]: { json: stored },
      },
    });
    return seen.at(-1)!.body;
  };
  expect(await updated('-description=d')).toEqual({ ...stored, Description: 'd' });
  expect(await updated('-bind-vars=api')).toEqual({ ...stored, BindVars: { Name: 'api' } });
  expect(await updated('-bind-type=service -bind-name=web')).toEqual({
    ...templated,
    BindType: 'service',
    BindName: 'web',
  });
});

test('a binding rule is created, changed by a prefix of its id, listed and deleted', async () => {
  const words = 'acl binding-rule create -method=ci -bind-type=service -bind-name=web';
  const created = { AuthMethod: 'ci', BindType: 'service', BindName: 'web' };
  expect(await lastBody(words)).toEqual(created);
  const changed = { ...rule, BindName: 'api' };
  expect(await lastBody('acl binding-rule update -bind-name=api c0000000')).toEqual(changed);
  expect((await cli('acl binding-rule list')).stdout).toBe(
    'ID        Method  Gives    Name  Selector\nc0000000  ci      service  web   value.team == shop\n',
  );
  expect((await cli('acl binding-rule read c0000000')).stdout).toContain(id);
  expect((await cli('acl binding-rule delete c0000000')).stdout).toContain('deleted');
});

test('the keyring is listed and rotated', async () => {
  expect((await cli('operator keyring list')).stdout).toContain('active');
  expect((await cli('operator keyring rotate')).stdout).toContain('sealed anew');
});

test.each([
  ['acl auth-method create ci', '--type is required'],
  ['acl auth-method create -type=jwt -config=bad ci', '"bad" is not JSON'],
  ['acl auth-method create -type=jwt -config=gone ci', '"gone" cannot be read'],
  ['acl auth-method delete x', 'There is no auth method "x"'],
])('%s', async (words, text) => {
  const ran = await cli(words);
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain(text);
});
