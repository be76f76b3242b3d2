import { beforeEach, expect, test } from 'vitest';
import type { Job } from '../../src/model/job/job.ts';
import { inNamespace, jobVersions } from '../../src/state/tables.ts';
import { aclOf } from '../support/acl.ts';
import { jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const source = (text: string) => ({ Submission: { Format: 'hcl2', Source: text } });
const register = (changes: object = {}, around: object = {}, group: object = {}) =>
  api.call('POST', '/v1/jobs', { body: { ...jobBody(changes, group), ...around } });
const read = async (path: string) => (await api.call('GET', path)).json;
const post = (path: string, body?: unknown) =>
  api.call('POST', path, body === undefined ? {} : { body });
const submission = (version: number | string, job = 'web') =>
  api.call('GET', `/v1/job/${job}/submission?version=${version}`);

const versions = (id = 'web'): Job[] => [
  ...api.state
    .read()
    .table(jobVersions)
    .scan({ prefix: inNamespace('default', id), reverse: true }),
];
const row = (version: number) => versions().find((one) => one.Version === version)!;
const registerTimes = async (count: number, from = 1) => {
  for (let n = from; n < from + count; n++) await register({ Priority: n }, source(`source ${n}`));
};

test('revert restores specification and source as a new version that is not stable', async () => {
  await registerTimes(2);
  await post('/v1/job/web/stable', { JobID: 'web', JobVersion: 0, Stable: true });
  await api.call('PUT', '/v1/job/web/tag/golden', { body: { Version: 0 } });
  const { status, json } = await post('/v1/job/web/revert', { JobID: 'web', JobVersion: 0 });
  expect(status).toBe(200);
  expect(json).toMatchObject({
    EvalCreateIndex: json.Index,
    JobModifyIndex: json.Index,
    Warnings: '',
    KnownLeader: true,
    LastContact: 0,
  });
  expect(await read('/v1/job/web')).toMatchObject({
    Version: 2,
    Priority: 1,
    Stable: false,
    VersionTag: null,
    JobModifyIndex: json.Index,
  });
  expect((await submission(2)).json).toMatchObject({
    Source: 'source 1',
    Format: 'hcl2',
    Version: 2,
    JobIndex: json.Index,
    JobID: 'web',
  });
  expect((await read(`/v1/evaluation/${json.EvalID}`)).TriggeredBy).toBe('job-register');
  expect([row(0).Stable, row(0).VersionTag?.Name]).toEqual([true, 'golden']);
});

test.each([
  ['no body', undefined, 400, 'body-required'],
  ['a body without JobID', {}, 400, 'invalid-body'],
  ['another job in the body', { JobID: 'other' }, 400, 'job-id-mismatch'],
  ['a negative version', { JobID: 'web', JobVersion: -1 }, 400, 'invalid-body'],
  ['the current version', { JobID: 'web', JobVersion: 2 }, 400, 'version-is-current'],
  ['a version there is not', { JobID: 'web', JobVersion: 9 }, 404, 'job-version-not-found'],
  ['a guard that fails', { JobID: 'web', EnforcePriorVersion: 1 }, 409, 'job-version-conflict'],
  ['a guard that holds', { JobID: 'web', EnforcePriorVersion: 2 }, 200, undefined],
  ['version 0 by default', { JobID: 'web' }, 200, undefined],
])('revert with %s', async (_title, body, status, code) => {
  await registerTimes(3);
  const answer = await post('/v1/job/web/revert', body);
  expect([answer.status, answer.json.code]).toEqual([status, code]);
  expect((await read('/v1/job/web')).Version).toBe(status === 200 ? 3 : 2);
});

test.each(['revert', 'stable', 'evaluate', 'tag/one'])(
  '%s tells of fields that it does not know, and of nothing else',
  async (action) => {
    await registerTimes(2);
    const body = { ...(action.startsWith('tag') ? {} : { JobID: 'web' }) };
    const { json } = await post(`/v1/job/web/${action}`, { ...body, Colour: 'red' });
    expect(json.Warnings).toContain('unknown field /Colour is ignored');
    await register({ Priority: 80 });
    expect((await post(`/v1/job/web/${action}`, body)).json.Warnings ?? '').toBe('');
  },
);

test.each(['revert', 'stable'])('%s reports all faults of its body', async (action) => {
  await registerTimes(1);
  const { json } = await post(`/v1/job/web/${action}`, { JobVersion: -1 });
  expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    '/JobID',
    '/JobVersion',
  ]);
});

