/** The versions of a job over HTTP. Source: docs/contract/jobs.md#versions-and-sources. */
import { beforeEach, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

async function register(job: object = {}, group: object = {}, task: object = {}) {
  const { status, text } = await api.call('POST', '/v1/jobs', { body: jobBody(job, group, task) });
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  await api.settle();
}

const versions = async (query = '') => api.call('GET', `/v1/job/web/versions${query}`);

test('the newest is first, with the index, and without differences by default', async () => {
  await register();
  await register({ Priority: 60 });
  const { status, json, headers } = await versions();
  expect([status, Object.keys(json).sort()]).toEqual([
    200,
    ['Diffs', 'Index', 'KnownLeader', 'LastContact', 'Versions'],
  ]);
  expect(json).toMatchObject({ Diffs: null, KnownLeader: true, LastContact: 0 });
  expect(json.Versions).toMatchObject([
    { Version: 1, Priority: 60 },
    { Version: 0, Priority: 50 },
  ]);
  expect(String(json.Index)).toBe(headers['x-scheduler-index']);
  expect(json.Index).toBe(
    Math.max(...json.Versions.map((one: { ModifyIndex: number }) => one.ModifyIndex)),
  );
});

test('differences are to the previous version', async () => {
  await register();
  await register({ Priority: 60 });
  await register({ Priority: 60 }, {}, { Env: { A: 'b' } });
  const { Diffs } = (await versions('?diffs=true')).json;
  expect(Diffs).toMatchObject([
    {
      Type: 'Edited',
      ID: 'web',
      Fields: null,
      Objects: null,
      TaskGroups: [
        {
          Type: 'Edited',
          Name: 'web',
          Updates: null,
          Tasks: [{ Type: 'Edited', Fields: [{ Type: 'Added', Name: 'Env[A]', New: 'b' }] }],
        },
      ],
    },
    {
      Fields: [{ Type: 'Edited', Name: 'Priority', Old: '50', New: '60', Annotations: null }],
      TaskGroups: [{ Type: 'None' }],
    },
  ]);
});

test('diff_version and diff_tag compare with a named version', async () => {
  await register();
  await register({ Priority: 60 });
  const { Diffs } = (await versions('?diffs=true&diff_version=0')).json;
  expect(Diffs).toMatchObject([{ Fields: [{ Old: '50', New: '60' }] }, { Type: 'None' }]);
  // It affects the differences only.
  expect((await versions('?diff_version=0')).json.Diffs).toBeNull();
});

test.each([
  ['?diffs=true&diff_version=7', 404, 'job-version-not-found'],
  ['?diffs=true&diff_tag=golden', 404, 'job-version-not-found'],
  ['?diffs=true&diff_tag=golden&diff_version=0', 400, 'invalid-query'],
  ['?diffs=maybe', 400, 'invalid-query'],
  ['?diff_version=-1', 400, 'invalid-query'],
])('differences to %s are refused', async (query, status, code) => {
  await register();
  const answer = await versions(query);
  expect([answer.status, answer.json.code]).toEqual([status, code]);
});

test('versions of an unknown or unreadable job are refused', async () => {
  expect((await versions()).json.code).toBe('job-not-found');
  expect((await api.call('GET', '/v1/job/web/versions', { token: null })).status).toBe(403);
});

test('a blocking query wakes on a new version only', async () => {
  await register();
  const { Index } = (await versions()).json;
  let answered = false;
  const waiting = versions(`?index=${Index}&wait=60s`).finally(() => {
    answered = true;
  });
  await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'other' }) });
  await api.settle();
  expect(answered).toBe(false);
  await register({ Priority: 60 });
  const { json } = await waiting;
  expect(json.Versions).toHaveLength(2);
  expect(json.Index).toBeGreaterThan(Index);
});
