import { beforeEach, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
  await intentions('web', [
    { Name: 'api', Action: 'allow' },
    { Name: 'report', Permissions: [{ Action: 'allow', HTTP: { PathPrefix: '/r' } }] },
  ]);
  await intentions('db', [{ Name: 'api', Action: 'deny' }]);
  await intentions('*', [{ Name: '*', Action: 'allow' }]);
});

async function intentions(Name: string, Sources: readonly object[]) {
  if (Name !== '*') {
    await api.call('PUT', '/v1/config', {
      body: { Kind: 'service-defaults', Name, Protocol: 'http' },
    });
  }
  const body = { Kind: 'service-intentions', Name, Sources };
  expect((await api.call('PUT', '/v1/config', { body })).text).toBe('true');
}

const matrix = (query = '', token?: string) =>
  api.call('GET', `/v1/connect/intentions/matrix${query}`, token === undefined ? {} : { token });

test('each pair is decided as a check decides it, by the same intention', async () => {
  const { status, json } = await matrix();
  expect(status).toBe(200);
  const services = ['api', 'db', 'report', 'web'].map((name) => `default/${name}`);
  expect([json.Sources, json.Destinations, json.Total]).toEqual([services, services, 4]);
  for (const [row, destination] of services.entries()) {
    for (const [column, source] of services.entries()) {
      const question = `check?source=${source}&destination=${destination}`;
      const check = (await api.call('GET', `/v1/connect/intentions/${question}`)).json;
      const intention = json.Intentions[json.By[row][column]] ?? null;
      expect([question, json.Allowed[row][column], intention]).toEqual([
        question,
        check.Allowed,
        check.Intention,
      ]);
    }
  }
  expect(json.Intentions).toHaveLength(4);
});

test('the services that are named, in their order', async () => {
  const { json } = await matrix('?name=web&name=shop/api&name=web');
  expect([json.Sources, json.Destinations]).toEqual([
    ['default/web', 'shop/api'],
    ['default/web', 'shop/api'],
  ]);
  expect(json.Allowed).toEqual([
    [true, false],
    [false, false],
  ]);
});

test.each([
  ['an asterisk', '?name=*/*/*/*'],
  ['an empty name', '?name='],
  ['too many names', `?${Array.from({ length: 51 }, (_, at) => `name=s${at}`).join('&')}`],
])('%s is refused', async (_title, query) => {
  expect((await matrix(query)).json.code).toBe('invalid-query');
});

test('a caller sees the destinations whose intentions it may read', async () => {
  const token = await aclOf(api).holder('service "web" { policy = "read" intentions = "read" }');
  const { json } = await matrix('', token);
  expect([json.Destinations, json.Sources, json.Total]).toEqual([
    ['default/web'],
    ['default/web'],
    1,
  ]);
  const named = await matrix('?name=web&name=api', token);
  expect([named.json.Destinations, named.json.Sources]).toEqual([
    ['default/web'],
    ['default/web', 'default/api'],
  ]);
  expect((await matrix('', await aclOf(api).holder(''))).json.Destinations).toEqual([]);
});

test('a blocking read wakes when an intention changes', async () => {
  const { headers } = await matrix();
  const waiting = matrix(`?index=${headers['x-registry-index']}&wait=1m`);
  await intentions('db', [{ Name: 'api', Action: 'allow' }]);
  const { json } = await waiting;
  expect(json.Allowed[1][0]).toBe(true);
});