test('an unknown job cannot be reverted, marked stable, tagged or evaluated', async () => {
  const body = { JobID: 'gone' };
  for (const word of ['revert', 'stable', 'evaluate']) {
    const { status, json } = await post(`/v1/job/gone/${word}`, body);
    expect([word, status, json.code]).toEqual([word, 404, 'job-not-found']);
  }
  for (const method of ['PUT', 'POST', 'DELETE']) {
    expect((await api.call(method, '/v1/job/gone/tag/x', { body: {} })).json.code).toBe(
      'job-not-found',
    );
  }
  expect((await submission(0, 'gone')).json.code).toBe('submission-not-found');
});

test('reverting to an identical version creates no version, but an evaluation', async () => {
  await register({ Priority: 5 });
  await register({ Priority: 6 });
  await register({ Priority: 5 });
  const { json } = await post('/v1/job/web/revert', { JobID: 'web', JobVersion: 0 });
  expect([json.EvalID, (await read('/v1/job/web')).Version]).toEqual([expect.any(String), 2]);
});

test('reverting to a stopped version stops the job, and reverting to a running one starts it', async () => {
  await register();
  await api.call('DELETE', '/v1/job/web');
  await post('/v1/job/web/revert', { JobID: 'web', JobVersion: 0 });
  expect(await read('/v1/job/web')).toMatchObject({ Stop: false, Version: 2 });
  await post('/v1/job/web/revert', { JobID: 'web', JobVersion: 1 });
  expect(await read('/v1/job/web')).toMatchObject({ Stop: true, Version: 3 });
});

test('an older version is checked by the current rules', async () => {
  await api.call('PUT', '/v1/namespace', { body: { Name: 'dev' } });
  await api.call('PUT', '/v1/node/pool/gpu', { body: { Name: 'gpu' } });
  await register({ NodePool: 'gpu' });
  await register({ NodePool: 'default' });
  await api.call('DELETE', '/v1/node/pool/gpu');
  const { json } = await post('/v1/job/web/revert', { JobID: 'web', JobVersion: 0 });
  expect(json.code).toBe('node-pool-not-found');
  expect((await read('/v1/job/web')).Version).toBe(1);
});

test('stability can be set and removed for any version, and only that of the current version changes the job', async () => {
  await registerTimes(2);
  const before = await read('/v1/job/web');
  const set = (JobVersion: number, Stable?: boolean) =>
    post('/v1/job/web/stable', { JobID: 'web', JobVersion, ...(Stable && { Stable }) });
  const older = await set(0, true);
  expect(older.json).toEqual({
    JobModifyIndex: before.JobModifyIndex,
    Index: before.ModifyIndex + 1,
  });
  expect(row(0)).toMatchObject({ Stable: true, ModifyIndex: older.json.Index });
  expect(await read('/v1/job/web')).toEqual(before);
  const again = await set(0, true);
  expect([again.status, row(0).ModifyIndex]).toEqual([200, older.json.Index]);
  const current = await set(1, true);
  expect(await read('/v1/job/web')).toEqual({
    ...before,
    Stable: true,
    ModifyIndex: current.json.Index,
  });
  await set(1);
  expect((await read('/v1/job/web')).Stable).toBe(false);
  expect((await set(7)).json.code).toBe('job-version-not-found');
});

test('a tag names a version, is unique in the job, and can be moved to another version', async () => {
  await registerTimes(3);
  const put = (name: string, body: object = {}) =>
    api.call('PUT', `/v1/job/web/tag/${encodeURIComponent(name)}`, { body });
  const tagged = await put('golden', { Version: 0, Description: 'the first' });
  expect(tagged.json).toEqual({
    Name: 'golden',
    Description: 'the first',
    TaggedTime: expect.any(Number),
    Version: 0,
    Index: expect.any(Number),
  });
  expect(row(0).VersionTag).toMatchObject({ Name: 'golden', Description: 'the first' });
  expect((await put('golden', { Version: 1 })).json).toMatchObject({ code: 'name-taken' });
  expect((await put('golden', { Version: 0, Description: 'x' })).json.Description).toBe('x');
  expect((await put('silver', { Version: 0 })).status).toBe(200);
  expect(row(0).VersionTag?.Name).toBe('silver');
  const before = await read('/v1/job/web');
  const latest = await put('a/b c');
  expect(latest.json.Version).toBe(2);
  expect(await read('/v1/job/web')).toEqual({
    ...before,
    ModifyIndex: latest.json.Index,
    VersionTag: { Name: 'a/b c', Description: '', TaggedTime: latest.json.TaggedTime },
  });
  expect((await put('x', { Version: 9 })).json.code).toBe('job-version-not-found');
  expect((await put('x', { Name: 'y' })).json.code).toBe('id-mismatch');
  expect((await put('x'.repeat(200))).status).toBe(400);
  const gone = await api.call('DELETE', '/v1/job/web/tag/silver');
  expect(gone.json).toMatchObject({ Name: 'silver', Version: 0 });
  expect(row(0).VersionTag).toBeNull();
  expect((await api.call('DELETE', '/v1/job/web/tag/silver')).json.code).toBe(
    'version-tag-not-found',
  );
});

