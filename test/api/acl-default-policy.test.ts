import { beforeEach, expect, test } from 'vitest';
import { aclOf, callsTo } from '../support/acl.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let acl: ReturnType<typeof aclOf>;
beforeEach(async () => {
  api = await startApi({ aclDefaultPolicy: 'allow' });
  acl = aclOf(api);
});
const { put, get } = callsTo(() => api);
const allows = async (token: string | null, Resource: string, Access: string, Segment = '') => {
  const body = [{ Resource, Access, Segment }];
  return (await api.call('POST', '/v1/internal/acl/authorize', { token, body })).json[0].Allow;
};

test('the default policy allow permits everything that no rule covers', async () => {
  const { SecretID } = await acl.token();
  for (const token of [null, SecretID]) {
    const answer = await api.call('POST', '/v1/jobs', { token, body: jobBody() });
    expect(answer.status).toBe(200);
    expect(await allows(token, 'service', 'write', 'web')).toBe(true);
    expect(await allows(token, 'operator', 'write')).toBe(true);
  }
});

test('access control itself stays closed, because it leads to all other permissions', async () => {
  const { SecretID } = await acl.token();
  for (const token of [null, SecretID]) {
    expect((await get('tokens', token)).json.code).toBe('permission-denied');
    expect((await put('token', {}, token)).json.code).toBe('permission-denied');
    expect(await allows(token, 'acl', 'read')).toBe(false);
    expect(await allows(token, 'management', '')).toBe(false);
  }
});

test('rules override the default policy', async () => {
  const token = await acl.holder(
    'service "web" { policy = "deny" }\nnode_prefix "" { policy = "read" }',
  );
  expect(await allows(token, 'service', 'read', 'web')).toBe(false);
  expect(await allows(token, 'service', 'write', 'api')).toBe(true);
  expect(await allows(token, 'node', 'write', 'n')).toBe(false);
});

test('an unknown token is refused instead of becoming anonymous', async () => {
  const { status, json } = await api.call('GET', '/v1/jobs', { token: 'x' });
  expect([status, json.code]).toEqual([403, 'token-not-found']);
});

test('expanded tokens and explanations show the default policy', async () => {
  const { AccessorID } = await acl.token();
  const { json } = await get(`token/${AccessorID}?expanded`);
  expect(json.AgentACLDefaultPolicy).toBe('allow');
  const why = await get(`explain?permission=service:write&name=web&accessor=${AccessorID}`);
  expect(why.json).toMatchObject({ Allowed: true, Rules: [], Missing: '' });
  expect(why.json.Reason).toContain('the default policy decides: allow');
});
