import { beforeEach, expect, test } from 'vitest';
import { jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const register = (body: object = jobBody()) => api.call('POST', '/v1/jobs', { body });
const read = async (path: string) => (await api.call('GET', path)).json;

test('a new job is version 0, pending, and has an evaluation that waits for room', async () => {
  const { json } = await register();
  expect(json).toMatchObject({ Warnings: '', Index: json.JobModifyIndex, KnownLeader: true });
  expect(json.EvalCreateIndex).toBe(json.Index);
  const job = await read('/v1/job/web');
  expect(job).toMatchObject({
    ID: 'web',
    Name: 'web',
    Namespace: 'default',
    Type: 'service',
    Priority: 50,
    Version: 0,
    Stop: false,
    Stable: false,
    Status: 'pending',
    NodePool: 'default',
    CreateIndex: json.Index,
    JobModifyIndex: json.Index,
    Datacenters: ['*'],
    RegistryToken: '',
    SecretsToken: '',
    Payload: null,
    Periodic: null,
  });
  await api.settle();
  const [first, blocked] = (await read('/v1/job/web/evaluations')).toSorted(
    (left: { CreateIndex: number }, right: { CreateIndex: number }) =>
      left.CreateIndex - right.CreateIndex,
  );
  expect(first).toMatchObject({ ID: json.EvalID, Status: 'complete', BlockedEval: blocked.ID });
  expect(first.FailedTGAllocs.web.NodesEvaluated).toBe(0);
  expect(blocked).toMatchObject({ Status: 'blocked', TriggeredBy: 'queued-allocs' });
  expect((await read('/v1/job/web/summary')).Summary.web.Queued).toBe(1);
});

test('new room wakes the waiting evaluation, and the job runs when its node reports so', async () => {
  await register(jobBody({}, { Count: 2 }));
  await api.settle();
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  await api.settle();
  const allocations = await read('/v1/job/web/allocations');
  expect(allocations.map((one: { Name: string }) => one.Name).sort()).toEqual([
    'web.web[0]',
    'web.web[1]',
  ]);
  const [{ ID, NodeID }] = allocations;
  expect((await read('/v1/job/web')).Status).toBe('running');
  await api.call('PUT', `/v1/node/${NodeID}/status`, {
    body: { Allocations: [{ ID, ClientStatus: 'running' }] },
  });
  expect((await read('/v1/job/web/summary')).Summary.web).toMatchObject({
    Queued: 0,
    Starting: 1,
    Running: 1,
  });
  const evaluations = await read('/v1/job/web/evaluations');
  expect(evaluations.map((one: { Status: string }) => one.Status)).toEqual([
    'complete',
    'complete',
  ]);
});

test('a job registered again unchanged keeps its version and is evaluated again', async () => {
  const first = (await register()).json;
  const again = (await register()).json;
  expect(again.EvalID).not.toBe(first.EvalID);
  expect(await read('/v1/job/web')).toMatchObject({ Version: 0, JobModifyIndex: first.Index });
});

test('a job can be sent back as it was read, without a change', async () => {
  await register();
  const Job = await read('/v1/job/web');
  expect((await register({ Job })).json.Warnings).toBe('');
  expect((await read('/v1/job/web')).Version).toBe(0);
});

test('a change creates a new version and keeps the creation index', async () => {
  const first = (await register()).json;
  const second = (await register(jobBody({ Priority: 70 }))).json;
  expect(await read('/v1/job/web')).toMatchObject({
    Version: 1,
    Priority: 70,
    CreateIndex: first.Index,
    JobModifyIndex: second.Index,
  });
});

test('keys may be in any case, durations may be texts, unknown fields are reported', async () => {
  const body = {
    job: {
      id: 'web',
      taskgroups: [
        { name: 'g', shutdowndelay: '2s', tasks: [{ name: 't', driver: 'mock', Colour: 'red' }] },
      ],
    },
  };
  const { json } = await register(body);
  expect(json.Warnings).toMatch(/Colour/);
  const job = await read('/v1/job/web');
  expect(job.TaskGroups[0]).toMatchObject({ Name: 'g', ShutdownDelay: 2e9 });
  expect(job.TaskGroups[0].Tasks[0].KillTimeout).toBe(5e9);
});

test.each([
  ['a new job, index 0', [], 0, 200],
  ['a new job, another index', [], 7, 409],
  ['a job that is there, index 0', ['web'], 0, 409],
  ['its own index', ['web'], 'own', 200],
  ['another index', ['web'], 999, 409],
])('EnforceIndex on %s', async (_title, registered, index, status) => {
  let own = 0;
  for (const ID of registered) own = (await register(jobBody({ ID }))).json.JobModifyIndex;
  const JobModifyIndex = index === 'own' ? own : index;
  const answer = await register({
    ...jobBody({ Priority: 60 }),
    EnforceIndex: true,
    JobModifyIndex,
  });
  expect(answer.status).toBe(status);
});

test.each([
  ['its type', { Type: 'batch' }, 'job-change-refused'],
  ['to periodic', { Type: 'service', Periodic: { Specs: ['@daily'] } }, 'invalid-job'],
  ['an unknown namespace', { Namespace: 'elsewhere' }, 'namespace-not-found'],
])('a change of %s is refused and leaves the job unchanged', async (_title, changes, code) => {
  await register();
  const refused = await register(jobBody(changes));
  expect(refused.json.code).toBe(code);
  expect((await read('/v1/job/web')).Version).toBe(0);
});

test('PreserveCounts keeps the counts of existing groups', async () => {
  await register(jobBody({}, { Count: 5 }));
  await register({ ...jobBody({ Priority: 60 }, { Count: 1 }), PreserveCounts: true });
  expect((await read('/v1/job/web')).TaskGroups[0].Count).toBe(5);
});

test('path and body have to name the same job', async () => {
  const answer = await api.call('POST', '/v1/job/other', { body: jobBody() });
  expect([answer.status, answer.json.code]).toEqual([400, 'job-id-mismatch']);
  expect((await api.call('POST', '/v1/job/web', { body: jobBody() })).status).toBe(200);
  const child = await api.call('POST', '/v1/job/a/b', { body: jobBody({ ID: 'a/b' }) });
  expect(child.status).toBe(200);
  expect((await read('/v1/job/a%2Fb')).ID).toBe('a/b');
});

test('six versions are kept, and those of running allocations', async () => {
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  for (let Priority = 1; Priority <= 9; Priority++) {
    await register(jobBody({ Type: 'batch', Priority }));
    await api.settle();
  }
  const { jobVersions } = await import('../../src/state/tables.ts');
  const versions = [...api.state.read().table(jobVersions).scan()].map((job) => job.Version);
  expect(versions).toEqual([3, 4, 5, 6, 7, 8]);
});

test('stop keeps the job as a stopped version and ends its allocations', async () => {
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  await register();
  await api.settle();
  const { status, json } = await api.call('DELETE', '/v1/job/web');
  expect(status).toBe(200);
  expect(json.EvalCreateIndex).toBe(json.JobModifyIndex);
  await api.settle();
  expect(await read('/v1/job/web')).toMatchObject({ Stop: true, Version: 1, Status: 'dead' });
  const [allocation] = await read('/v1/job/web/allocations');
  expect(allocation.DesiredStatus).toBe('stop');
});

test('purge deletes the job at once and still ends its allocations', async () => {
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  await register();
  await api.settle();
  const [{ ID }] = await read('/v1/job/web/allocations');
  await api.call('DELETE', '/v1/job/web?purge=true');
  await api.settle();
  expect((await api.call('GET', '/v1/job/web')).status).toBe(404);
  expect((await api.call('GET', '/v1/job/web/allocations')).status).toBe(404);
  expect((await read(`/v1/allocation/${ID}`)).DesiredStatus).toBe('stop');
  expect((await api.call('DELETE', '/v1/job/web')).status).toBe(404);
});

test('a job registered again after a purge starts over, and all=true shows earlier records', async () => {
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  await register();
  await api.settle();
  await api.call('DELETE', '/v1/job/web?purge=true');
  await api.settle();
  await register();
  await api.settle();
  expect((await read('/v1/job/web')).Version).toBe(0);
  expect(await read('/v1/job/web/allocations')).toHaveLength(1);
  expect(await read('/v1/job/web/allocations?all=true')).toHaveLength(2);
});

test('a periodic job is not evaluated', async () => {
  const periodic = { ID: 'nightly', Type: 'batch', Periodic: { Specs: ['0 3 * * *'] } };
  const { json } = await register(jobBody(periodic));
  expect(json).toMatchObject({ EvalID: '', EvalCreateIndex: 0 });
  expect((await read('/v1/job/nightly')).Status).toBe('running');
});

test('a dead job registered with a change is pending again', async () => {
  await register();
  await api.settle();
  await api.call('DELETE', '/v1/job/web');
  await api.settle();
  expect((await read('/v1/job/web')).Status).toBe('dead');
  await register(jobBody({ Priority: 70 }));
  expect(await read('/v1/job/web')).toMatchObject({ Status: 'pending', Stop: false, Version: 2 });
});

test('numbers and booleans in the environment become texts and are no change', async () => {
  const withEnv = (Env: object) => register(jobBody({}, {}, { Env }));
  const env = { PORT: '8080', RATE: '1.5', DEBUG: 'true', NAME: 'web' };
  expect((await withEnv({ PORT: 8080, RATE: 1.5, DEBUG: true, NAME: 'web' })).status).toBe(200);
  expect((await read('/v1/job/web')).TaskGroups[0].Tasks[0].Env).toEqual(env);
  await withEnv(env);
  expect((await read('/v1/job/web')).Version).toBe(0);
  await withEnv({ ...env, PORT: 8081 });
  expect((await read('/v1/job/web')).Version).toBe(1);
});

test('other values in the environment are refused with their name', async () => {
  const { status, json } = await register(jobBody({}, {}, { Env: { A: [1], B: {}, C: 1 } }));
  const pointers = json.errors.map(({ pointer }: { pointer: string }) => pointer);
  const env = '/Job/TaskGroups/0/Tasks/0/Env';
  expect([status, pointers]).toEqual([400, [`${env}/A`, `${env}/B`]]);
});
