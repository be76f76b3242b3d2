import { beforeAll, describe, expect, test } from 'vitest';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});

describe('a path with an empty parameter', () => {
  test.each([
    ['GET', 'acl/token/', 'accessor_id'],
    ['DELETE', 'acl/token/', 'accessor_id'],
    ['PUT', 'acl/token//clone', 'accessor_id'],
    ['GET', 'acl/policy/', 'policy_id'],
    ['DELETE', 'acl/policy/', 'policy_id'],
    ['GET', 'acl/policy/name/', 'name'],
    ['GET', 'acl/role/', 'role_id'],
    ['DELETE', 'acl/role/', 'role_id'],
    ['GET', 'acl/role/name/', 'name'],
    ['GET', 'acl/auth-method/', 'name'],
    ['DELETE', 'acl/auth-method/', 'name'],
    ['GET', 'acl/binding-rule/', 'rule_id'],
    ['DELETE', 'acl/binding-rule/', 'rule_id'],
    ['GET', 'acl/templated-policy/name/', 'name'],
    ['POST', 'acl/templated-policy/preview/', 'name'],
    ['GET', 'namespace/', 'name'],
    ['DELETE', 'partition/', 'name'],
  ])('%s %s names the missing parameter', async (method, path, lacking) => {
    const { status, json } = await api.call(method, `/v1/${path}`);
    expect([status, json.code]).toEqual([400, 'invalid-path']);
    expect(json.detail).toContain(`lacks its ${lacking}:`);
  });

  test.each([
    ['acl/token/', {}],
    ['acl/policy/', { Name: 'p' }],
    ['acl/role/', { Name: 'r' }],
    ['namespace/', { Name: 'n' }],
  ])('PUT %s creates', async (path, body) => {
    const { status, json } = await api.call('PUT', `/v1/${path}`, { body });
    expect([status, json.CreateIndex]).toEqual([200, json.ModifyIndex]);
  });

  test('still lists the methods', async () => {
    const posted = await api.call('POST', '/v1/acl/token/', { body: {} });
    expect([posted.status, posted.headers.allow]).toEqual([405, 'OPTIONS, DELETE, GET, HEAD, PUT']);
    expect((await api.call('OPTIONS', '/v1/acl/token/')).status).toBe(200);
    expect((await api.call('GET', '/v1/acl/tokens/')).status).toBe(404);
  });
});