test('tagged versions are kept besides the last six and one stable version', async () => {
  await registerTimes(2);
  await api.call('PUT', '/v1/job/web/tag/first', { body: { Version: 0 } });
  await post('/v1/job/web/stable', { JobID: 'web', JobVersion: 1, Stable: true });
  await registerTimes(9, 3);
  expect(versions().map(({ Version }) => Version)).toEqual([10, 9, 8, 7, 6, 1, 0]);
  await api.call('DELETE', '/v1/job/web/tag/first');
  await registerTimes(1, 20);
  expect(versions().map(({ Version }) => Version)).toEqual([11, 10, 9, 8, 7, 1]);
});

test('a tag in a submission is ignored with a warning, and the stored tag is no change', async () => {
  await register();
  const VersionTag = { Name: 'mine', Description: '', TaggedTime: 1e18 };
  const brought = await register({ VersionTag });
  expect(brought.json.Warnings).toMatch(/VersionTag is ignored/);
  expect(await read('/v1/job/web')).toMatchObject({ Version: 0, VersionTag: null });
  await api.call('PUT', '/v1/job/web/tag/golden');
  const Job = await read('/v1/job/web');
  expect((await post('/v1/jobs', { Job })).json.Warnings).toBe('');
  expect((await read('/v1/job/web')).Version).toBe(0);
  await register();
  expect(await read('/v1/job/web')).toMatchObject({ Version: 1, VersionTag: null });
  expect(row(0).VersionTag?.Name).toBe('golden');
});

test('the source of a version is read as it was submitted, and six are kept', async () => {
  const Submission = {
    Format: 'hcl2',
    Source: 'job "web" {}\n',
    Variables: 'a = 1\n',
    VariableFlags: { 'x y': 'ü&=%20' },
  };
  const { json } = await register({}, { Submission });
  expect((await submission(0)).json).toEqual({
    ...Submission,
    JobID: 'web',
    Namespace: 'default',
    Version: 0,
    JobIndex: json.JobModifyIndex,
    CreateIndex: json.Index,
    ModifyIndex: json.Index,
  });
  await registerTimes(8);
  const found = await Promise.all(
    Array.from({ length: 9 }, async (_, version) => (await submission(version)).status),
  );
  expect(found).toEqual([404, 404, 404, 200, 200, 200, 200, 200, 200]);
});

test.each([
  ['no version', '', 400],
  ['no number', '?version=x', 400],
  ['a negative one', '?version=-1', 400],
  ['a version without a source', '?version=1', 404],
  ['one that is there', '?version=0', 200],
])('the source of %s', async (_title, query, status) => {
  await register({}, source('one'));
  await register({ Priority: 9 });
  expect((await api.call('GET', `/v1/job/web/submission${query}`)).status).toBe(status);
});

test('sources need read-job', async () => {
  await register({}, source('one'));
  const asked = async (rules: string) => {
    const token = await aclOf(api).holder(rules);
    return (await api.call('GET', '/v1/job/web/submission?version=0', { token })).status;
  };
  expect(await asked('namespace "default" { capabilities = ["list-jobs"] }')).toBe(403);
  expect(await asked('namespace "default" { capabilities = ["read-job"] }')).toBe(200);
});

test('a source above the limit is not kept, and the job is registered nevertheless', async () => {
  const { json } = await register({}, source('x'.repeat(1024 * 1024 + 1)));
  expect(json.Warnings).toMatch(/larger than 1 MiB/);
  expect([(await read('/v1/job/web')).Version, (await submission(0)).status]).toEqual([0, 404]);
  await register({ Priority: 9 }, source('x'.repeat(1024 * 1024)));
  expect((await submission(1)).status).toBe(200);
});

test('the source of a version is never overwritten; a job sent back without a source keeps it', async () => {
  await register({}, source('first'));
  await register({}, source('second'));
  expect((await submission(0)).json.Source).toBe('first');
  const Job = { ...(await read('/v1/job/web')), Priority: 77 };
  await post('/v1/jobs', { Job });
  expect((await submission(1)).json.Source).toBe('first');
  await register({ Priority: 78 });
  expect((await submission(2)).status).toBe(404);
});

test('a purge deletes the sources', async () => {
  await register({}, source('one'));
  await api.call('DELETE', '/v1/job/web?purge=true');
  await register();
  expect((await submission(0)).status).toBe(404);
});

