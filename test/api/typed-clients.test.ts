import { beforeEach, describe, expect, test } from 'vitest';
import { jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
});

const nothings = [null, '', 0, false, [], {}];

describe('an unknown field that holds nothing', () => {
  test.each(nothings)('(%j) is ignored where unknown fields are refused', async (nothing) => {
    const body = { Name: 'shop', Meta: null, Unheard: nothing };
    expect((await api.call('PUT', '/v1/namespace', { body })).status).toBe(200);
    const entry = { Kind: 'service-defaults', Name: 'web', Unheard: nothing };
    expect((await api.call('PUT', '/v1/config', { body: entry })).status).toBe(200);
  });

  test.each(nothings)('(%j) draws no warning in a job', async (nothing) => {
    const task = { LogConfig: { Unheard: nothing } };
    const { status, json } = await api.call('POST', '/v1/jobs', { body: jobBody({}, {}, task) });
    expect([status, json.Warnings]).toEqual([200, '']);
  });

  test.each([1, true, 'x', [0], { a: null }])('is told when it holds %j', async (Unheard) => {
    const body = { Name: 'shop', Unheard };
    const { status, json } = await api.call('PUT', '/v1/namespace', { body });
    expect([status, json.errors[0].pointer]).toEqual([400, '/Unheard']);
    const job = await api.call('POST', '/v1/jobs', { body: jobBody({ Unheard }) });
    expect(job.json.Warnings).toContain('Unheard');
  });
});

test('an empty text in a choice is as if it were not there', async () => {
  const Scaling = { Type: '', Max: 3 };
  const body = jobBody({ Type: '' }, { Scaling });
  expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(200);
  const { json } = await api.call('GET', '/v1/job/web');
  expect([json.Type, json.TaskGroups[0].Scaling.Type]).toEqual(['service', 'horizontal']);
  const intentions = {
    ...{ Kind: 'service-intentions', Name: 'web' },
    Sources: [{ Name: 'db', Type: '', Action: 'allow' }],
  };
  expect((await api.call('PUT', '/v1/config', { body: intentions })).status).toBe(200);
});

describe('the envelope of a write', () => {
  const envelope = { Region: 'global', Namespace: 'default', SecretID: 'abc' };

  test('is known to every write of the scheduler that has a body', async () => {
    const writes = api.api.routes.filter((route) => route.family === 'scheduler' && route.body);
    expect(writes.length).toBeGreaterThan(20);
    const told = [];
    for (const { method, path, body } of writes) {
      if (body?.raw !== undefined) continue;
      const url = path.replace(/:[a-z_]+\+?/g, 'none');
      const answer = await api.call(method, url, { body: envelope });
      const text = JSON.stringify(answer.json);
      if (/"\/?(Region|Namespace|SecretID)"? is not a known|unknown field/.test(text)) {
        told.push(`${method} ${path}: ${text}`);
      }
    }
    expect(told).toEqual([]);
  });

  test('draws no warning, is not kept, and names the namespace', async () => {
    await api.call('PUT', '/v1/namespace', { body: { Name: 'shop' } });
    const body = { ...jobBody({ ID: 'other' }), ...envelope };
    expect((await api.call('POST', '/v1/jobs', { body })).json.Warnings).toBe('');
    const scale = {
      Count: 2,
      Message: 'more',
      Target: { Group: 'web' },
      ...envelope,
      Namespace: 'shop',
    };
    const scaled = await api.call('POST', '/v1/job/web/scale', { body: scale });
    expect(scaled.json).toMatchObject({
      code: 'job-not-found',
      detail: expect.stringContaining('shop'),
    });
    const pool = { Name: 'gpu', ...envelope };
    expect((await api.call('PUT', '/v1/node/pools', { body: pool })).status).toBe(200);
    expect((await api.call('GET', '/v1/node/pool/gpu')).json).not.toHaveProperty('SecretID');
  });

  test('is refused when its region is another one', async () => {
    const body = { EvalOptions: null, ...envelope, Region: 'far' };
    const { json } = await api.call('PUT', '/v1/job/web/evaluate', { body });
    expect(json).toMatchObject({ status: 400, errors: [{ pointer: '/Region' }] });
  });
});

test.each(['dc=far', 'region=far'])('?%s is refused on every route', async (elsewhere) => {
  const [parameter] = elsewhere.split('=');
  const taken = [];
  for (const { method, path, run } of api.api.routes) {
    if (run.kind === 'socket') continue;
    const url = path.replace(/:[a-z_]+\+?/g, 'none');
    const { status, json } = await api.call(method, `${url}?${elsewhere}`, {});
    const isRefused = status === 400 && JSON.stringify(json).includes(`\\"${parameter}\\" must be`);
    if (!isRefused) taken.push(`${method} ${path}: ${status} ${json?.detail}`);
  }
  expect(taken).toEqual([]);
  expect((await api.call('GET', '/v1/acl/policies?dc=dc1&region=global')).status).toBe(200);
});

test.each([
  ['Periodic is nil', ['web']],
  ['Periodic is not nil', []],
  ['ParameterizedJob is not nil', []],
])('jobs are filtered by %s', async (filter, names) => {
  const { json } = await api.call('GET', `/v1/jobs?filter=${encodeURIComponent(filter)}`);
  expect(json.map(({ ID }: { ID: string }) => ID)).toEqual(names);
});

test('a version is tagged and untagged at the place of its name among the versions', async () => {
  const path = '/v1/job/web/versions/gold/tag';
  const body = { Version: 0, Description: 'good' };
  expect((await api.call('POST', path, { body })).json).toMatchObject({ Name: 'gold', Version: 0 });
  const tagged = (await api.call('GET', '/v1/job/web')).json.VersionTag;
  expect(tagged).toMatchObject({ Name: 'gold', Description: 'good' });
  expect((await api.call('DELETE', path)).status).toBe(200);
  expect((await api.call('GET', '/v1/job/web')).json.VersionTag).toBeNull();
});
