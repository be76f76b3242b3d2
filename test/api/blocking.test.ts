import { beforeEach, describe, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let index: string;
beforeEach(async () => {
  api = await startApi();
  await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'a' }) });
  await api.settle();
  index = (await api.call('GET', '/v1/jobs')).headers['x-scheduler-index']!;
});

/** A blocking query, and whether it has been answered. */
function park(url: string, options: Parameters<TestApi['call']>[2] = {}) {
  const parked = { status: 0, index: 0 };
  const done = api.call('GET', url, options).then((answer) => {
    parked.status = answer.status;
    parked.index = Number(answer.headers['x-scheduler-index']);
    return answer;
  });
  return { parked, done };
}

test('it answers at once if the index is older', async () => {
  const { parked } = park('/v1/jobs?index=1');
  await api.settle();
  expect(parked.status).toBe(200);
});

test('it waits for a change of its result, and an unrelated write does not wake it', async () => {
  const { parked } = park(`/v1/jobs?index=${index}&wait=1m`);
  await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'b' }) });
  await api.settle();
  expect(parked.status).toBe(200);
  const one = park(`/v1/job/a?index=${index}&wait=1m`);
  await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'c' }) });
  await api.settle();
  expect(one.parked.status).toBe(0);
  await api.call('DELETE', '/v1/job/a');
  await api.settle();
  expect(one.parked.status).toBe(200);
});

test('a delete moves the index of a list and wakes it', async () => {
  const before = (await api.call('GET', '/v1/jobs')).headers['x-scheduler-index'];
  const { parked, done } = park(`/v1/jobs?index=${before}&wait=1m`);
  await api.settle();
  await api.call('DELETE', '/v1/job/a?purge=true');
  await api.settle();
  expect(parked.index).toBeGreaterThan(Number(before));
  expect((await done).json).toEqual([]);
});

test('at the timeout it answers, at most a sixteenth later than requested', async () => {
  const { parked } = park(`/v1/job/a?index=${index}&wait=32s`);
  await api.world.advance(31_999);
  expect(parked.status).toBe(0);
  await api.world.advance(2_001);
  expect(parked.status).toBe(200);
});

test('a missing record is waited for', async () => {
  const { parked } = park(`/v1/job/new?index=${index}&wait=1m`);
  await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'other' }) });
  await api.settle();
  expect(parked.status).toBe(0);
  await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'new' }) });
  await api.settle();
  expect(parked.status).toBe(200);
});

describe.each(['allocations', 'deployments', 'deployment', 'services'])('%s of a job', (name) => {
  const path = `/v1/job/b/${name}`;
  const register = async (Meta: object | null = null) => {
    const group = { ...jobBody().Job.TaskGroups[0], Count: 0 };
    const body = jobBody({ ID: 'b', TaskGroups: [group], Meta });
    expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(200);
    await api.settle();
  };
  const indexOf = async () => Number((await api.call('GET', path)).headers['x-scheduler-index']);
  const purge = async () => {
    await api.call('DELETE', '/v1/job/b?purge=true');
    await api.settle();
  };
  beforeEach(() => register());

  test('an update of the job does not wake the query, and a purge does', async () => {
    const before = await indexOf();
    const { parked } = park(`${path}?index=${before}&wait=1m`);
    await register({ owner: 'b' });
    expect(parked.status).toBe(0);
    await purge();
    expect(parked.status).toBe(404);
    expect(parked.index).toBeGreaterThan(before);
  });

  test('a new registration after the purge has a greater index', async () => {
    const before = await indexOf();
    await purge();
    const { parked } = park(`${path}?index=${await indexOf()}&wait=1m`);
    await api.settle();
    expect(parked.status).toBe(0);
    await register();
    expect(parked.status).toBe(200);
    expect(await indexOf()).toBeGreaterThan(before);
  });
});

test('a caller that disconnects leaves nothing behind', async () => {
  const gone = new AbortController();
  const { done } = park(`/v1/job/a?index=${index}&wait=1m`, { signal: gone.signal });
  await api.settle();
  const timers = api.world.pendingTimers;
  gone.abort();
  await done;
  expect(api.world.pendingTimers).toBeLessThan(timers);
});

test('non-blocking routes answer at once', async () => {
  const { parked } = park('/v1/status/leader?index=99999&wait=1m');
  await api.settle();
  expect(parked.status).toBe(200);
});