test('a stop keeps the source, and a second stop creates no version', async () => {
  await register({}, source('one'));
  const first = await api.call('DELETE', '/v1/job/web');
  const again = await api.call('DELETE', '/v1/job/web');
  expect(await read('/v1/job/web')).toMatchObject({ Stop: true, Version: 1 });
  expect(again.json).toMatchObject({ JobModifyIndex: first.json.JobModifyIndex });
  expect(again.json.EvalID).not.toBe(first.json.EvalID);
  expect((await submission(1)).json.Source).toBe('one');
});

test('a stopped job has no waiting evaluations', async () => {
  await register({}, {}, { Count: 3 });
  await api.settle();
  expect((await read('/v1/job/web/summary')).Summary.web.Queued).toBe(3);
  await api.call('DELETE', '/v1/job/web');
  expect((await read('/v1/job/web/summary')).Summary.web.Queued).toBe(0);
  await api.settle();
  expect((await read('/v1/job/web/summary')).Summary.web.Queued).toBe(0);
});

test('PreserveCounts applies to new jobs, and an update warns', async () => {
  await register({}, {}, { Count: 5 });
  const body = { ...jobBody({ Priority: 60 }, { Count: 2 }), PreserveCounts: true };
  const { json } = await post('/v1/job/web', body);
  expect(json.Warnings).toMatch(/PreserveCounts is ignored/);
  expect((await read('/v1/job/web')).TaskGroups[0].Count).toBe(2);
});

test.each([
  ['nothing', undefined, 200],
  ['null, as typed clients send nothing', null, 200],
  ['a body without the job', {}, 400],
  ['the job', { JobID: 'web' }, 200],
  ['another job', { JobID: 'other' }, 400],
  ['options without the job', { EvalOptions: { ForceReschedule: true } }, 400],
  ['options', { JobID: 'web', EvalOptions: { ForceReschedule: true } }, 200],
])('evaluate with %s', async (_title, body, status) => {
  const first = (await register()).json;
  const { json, ...answer } = await post('/v1/job/web/evaluate', body);
  expect(answer.status).toBe(status);
  if (status !== 200) {
    const fault = { pointer: '/JobID', message: 'JobID is required' };
    const other = { code: 'job-id-mismatch' };
    expect(json).toMatchObject('JobID' in (body ?? {}) ? other : { errors: [fault] });
    return;
  }
  expect(json).toMatchObject({ EvalCreateIndex: json.Index, JobModifyIndex: first.Index });
  const evaluation = await read(`/v1/evaluation/${json.EvalID}`);
  expect(evaluation).toMatchObject({ TriggeredBy: 'job-register', Priority: 50, JobID: 'web' });
  expect((await read('/v1/job/web')).Version).toBe(0);
});

test.each([
  ['periodic', { Periodic: { Specs: ['@daily'] } }],
  ['parameterized', { ParameterizedJob: {} }],
])('a %s job is not evaluated', async (_title, changes) => {
  await register({ Type: 'batch', ...changes });
  const { status, json } = await post('/v1/job/web/evaluate', { JobID: 'web' });
  expect([status, json.code]).toEqual([400, 'job-not-evaluated']);
});

test('ForceReschedule replaces failed allocations at once, even without attempts left', async () => {
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  const ReschedulePolicy = { Attempts: 1, Interval: 86_400e9, Delay: 3600e9, Unlimited: false };
  await register({}, {}, { ReschedulePolicy });
  await api.settle();
  const [{ ID, NodeID }] = await read('/v1/job/web/allocations');
  const failed = { Allocations: [{ ID, ClientStatus: 'failed' }] };
  await api.call('PUT', `/v1/node/${NodeID}/status`, { body: failed });
  await api.settle();
  await post('/v1/job/web/evaluate', { JobID: 'web' });
  await api.settle();
  expect(await read('/v1/job/web/allocations')).toHaveLength(1);
  const EvalOptions = { ForceReschedule: true };
  await post('/v1/job/web/evaluate', { JobID: 'web', EvalOptions });
  await api.settle();
  const all = await read('/v1/job/web/allocations');
  expect(all).toHaveLength(2);
  expect((await read(`/v1/allocation/${ID}`)).NextAllocation).not.toBe('');
});

test('evaluations of earlier registrations are listed with all=true only', async () => {
  await register();
  await api.call('DELETE', '/v1/job/web?purge=true');
  const { json } = await register();
  const ids = (list: readonly { ID: string }[]) => list.map(({ ID }) => ID);
  expect(ids(await read('/v1/job/web/evaluations'))).toEqual([json.EvalID]);
  expect(await read('/v1/job/web/evaluations?all=true')).toHaveLength(3);
});
