import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { type CallOptions, jobBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

/** The job has no rolling updates. */
const plain = { Update: { MaxParallel: 0 } };
const register = async (changes: object = {}, group: object = {}) => {
  const body = jobBody(changes, { ...plain, ...group });
  const { status, text, json } = await api.call('POST', '/v1/jobs', { body });
  expect(status, text).toBe(200);
  await api.settle();
  return json;
};
const scale = (body: object, { job = 'web', ...options }: CallOptions & { job?: string } = {}) =>
  api.call('PUT', `/v1/job/${job}/scale`, { body, ...options });
const get = async (path: string) => (await api.call('GET', path)).json;
const job = () => get('/v1/job/web');
const status = () => get('/v1/job/web/scale');
const to = (Count: number, more: object = {}) => ({
  Count,
  Target: { Group: 'web' },
  Message: 'because',
  ...more,
});

describe('scaling a group', () => {
  test('creates a version of the job, an evaluation and an event', async () => {
    await register();
    const before = await job();
    const { status: code, json, headers } = await scale(to(3, { Meta: { load: [0.9] } }));
    expect(code).toBe(200);
    expect(json).toEqual({
      EvalID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      EvalCreateIndex: json.Index,
      JobModifyIndex: json.Index,
      Warnings: '',
      Index: json.Index,
      LastContact: 0,
      KnownLeader: true,
    });
    expect(headers['x-scheduler-index']).toBe(String(json.Index));
    const after = await job();
    expect(after.TaskGroups[0].Count).toBe(3);
    expect(after).toEqual({
      ...before,
      Version: before.Version + 1,
      Stable: false,
      SubmitTime: expect.any(Number),
      ModifyIndex: json.Index,
      JobModifyIndex: json.Index,
      TaskGroups: [{ ...before.TaskGroups[0], Count: 3 }],
    });
    expect(await get(`/v1/evaluation/${json.EvalID}`)).toMatchObject({
      TriggeredBy: 'job-scaling',
      JobID: 'web',
      Priority: 50,
      JobModifyIndex: json.JobModifyIndex,
    });
    expect(await status()).toEqual({
      JobID: 'web',
      Namespace: 'default',
      JobStopped: false,
      JobCreateIndex: before.CreateIndex,
      JobModifyIndex: json.JobModifyIndex,
      TaskGroups: {
        web: {
          Desired: 3,
          Placed: 0,
          Running: 0,
          Healthy: 0,
          Unhealthy: 0,
          Events: [
            {
              Time: api.world.clock.nowMs() * 1e6,
              Count: 3,
              PreviousCount: 1,
              Message: 'because',
              Error: '',
              Meta: { load: [0.9] },
              EvalID: json.EvalID,
              CreateIndex: json.Index,
            },
          ],
        },
      },
    });
  });

  test('to the same count creates a version too', async () => {
    await register();
    const { json } = await scale(to(1));
    expect(await job()).toMatchObject({ Version: 1, JobModifyIndex: json.JobModifyIndex });
    expect(json.EvalID).not.toBe('');
  });

  test.each(['PUT', 'POST'])('with %s, and a job whose id has a slash', async (method) => {
    await register({ ID: 'team/web' });
    for (const path of ['team/web', 'team%2Fweb']) {
      const answer = await api.call(method, `/v1/job/${path}/scale`, { body: to(2) });
      expect(answer.status).toBe(200);
    }
    expect((await get('/v1/job/team/web')).TaskGroups[0].Count).toBe(2);
  });

  test('applies to the named namespace', async () => {
    await api.call('PUT', '/v1/namespace/shop', { body: {} });
    await api.call('POST', '/v1/jobs?namespace=shop', { body: jobBody({}, plain) });
    const answer = await scale(to(2));
    expect([answer.status, answer.json.code]).toEqual([404, 'job-not-found']);
    const { status: code } = await api.call('PUT', '/v1/job/web/scale?namespace=shop', {
      body: to(2),
    });
    expect(code).toBe(200);
  });

  test.each([
    ['periodic', { Type: 'batch', Periodic: { Specs: ['@daily'] } }],
    ['parameterized', { Type: 'batch', ParameterizedJob: {} }],
  ])('of a %s job creates no evaluation', async (_, changes) => {
    const body = jobBody(changes);
    expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(200);
    const { json } = await scale(to(4));
    expect(json).toEqual({
      JobModifyIndex: json.Index,
      Warnings: '',
      Index: json.Index,
      LastContact: 0,
      KnownLeader: true,
    });
    expect(await job()).toMatchObject({ Version: 1, TaskGroups: [{ Count: 4 }] });
    expect((await status()).TaskGroups.web.Events[0].EvalID).toBeNull();
    expect(await get('/v1/job/web/evaluations')).toEqual([]);
  });

  test('of a system job accepts 0 or 1', async () => {
    const system = { Type: 'system', TaskGroups: jobBody().Job.TaskGroups };
    await api.call('POST', '/v1/jobs', { body: { Job: { ...jobBody().Job, ...system } } });
    expect((await scale(to(0))).status).toBe(200);
    const { status: code, json } = await scale(to(2));
    expect([code, json.errors]).toEqual([
      400,
      [{ pointer: '/Count', message: 'Count must be 0 or 1 in a system job, got 2' }],
    ]);
  });

  test('of a stopped job leaves it stopped, and says so', async () => {
    await register();
    await api.call('DELETE', '/v1/job/web');
    await api.settle();
    const { json } = await scale(to(2));
    expect(json.Warnings).toContain('is stopped');
    expect(await job()).toMatchObject({ Stop: true, TaskGroups: [{ Count: 2 }] });
    expect(await status()).toMatchObject({ JobStopped: true });
  });

  test("keeps the job's source", async () => {
    const Submission = { Format: 'json', Source: 'the source' };
    await api.call('POST', '/v1/jobs', { body: { ...jobBody({}, plain), Submission } });
    await scale(to(2));
    const { state } = api;
    const { jobSubmissions, inNamespace, numberPart } = await import('../../src/state/tables.ts');
    const kept = state.read().table(jobSubmissions);
    expect(kept.get(...inNamespace('default', 'web', numberPart(1)))?.Source).toBe('the source');
  });

  test('warns about fields that are unusual only now', async () => {
    await register({}, { Count: 4, Update: { MaxParallel: 0 } });
    await register({}, { Count: 4, Update: { MaxParallel: 3 } });
    const body = jobBody({ Type: 'batch', ID: 'other' }, { Count: 4, ...plain });
    await api.call('POST', '/v1/jobs', { body });
    const unknown = await scale({ ...to(2), Colour: 'red' }, { job: 'other' });
    expect(unknown.json.Warnings).toBe('1 warning(s):\n\n* unknown field /Colour is ignored');
  });
});

describe('a message about a group', () => {
  test('creates an event, but no version and no evaluation', async () => {
    await register();
    const before = await job();
    const { json } = await scale({ Target: { Group: 'web' }, Message: 'all is well' });
    expect(json).toEqual({
      JobModifyIndex: before.JobModifyIndex,
      Warnings: '',
      Index: json.Index,
      LastContact: 0,
      KnownLeader: true,
    });
    expect(json.Index).toBeGreaterThan(before.ModifyIndex);
    expect(await job()).toEqual(before);
    const { Events } = (await status()).TaskGroups.web;
    expect(Events).toMatchObject([{ Count: null, PreviousCount: 1, EvalID: null }]);
    expect(Events[0].CreateIndex).toBe(json.Index);
  });

  test.each([
    ['an error', { Error: 'no metrics' }, { Error: 'no metrics', Message: '' }],
    ['both', { Error: 'x', Message: 'y' }, { Error: 'x', Message: 'y' }],
    ['a message that is an error', { Error: true, Message: 'y' }, { Error: true, Message: 'y' }],
    ['that there was an error', { Error: true }, { Error: true, Message: '' }],
    ['an invalid message', { Error: false, Message: 'y' }, { Error: false, Message: 'y' }],
    ['a list beside it', { Message: 'y', Meta: [1, 'a'] }, { Meta: [1, 'a'] }],
    ['a number beside it', { Message: 'y', Meta: 7 }, { Meta: 7 }],
    ['null for a count', { Count: null, Message: 'y' }, { Count: null, Message: 'y' }],
  ])('%s', async (_, said, kept) => {
    await register();
    const answer = await scale({ Target: { Group: 'web' }, ...said });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    expect((await status()).TaskGroups.web.Events).toMatchObject([kept]);
  });

  test('accepts keys in any case, and fields repeated in the target', async () => {
    await register();
    const Target = { Group: 'web', Job: 'web', Namespace: 'default' };
    expect((await scale({ count: 2, TARGET: Target, message: 'm' })).status).toBe(200);
  });
});

/** In the order of the checks: the fault of each row is corrected in the rows below. */
describe('a refusal', () => {
  const scaling = { Scaling: { Min: 1, Max: 5 }, Count: 2 };
  const text = (length: number) => 'x'.repeat(length);
  const group = { Group: 'web' };
  const refused: readonly (readonly [string, object | string, number, string, string])[] = [
    ['no JSON', '{', 400, 'malformed-json', ''],
    ['a list', [], 400, 'invalid-body', 'The body must be an object'],
    ['a count that is a text', to(1, { Count: '3' }), 400, 'invalid-body', 'Count must be'],
    ['a part of one', to(1.5), 400, 'invalid-body', 'Count must be'],
    ['a target that is a text', to(1, { Target: 'web' }), 400, 'invalid-body', 'Target must be'],
    [
      'an index below 0',
      to(1, { JobModifyIndex: -1 }),
      400,
      'invalid-body',
      'JobModifyIndex must be at least 0',
    ],
    [
      'a message too long',
      to(1, { Message: text(1025) }),
      400,
      'invalid-body',
      'Message must be at most 1024',
    ],
    [
      'an error too long',
      to(1, { Error: text(1025) }),
      400,
      'invalid-body',
      'Error must be at most 1024',
    ],
    [
      'an error that is a number',
      to(1, { Error: 5 }),
      400,
      'invalid-body',
      'Error must be a text or a boolean',
    ],
    [
      'too much beside it',
      to(1, { Meta: { a: text(limits.scaling.metaLengthMax) } }),
      400,
      'invalid-body',
      'Meta must be at most',
    ],
    ['a count below 0', to(-1), 400, 'invalid-body', 'Count must be at least 0, got -1'],
    ['no target', { Count: 1, Message: 'm' }, 400, 'invalid-body', 'Target.Group is required'],
    ['no group', to(1, { Target: {} }), 400, 'invalid-body', 'Target.Group is required'],
    [
      'another job',
      to(1, { Target: { ...group, Job: 'api' } }),
      400,
      'invalid-body',
      'Target.Job must be "web" as in the path, got "api"',
    ],
    [
      'another namespace',
      to(1, { Target: { ...group, Namespace: 'x' } }),
      400,
      'invalid-body',
      'Target.Namespace must be "default"',
    ],
    [
      'nothing said',
      { Count: 1, Target: group },
      400,
      'invalid-body',
      'Message or Error is required: one of the two',
    ],
    [
      'nothing said but that there is no error',
      { Count: 1, Target: group, Error: false },
      400,
      'invalid-body',
      'Message or Error is required',
    ],
    [
      'an error with a count',
      to(1, { Error: true }),
      400,
      'invalid-body',
      'Error cannot be true together with a Count',
    ],
    [
      'an invalid group',
      to(9, { Target: { Group: 'db' } }),
      400,
      'invalid-body',
      'Target.Group must be a group of the job, which has "web"',
    ],
    ['fewer than Min', to(0), 400, 'invalid-body', 'Count must be at least 1, the Min of'],
    ['more than Max', to(6), 400, 'invalid-body', 'Count must be at most 5, the Max of'],
    [
      'an index there is not',
      to(3, { EnforceIndex: true, JobModifyIndex: 1 }),
      409,
      'job-index-conflict',
      'Enforcing job modify index 1',
    ],
    ['the index of a new job', to(3, { EnforceIndex: true }), 409, 'job-exists', 'already exists'],
  ];

  test.each(refused)('%s', async (_, body, code, problem, message) => {
    await register({}, scaling);
    const before = [await job(), await status(), api.state.read().index];
    const answer = await scale(body as object);
    expect([answer.status, answer.json.code]).toEqual([code, problem]);
    expect(answer.json.errors?.[0].message ?? answer.json.detail).toContain(message);
    expect([await job(), await status(), api.state.read().index]).toEqual(before);
  });

  test('lists all faults of the body', async () => {
    await register();
    const { json } = await scale({
      Count: -1,
      Target: { Job: 'x' },
      Error: 5,
      Message: '',
      Region: 'mars',
      JobModifyIndex: -1,
    });
    expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/JobModifyIndex',
      '/Region',
      '/Count',
      '/Target/Group',
      '/Target/Job',
      '/Error',
    ]);
  });

  test('of an unknown job comes after the body and before the groups', async () => {
    const codes = [to(-1), to(1), to(1, { EnforceIndex: true, JobModifyIndex: 7 })].map(
      async (body) => (await scale(body)).json.code,
    );
    expect(await Promise.all(codes)).toEqual(['invalid-body', 'job-not-found', 'job-not-found']);
    expect((await api.call('GET', '/v1/job/web/scale')).status).toBe(404);
  });

  test('of more allocations than a job may have', async () => {
    const second = { ...jobBody().Job.TaskGroups[0], Name: 'second', Count: 0 };
    await register({ TaskGroups: [{ ...jobBody().Job.TaskGroups[0], ...plain }, second] });
    const most = limits.job.countMax;
    expect((await scale(to(most + 1))).json.errors[0].message).toContain(`${most} in all`);
    const other = to(most, { Target: { Group: 'second' } });
    expect((await scale(other)).json.errors[0].message).toBe(
      `Count must leave the job at ${most} in all, and its other groups have 1`,
    );
  });

  test('of more allocations than a volume allows', async () => {
    const volume = { Type: 'csi', Source: 'disk', AttachmentMode: 'file-system' };
    const data = { ...volume, AccessMode: 'single-node-writer' };
    await register({}, { Volumes: { data } });
    const { status: code, json } = await scale(to(2));
    expect([code, json.errors[0].message]).toEqual([
      400,
      'Count does not fit the volume "data", which single-node-writer allows a count of 1, and it is 2',
    ]);
    expect((await scale(to(0))).status).toBe(200);
  });
});

test('the guard admits callers with the newest index', async () => {
  await register();
  const { JobModifyIndex } = await job();
  const first = await scale(to(2, { EnforceIndex: true, JobModifyIndex }));
  expect(first.status).toBe(200);
  expect((await scale(to(3, { EnforceIndex: true, JobModifyIndex }))).status).toBe(409);
  const next = { EnforceIndex: true, JobModifyIndex: first.json.JobModifyIndex };
  expect((await scale(to(3, next))).status).toBe(200);
  // Without EnforceIndex the index guards nothing.
  expect((await scale(to(4, { JobModifyIndex }))).status).toBe(200);
});
