import { beforeEach, describe, expect, test } from 'vitest';
import { aclOf, nobody } from '../support/acl.ts';
import { rootToken, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let acl: ReturnType<typeof aclOf>;
beforeEach(async () => {
  api = await startApi();
  acl = aclOf(api);
});

const attempt = (body: object, token: string = rootToken, query = '') =>
  api.call('POST', `/v1/acl/policy/try${query}`, { token, body });
const Questions = [
  { Permission: 'service:write', Name: 'web' },
  { Permission: 'service:read', Name: 'api' },
  { Permission: 'operator:write' },
];
const Rules = 'service "web" { policy = "write" }\nservice_prefix "" { policy = "read" }';

test('rules alone are answered with the rule that decides, and its line', async () => {
  const { status, json } = await attempt({ Rules, Questions });
  expect(status).toBe(200);
  expect(json.Decisions.map(({ Allowed }: { Allowed: boolean }) => Allowed)).toEqual([
    true,
    true,
    false,
  ]);
  const [first, second, third] = json.Decisions;
  expect(first).toMatchObject({ Permission: 'service:write on "web"', Before: null, Missing: '' });
  expect([first.Rules[0].Line, second.Rules[0].Line]).toEqual([1, 2]);
  expect(first.Rules[0].Text).toContain('policy = "write"');
  expect(third.Missing).toContain('operator = "write"');
  // Nothing was stored.
  expect((await api.call('GET', '/v1/acl/policies')).json).toHaveLength(2);
});

test('the policy that is tried is added to those of a token, and says what was allowed before', async () => {
  const { ID } = await acl.policy('reader', { Rules: 'operator = "read"' });
  const { AccessorID } = await acl.token({ Policies: [{ ID }] });
  const questions = [
    { Permission: 'operator:read' },
    { Permission: 'operator:write' },
    { Permission: 'service:write', Name: 'web' },
  ];
  const { json } = await attempt({ Rules, AccessorID, Questions: questions });
  expect(
    json.Decisions.map(({ Allowed, Before }: { Allowed: boolean; Before: boolean }) => [
      Before,
      Allowed,
    ]),
  ).toEqual([
    [true, true],
    [false, false],
    [false, true],
  ]);
  expect(json.Decisions[0].Rules[0].Policy.Name).toBe('reader');
  const replaced = await attempt({
    Rules: 'operator = "write"',
    AccessorID,
    PolicyID: ID,
    Questions: questions,
  });
  expect(replaced.json.Decisions.map(({ Allowed }: { Allowed: boolean }) => Allowed)).toEqual([
    true,
    true,
    false,
  ]);
  // As the token is when the policy is stored so.
  await api.call('PUT', `/v1/acl/policy/${ID}`, {
    body: { Name: 'reader', Rules: 'operator = "write"' },
  });
  const why = await api.call(
    'GET',
    `/v1/acl/explain?accessor=${AccessorID}&permission=operator:write`,
  );
  expect(why.json.Allowed).toBe(true);
});

test('rules of a policy outside default hold in its namespace only', async () => {
  await api.call('PUT', '/v1/namespace', { body: { Name: 'shop' } });
  const body = {
    Rules: 'service_prefix "" { policy = "read" }',
    Questions: [
      { Permission: 'service:read', Name: 'web' },
      { Permission: 'service:read', Name: 'web', Namespace: 'default' },
    ],
  };
  const { json } = await attempt(body, rootToken, '?ns=shop');
  expect(json.Decisions.map(({ Allowed }: { Allowed: boolean }) => Allowed)).toEqual([true, false]);
});

describe('it is refused', () => {
  test('with all faults of rules and questions', async () => {
    const { status, json } = await attempt({
      Rules: 'service "web" { policy = "rwx" }',
      Questions: [{ Permission: 'service:fly' }, { Permission: 'operator:read' }, {}],
    });
    expect(status).toBe(400);
    expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/Rules',
      '/Questions/0/Permission',
      '/Questions/2/Permission',
    ]);
  });

  test('with more than 64 questions', async () => {
    const many = Array.from({ length: 65 }, () => ({ Permission: 'operator:read' }));
    const { json } = await attempt({ Rules: '', Questions: many });
    expect(json.errors[0]).toMatchObject({ pointer: '/Questions' });
  });

  test.each([
    ['an unknown token', { AccessorID: nobody }, 404, 'accessor-not-found'],
    ['a NUL in the accessor', { AccessorID: 'a\0b' }, 404, 'accessor-not-found'],
    ['an unknown policy', { PolicyID: nobody }, 404, 'policy-not-found'],
  ])('with %s', async (_title, body, status, code) => {
    const answer = await attempt({ Rules: '', Questions: [], ...body });
    expect([answer.status, answer.json.code]).toEqual([status, code]);
  });

  test('without acl:read, here or in the namespace of the token', async () => {
    await api.call('PUT', '/v1/namespace', { body: { Name: 'shop' } });
    const { AccessorID } = await acl.token({}, '?ns=shop');
    const reader = await acl.holder('acl = "read"', '?ns=shop');
    const weak = await acl.holder('');
    const body = { Rules: '', Questions: [] };
    expect((await attempt(body, weak)).status).toBe(403);
    expect((await attempt(body, reader)).status).toBe(200);
    const other = await acl.token();
    expect((await attempt({ ...body, AccessorID }, reader, '?ns=shop')).status).toBe(200);
    expect(
      (await attempt({ ...body, AccessorID: other.AccessorID }, reader, '?ns=shop')).status,
    ).toBe(403);
  });
});
