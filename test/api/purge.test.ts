/**
 * A purge stops all allocations of its job, whatever is queued for the job and at whatever
 * priority, even if the job is registered again at once.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Evaluation } from '../../src/model/evaluation/evaluation.ts';
import { allocations, evaluations, inNamespace } from '../../src/state/tables.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet } from '../support/fleet.ts';

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
  await fleet.join(2);
});

type Request = readonly [method: string, url: string, body?: unknown];

let edition = 0;
/** A new version each time, whose tasks are replaced. */
const register = (job: object = {}, around: object = {}): Request => [
  'POST',
  '/v1/jobs',
  { ...jobBody(job, { Count: 2 }, { Env: { EDITION: String(++edition) } }), ...around },
];
const times = (count: number, request: () => Request): Request[] =>
  Array.from({ length: count }, request);
const stop = (query: string): Request => ['DELETE', `/v1/job/web?${query}`];
const purge = stop('purge=true');

const send = ([method, url, body]: Request) =>
  api.call(method, url, body === undefined ? {} : { body });

/** Requests on a slow disk, at intervals, without waiting for answers. */
async function sendAll(requests: readonly Request[], gapMs: number): Promise<void> {
  api.disk.faults.appendDelayMs = 20;
  const answers = [];
  for (const request of requests) {
    answers.push(send(request));
    await api.world.advance(gapMs);
  }
  await api.world.advance(1000);
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(requests.map(() => 200));
  api.disk.faults.appendDelayMs = undefined;
}

const live = (): Allocation[] =>
  [...api.state.read().table(allocations).scan()].filter(
    ({ DesiredStatus, ClientStatus }) =>
      DesiredStatus === 'run' && (ClientStatus === 'pending' || ClientStatus === 'running'),
  );
const evaluationsOf = (): Evaluation[] => [...api.state.read().table(evaluations).scan()];

const recipes: readonly (readonly [title: string, requests: () => Request[]])[] = [
  [
    'many updates, one of them with a priority',
    () => [...times(8, register), register({ Priority: 90 }), register()],
  ],
  ['an important stop', () => [register(), stop('eval_priority=90')]],
  ['an important registration', () => [register(), register({}, { EvalPriority: 90 })]],
  [
    'important and unimportant ones',
    () => [register({ Priority: 70 }), register({}, { EvalPriority: 99 }), register(), register()],
  ],
];

describe.each(recipes)('a purge after %s', (_title, requests) => {
  test.each([0, 5, 15, 45])('with requests at intervals of %i ms', async (gapMs) => {
    await send(register());
    await fleet.pass(3000);
    expect(live()).toHaveLength(2);
    await sendAll([...requests(), purge], gapMs);
    await fleet.pass(3000);
    expect(live()).toEqual([]);
    expect((await api.call('GET', '/v1/job/web')).status).toBe(404);
    const purged = evaluationsOf().filter(({ TriggeredBy }) => TriggeredBy === 'job-deregister');
    expect(purged.at(-1)!.Status).toBe('complete');
  });

  test.each([0, 5, 15, 45])(
    'and a new registration, with requests at intervals of %i ms',
    async (gapMs) => {
      await send(register());
      await fleet.pass(3000);
      await sendAll([...requests(), purge, register()], gapMs);
      await fleet.pass(3000);
      const { CreateIndex } = (await api.call('GET', '/v1/job/web')).json;
      expect(live().map(({ JobCreateIndex }) => JobCreateIndex)).toEqual([
        CreateIndex,
        CreateIndex,
      ]);
    },
  );
});

test('a job registered again takes over nothing, not even canaries that await promotion', async () => {
  const Update = { MaxParallel: 1, Canary: 1 };
  const body = (name: string) => jobBody({}, { Count: 2, Update }, { Env: { NAME: name } });
  await send(['POST', '/v1/jobs', body('before')]);
  await fleet.pass(3000);
  const before = live().map(({ ID }) => ID);
  await sendAll([purge, ['POST', '/v1/jobs', body('after')]], 0);
  await fleet.pass(30_000);
  expect(live()).toHaveLength(2);
  expect(live().filter(({ ID }) => before.includes(ID))).toEqual([]);
  expect((await api.call('GET', '/v1/job/web/deployment')).json).toMatchObject({
    Status: 'successful',
    TaskGroups: { web: { DesiredCanaries: 0 } },
  });
});

describe('an allocation without a job', () => {
  /** No evaluation decides about the purge. */
  async function orphans(): Promise<readonly Allocation[]> {
    await send(register());
    await fleet.pass(3000);
    const before = live();
    await api.state.write((transaction) => {
      for (const row of before)
        transaction.table(allocations).delete(...inNamespace('default', row.ID));
    });
    await send(purge);
    await api.settle();
    await api.state.write((transaction) => {
      for (const row of before) transaction.table(allocations).put(row);
    });
    expect(live()).toHaveLength(2);
    return before;
  }

  test('is stopped when another one of its job is stopped', async () => {
    const [one] = await orphans();
    const { status, json } = await api.call('POST', `/v1/allocation/${one!.ID}/stop`);
    expect(status).toBe(200);
    await api.settle();
    expect((await api.call('GET', `/v1/evaluation/${json.EvalID}`)).json).toMatchObject({
      Status: 'complete',
      TriggeredBy: 'alloc-stop',
      JobID: 'web',
    });
    expect(live()).toEqual([]);
  });

  test('is stopped when its node reports it', async () => {
    const [one] = await orphans();
    const Allocations = [{ ID: one!.ID, ClientStatus: 'running', ClientDescription: 'busy' }];
    await api.call('PUT', `/v1/node/${one!.NodeID}/status`, { body: { Allocations } });
    await api.settle();
    expect(live()).toEqual([]);
    expect(
      evaluationsOf().filter(({ Status }) => Status !== 'complete' && Status !== 'canceled'),
    ).toEqual([]);
  });
});
