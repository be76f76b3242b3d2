import { beforeEach, expect, test } from 'vitest';
import { aclOf, nobody } from '../support/acl.ts';
import { rootToken, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let acl: ReturnType<typeof aclOf>;
beforeEach(async () => {
  api = await startApi();
  acl = aclOf(api);
});

const denials = (query = '', token: string | null = rootToken) =>
  api.call('GET', `/v1/acl/denials${query}`, { token });

test('a refused request is told with its caller, its path and the permission that it lacks', async () => {
  const { AccessorID, SecretID } = await acl.token({ Description: 'weak' });
  await api.call('GET', '/v1/jobs?namespace=default&filter=secret-filter', {
    token: SecretID,
    address: '192.0.2.1',
  });
  const { json, text } = await denials();
  expect(json).toEqual([
    {
      ID: expect.stringMatching(/^\d+$/),
      Time: '2026-01-01T00:00:00Z',
      AccessorID,
      Caller: expect.stringContaining(AccessorID),
      Remote: '192.0.2.1',
      Method: 'GET',
      Path: '/v1/jobs',
      Route: '/v1/jobs',
      Namespace: 'default',
      Status: 403,
      Code: 'permission-denied',
      Permission: expect.stringContaining('namespace:list-jobs'),
      Questions: [
        { Permission: 'namespace:list-jobs', Name: 'default', Namespace: 'default', Partition: '' },
      ],
    },
  ]);
  expect(text).not.toContain(SecretID);
  expect(text).not.toContain('secret-filter');
  // The question leads to the explanation.
  const { Permission, Name } = json[0].Questions[0];
  const why = `/v1/acl/explain?accessor=${AccessorID}&permission=${Permission}&name=${Name}`;
  expect((await api.call('GET', why)).json).toMatchObject({ Allowed: false });
});

test('an unknown token and a caller without one are told, without a secret', async () => {
  await api.call('GET', '/v1/acl/tokens', { token: nobody });
  await api.call('GET', '/v1/acl/tokens', { token: null });
  const { json, text } = await denials();
  expect(json.map(({ Code }: { Code: string }) => Code)).toEqual([
    'permission-denied',
    'token-not-found',
  ]);
  expect(json[1].Caller).toBe('somebody with an unknown token');
  expect(text).not.toContain(nobody);
});

test('callers see their own requests, and administrators those of the tokens of their namespace', async () => {
  await api.call('PUT', '/v1/namespace', { body: { Name: 'shop' } });
  const ask = (token: string) => api.call('GET', '/v1/nodes', { token });
  const [one, other] = [await acl.token({}, '?ns=shop'), await acl.token()];
  for (const { SecretID } of [one, other]) await ask(SecretID);
  const accessors = async (token: string | null) =>
    (await denials('', token)).json.map(({ AccessorID }: { AccessorID: string }) => AccessorID);
  expect(await accessors(one.SecretID)).toEqual([one.AccessorID]);
  const admin = await acl.holder('acl = "read"', '?ns=shop');
  expect(await accessors(admin)).toEqual([one.AccessorID]);
  expect(await accessors(rootToken)).toEqual([other.AccessorID, one.AccessorID]);
  expect(await accessors(null)).toEqual([]);
});

test('they are chosen by accessor, filtered and paged', async () => {
  const [one, other] = [await acl.token(), await acl.token()];
  for (const { SecretID } of [one, other, one]) {
    await api.call('GET', '/v1/nodes', { token: SecretID });
  }
  expect((await denials(`?accessor=${one.AccessorID}`)).json).toHaveLength(2);
  const filter = encodeURIComponent(`AccessorID == "${other.AccessorID}"`);
  expect((await denials(`?filter=${filter}`)).json).toHaveLength(1);
  const first = await denials('?per_page=2');
  const next = first.headers['x-registry-nexttoken'];
  const second = await denials(`?per_page=2&next_token=${next}`);
  expect([first.json.length, second.json.length]).toEqual([2, 1]);
});

test('a caller that is refused all the time hides no other, and the oldest of its requests go', async () => {
  const { AccessorID, SecretID } = await acl.token();
  await api.call('GET', '/v1/nodes', { token: SecretID });
  for (let count = 0; count < 60; count++) await api.call('GET', '/v1/nodes', { token: null });
  expect((await denials(`?accessor=${AccessorID}`)).json).toHaveLength(1);
  expect((await denials()).json).toHaveLength(51);
});

test('there are none without access control', async () => {
  const open = await startApi({ aclEnabled: false });
  expect((await open.call('GET', '/v1/acl/denials')).json.code).toBe('acl-disabled');
});
