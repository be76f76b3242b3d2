import { beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { limits } from '../../src/model/limits.ts';
import { jobs } from '../../src/state/tables.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { testsFollower } from '../support/follower.ts';
import { restartServer } from '../support/restart.ts';

const startMs = Date.UTC(2026, 0, 1);
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const read = async (path: string) => (await api.call('GET', path)).json;

async function register(periodic: object, changes: object = {}) {
  const Periodic = { Specs: ['*/5 * * * *'], ...periodic };
  const body = jobBody({ ID: 'nightly', Type: 'batch', Periodic, ...changes });
  const answer = await api.call('PUT', '/v1/jobs', { body });
  expect(answer).toMatchObject({ status: 200 });
  return answer.json;
}

const force = (id = 'nightly', method = 'POST') => api.call(method, `/v1/job/${id}/periodic/force`);

/** The launches in minutes since the start of the test. */
function launches(parent = 'nightly'): number[] {
  const found: number[] = [];
  for (const { ID, ParentID } of api.state.read().table(jobs).scan()) {
    if (ParentID !== parent) continue;
    found.push((Number(/\/periodic-(\d+)$/.exec(ID)![1]) * 1000 - startMs) / minute);
  }
  return found.sort((left, right) => left - right);
}

const childId = (minutes: number): string =>
  `nightly/periodic-${(startMs + minutes * minute) / 1000}`;

/** Ends the launched child as complete. */
const end = async (minutes: number) => {
  await api.call('DELETE', `/v1/job/${childId(minutes)}`);
  await api.settle();
};

describe('a launch', () => {
  test('happens at its slot and not before', async () => {
    await register({});
    await api.world.advance(5 * minute - 1);
    expect(launches()).toEqual([]);
    await api.world.advance(1);
    expect(launches()).toEqual([5]);
    await api.world.advance(10 * minute);
    expect(launches()).toEqual([5, 10, 15]);
  });

  test("is a job of its own with an evaluation, counted in its parent's summary", async () => {
    await register({}, { Priority: 70, Meta: { a: 'b' } });
    await api.world.advance(5 * minute);
    const parent = await read('/v1/job/nightly');
    const child = await read(`/v1/job/${childId(5)}`);
    expect(child).toMatchObject({
      ID: childId(5),
      Name: childId(5),
      ParentID: 'nightly',
      Periodic: null,
      Stop: false,
      Type: 'batch',
      Priority: 70,
      Meta: { a: 'b' },
      Version: 0,
      Dispatched: false,
      SubmitTime: (startMs + 5 * minute) * 1e6,
      TaskGroups: parent.TaskGroups,
    });
    const all = await read(`/v1/job/${childId(5)}/evaluations`);
    const [first] = all.filter(
      ({ TriggeredBy }: { TriggeredBy: string }) => TriggeredBy === 'periodic-job',
    );
    expect(first).toMatchObject({ Type: 'batch', Priority: 70, CreateIndex: child.CreateIndex });
    expect((await read('/v1/job/nightly/summary')).Children).toMatchObject({ Pending: 1 });
    expect(parent).toMatchObject({ Status: 'running', Version: 0 });
  });

  test.each([
    ['seconds', { Specs: ['*/30 * * * * *'] }, 1, [0.5, 1]],
    ['a macro', { Specs: ['@hourly'] }, 120, [60, 120]],
    ['@every', { Specs: ['@every 10m'] }, 25, [10, 20]],
    ['the older way to give one', { Specs: null, Spec: '*/10 * * * *' }, 25, [10, 20]],
    ['several', { Specs: ['*/10 * * * *', '7 * * * *'] }, 25, [7, 10, 20]],
    ['slots that meet', { Specs: ['*/10 * * * *', '*/20 * * * *'] }, 25, [10, 20]],
    ['a zone', { Specs: ['45 5 * * *'], TimeZone: 'Asia/Kolkata' }, 30, [15]],
    ['one that is switched off', { Enabled: false }, 30, []],
    ['one that is also parameterized', {}, 30, []],
  ])('by %s', async (title, periodic, minutes, expected) => {
    await register(periodic, title.includes('parameterized') ? { ParameterizedJob: {} } : {});
    await api.world.advance(minutes * minute);
    expect(launches()).toEqual(expected);
  });

  test('of a dispatched child whose parent is also periodic', async () => {
    await register({}, { ParameterizedJob: { Payload: 'required' } });
    const body = { Payload: 'eA==' };
    const { json } = await api.call('PUT', '/v1/job/nightly/dispatch', { body });
    expect(json).toMatchObject({ EvalID: '', EvalCreateIndex: 0 });
    await api.world.advance(11 * minute);
    expect(launches(json.DispatchedJobID)).toEqual([5, 10]);
    const [child] = await read(`/v1/jobs?prefix=${json.DispatchedJobID}/`);
    expect(await read(`/v1/job/${child.ID}`)).toMatchObject({
      Payload: 'eA==',
      Dispatched: true,
      Periodic: null,
      Status: 'pending',
    });
  });
});

describe('an unfinished launch', () => {
  test('does not prevent the next by default', async () => {
    await register({});
    await api.world.advance(15 * minute);
    expect(launches()).toEqual([5, 10, 15]);
  });

  test('prevents the next with ProhibitOverlap: the slot is skipped, not postponed', async () => {
    await register({ ProhibitOverlap: true });
    await api.world.advance(12 * minute);
    expect(launches()).toEqual([5]);
    await end(5);
    await api.world.advance(minute);
    expect(launches()).toEqual([5]);
    await api.world.advance(2 * minute);
    expect(launches()).toEqual([5, 15]);
  });

  test('prevents the next also if it was forced', async () => {
    await register({ ProhibitOverlap: true });
    await force();
    await api.world.advance(6 * minute);
    expect(launches()).toEqual([0]);
  });

  test('skips the slot for good: a restart does not launch it later', async () => {
    await register({ ProhibitOverlap: true });
    await api.world.advance(11 * minute);
    await end(5);
    api = await restartServer(api);
    await api.world.advance(minute);
    expect(launches()).toEqual([5]);
  });
});

describe('a forced launch', () => {
  test.each(['PUT', 'POST'])('%s launches at once, whatever runs', async (method) => {
    await register({ ProhibitOverlap: true });
    await api.world.advance(6 * minute);
    const { status, headers, json } = await force('nightly', method);
    expect(status).toBe(200);
    expect(json).toEqual({
      EvalID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      EvalCreateIndex: json.Index,
      Index: json.Index,
    });
    expect(Number(headers['x-scheduler-index'])).toBe(json.Index);
    expect(launches()).toEqual([5, 6]);
    expect(await read(`/v1/evaluation/${json.EvalID}`)).toMatchObject({
      JobID: childId(6),
      TriggeredBy: 'periodic-job',
    });
  });

  test('leaves the schedule unchanged', async () => {
    await register({});
    await api.world.advance(4 * minute);
    await force();
    await api.world.advance(2 * minute);
    expect(launches()).toEqual([4, 5]);
  });

  test('in the second of a slot counts as the launch of that slot', async () => {
    await register({});
    await api.world.advance(5 * minute - 1);
    api.world.jumpWallClock(1);
    await force();
    await api.world.advance(20 * second);
    expect(launches()).toEqual([5]);
  });

  test('repeated within a second uses the following seconds, up to a limit', async () => {
    await register({});
    const most = limits.periodic.forcedAheadSecondsMax;
    const all = await Promise.all(Array.from({ length: most + 1 }, () => force()));
    expect(all.map(({ status }) => status)).toEqual([...Array(most).fill(200), 429]);
    expect(all.at(-1)!.json.code).toBe('too-many-launches');
    expect(all.at(-1)!.headers['retry-after']).toBe('1');
    const seconds = launches().map((minutes) => Math.round(minutes * 60));
    expect(seconds).toEqual([...Array(most).keys()]);
  });

  test.each([
    ['that there is not', undefined, 404, 'job-not-found', ''],
    ['that is not periodic', {}, 400, 'launch-refused', 'it is not periodic'],
    [
      'that is switched off',
      { Periodic: { Specs: ['@daily'], Enabled: false } },
      400,
      'launch-refused',
      'its Periodic block is not enabled',
    ],
    [
      'that is stopped',
      { Periodic: { Specs: ['@daily'] } },
      400,
      'launch-refused',
      'it is stopped',
    ],
    [
      'that is parameterized',
      { Periodic: { Specs: ['@daily'] }, ParameterizedJob: {} },
      400,
      'launch-refused',
      'it is parameterized',
    ],
  ])('a job %s is refused', async (title, changes, status, code, reason) => {
    if (changes !== undefined) {
      const body = jobBody({ ID: 'nightly', Type: 'batch', ...changes });
      await api.call('PUT', '/v1/jobs', { body });
    }
    if (title.includes('stopped')) await api.call('DELETE', '/v1/job/nightly');
    const answer = await force();
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(answer.json.detail).toContain(reason);
    expect(launches()).toEqual([]);
  });

  test.each([
    ['dispatch-job', 200],
    ['submit-job', 200],
    ['force-periodic-job', 200],
    ['read-job', 403],
  ])('with %s', async (capability, status) => {
    await register({});
    const Rules = `namespace "default" { capabilities = ["${capability}"] }`;
    await api.call('PUT', '/v1/acl/policy', { body: { Name: 'p', Rules } });
    const made = await api.call('PUT', '/v1/acl/token', { body: { Policies: [{ Name: 'p' }] } });
    const path = '/v1/job/nightly/periodic/force';
    expect((await api.call('PUT', path, { token: made.json.SecretID })).status).toBe(status);
  });
});

describe('the parent', () => {
  test('gets no evaluation when it is registered, changed, stopped or purged', async () => {
    expect(await register({})).toMatchObject({ EvalID: '', EvalCreateIndex: 0 });
    await register({}, { Priority: 60 });
    const stopped = (await api.call('DELETE', '/v1/job/nightly')).json;
    expect(stopped).toMatchObject({ EvalID: '', EvalCreateIndex: stopped.Index });
    expect((await read('/v1/job/nightly')).Status).toBe('dead');
    await api.call('DELETE', '/v1/job/nightly?purge=true');
    expect(await read('/v1/evaluations')).toEqual([]);
  });

  test('launches nothing while it is stopped, and nothing is launched later for that time', async () => {
    await register({});
    await api.world.advance(6 * minute);
    await api.call('DELETE', '/v1/job/nightly');
    await api.world.advance(10 * minute);
    expect(launches()).toEqual([5]);
    expect((await read(`/v1/job/${childId(5)}`)).Stop).toBe(false);
    await register({});
    await api.world.advance(5 * minute);
    expect(launches()).toEqual([5, 20]);
  });

  test('follows a new schedule from the time of its change', async () => {
    await register({ Specs: ['@daily'] });
    await api.world.advance(12 * hour);
    await register({ Specs: ['*/30 * * * *'] });
    await api.world.advance(31 * minute);
    expect(launches()).toEqual([12 * 60 + 30]);
  });

  test('keeps its schedule after another change, which applies to the next launch', async () => {
    await register({});
    await api.world.advance(3 * minute);
    await register({}, { Priority: 80 });
    await api.world.advance(3 * minute);
    expect(launches()).toEqual([5]);
    expect(await read(`/v1/job/${childId(5)}`)).toMatchObject({ Priority: 80, Version: 1 });
  });

  test('starts over after a purge and another registration', async () => {
    await register({});
    await api.world.advance(6 * minute);
    await api.call('DELETE', '/v1/job/nightly?purge=true');
    await api.world.advance(10 * minute);
    await register({});
    await api.world.advance(minute);
    expect(launches()).toEqual([5]);
    await api.world.advance(4 * minute);
    expect(launches()).toEqual([5, 20]);
  });

  test('has children that can be sent back as they were read', async () => {
    await register({});
    await api.world.advance(5 * minute);
    const Job = await read(`/v1/job/${childId(5)}`);
    await api.call('PUT', '/v1/jobs', { body: { Job } });
    expect(await read(`/v1/job/${childId(5)}`)).toMatchObject({ ParentID: 'nightly', Version: 0 });
  });
});

describe('a server that was down', () => {
  test('launches the last missed slot, once', async () => {
    await register({});
    await api.world.advance(6 * minute);
    api = await restartServer(api, async (world) => world.advance(20 * minute));
    await api.world.advance(0);
    expect(launches()).toEqual([5, 25]);
    await api.world.advance(5 * minute);
    expect(launches()).toEqual([5, 25, 30]);
  });

  test('launches nothing if no slot was missed', async () => {
    await register({});
    await api.world.advance(6 * minute);
    api = await restartServer(api, async (world) => world.advance(2 * minute));
    await api.world.advance(minute);
    expect(launches()).toEqual([5]);
  });

  test('never launches a slot twice, however often it restarts', async () => {
    await register({ Specs: ['*/10 * * * * *'] });
    for (let count = 0; count < 20; count++) {
      await api.world.advance(7 * second);
      api = await restartServer(api);
    }
    await api.world.advance(0);
    expect(launches().map((minutes) => Math.round(minutes * 60))).toEqual(
      Array.from({ length: 14 }, (_, count) => (count + 1) * 10),
    );
  });
});

describe('a clock that jumps', () => {
  test('ahead launches the last skipped slot, soon', async () => {
    await register({});
    await api.world.advance(minute);
    api.world.jumpWallClock(17 * minute);
    await api.world.advance(limits.periodic.recheckMs);
    expect(launches()).toEqual([15]);
  });

  test('back launches nothing again and continues after the last launch', async () => {
    await register({});
    await api.world.advance(11 * minute);
    api.world.jumpWallClock(-8 * minute);
    await api.world.advance(11 * minute + 30 * second);
    // The clock of several servers does not go back, but runs at half speed (C2 of `src/state/clock.ts`).
    expect(launches()).toEqual(testsFollower ? [5, 10, 15] : [5, 10]);
    await api.world.advance(minute);
    expect(launches()).toEqual([5, 10, 15]);
  });
});

test('hundreds of launches in the same second are done in parts, completely', async () => {
  const count = 300;
  for (let number = 0; number < count; number++) {
    await register({ Specs: ['0 1 * * *'] }, { ID: `job-${number}` });
  }
  const perIndex = new Map<number, number>();
  api.state.onRan((changes, index) => {
    for (const { table, before, after } of changes) {
      if (table !== jobs.name || before !== undefined || after === undefined) continue;
      perIndex.set(index, (perIndex.get(index) ?? 0) + 1);
    }
  });
  await api.world.advance(hour);
  expect([...perIndex.values()].reduce((sum, one) => sum + one, 0)).toBe(count);
  expect(Math.max(...perIndex.values())).toBe(limits.periodic.launchesPerTransactionMax);
});

test('without periodic jobs no timer is set', async () => {
  const world = new SimulatedWorld(1, startMs);
  const one = await startApi({ world });
  await one.settle();
  const timers = world.pendingTimers;
  await one.call('PUT', '/v1/jobs', { body: jobBody({ Type: 'batch' }) });
  await one.settle();
  await one.world.advance(10 * minute);
  expect(world.pendingTimers).toBe(timers);
});
