import { beforeEach, describe, expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import {
  allocations,
  deployments,
  evaluations,
  jobSubmissions,
  jobSummaries,
  jobs,
  jobVersions,
  nodes,
} from '../../src/state/tables.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { type Fate, Fleet } from '../support/fleet.ts';

const minute = 60_000;
const hour = 60 * minute;

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
  await fleet.join(1);
});

const read = async (path: string) => (await api.call('GET', path)).json;
const register = async (changes: object = {}, group: object = {}, task: object = {}) => {
  const body = { ...jobBody(changes, group, task), Submission: { Source: 'x' } };
  const { status, json, text } = await api.call('POST', '/v1/jobs', { body });
  if (status !== 200) throw new Error(text);
  await api.settle();
  return json;
};
const collect = async () => {
  const answer = api.call('PUT', '/v1/system/gc');
  await api.settle();
  return (await answer).json;
};
const count = () => {
  const view = api.state.read();
  const tables = { jobs, jobVersions, jobSummaries, jobSubmissions, evaluations, allocations };
  const sizes = Object.entries({ ...tables, deployments, nodes }).map(([name, table]) => [
    name,
    view.table(table as typeof jobs).size,
  ]);
  return Object.fromEntries(sizes) as Record<string, number>;
};
const obey = async (fate?: Fate) => {
  await fleet.obey(fate);
  await api.settle();
  await fleet.obey(fate);
};
/** Regular heartbeats keep the nodes alive while time passes. */
const pass = (durationMs: number, fate?: Fate) => fleet.pass(durationMs, fate);
const ended = () => 'complete' as const;
const failed = () => 'failed' as const;

test('gc deletes a stopped job with all its records and counts them', async () => {
  await register({}, { Count: 3 });
  await obey();
  await pass(15_000);
  await api.call('DELETE', '/v1/job/web');
  await api.settle();
  await obey();
  expect((await read('/v1/job/web')).Status).toBe('dead');
  const before = count();
  const collected = await collect();
  expect(collected).toEqual({
    Jobs: 1,
    Allocations: 3,
    Nodes: 0,
    Deployments: before.deployments,
    Evaluations: before.evaluations,
  });
  expect(count()).toEqual({
    jobs: 0,
    jobVersions: 0,
    jobSummaries: 0,
    jobSubmissions: 0,
    evaluations: 0,
    allocations: 0,
    deployments: 0,
    nodes: 1,
  });
  expect((await api.call('GET', '/v1/job/web')).status).toBe(404);
  expect(await collect()).toEqual({
    Jobs: 0,
    Allocations: 0,
    Nodes: 0,
    Deployments: 0,
    Evaluations: 0,
  });
});

test('a running allocation keeps its job, its evaluation and its deployment', async () => {
  await register({}, { Count: 2 });
  await obey();
  await pass(15_000);
  const before = count();
  expect(await collect()).toMatchObject({ Jobs: 0, Allocations: 0, Deployments: 0 });
  expect(count()).toMatchObject({ allocations: before.allocations, jobs: 1 });
  expect((await read('/v1/job/web/deployment')).Status).toBe('successful');
});

test('a failed deployment is kept while it holds back its version', async () => {
  const group = { Count: 2, Constraints: [{ Operand: 'distinct_hosts' }] };
  await register({}, group);
  await obey();
  const { ID } = await read('/v1/job/web/deployment');
  await api.call('PUT', `/v1/deployment/fail/${ID}`);
  const [only] = (await read('/v1/job/web/allocations')) as Allocation[];
  await api.call('PUT', `/v1/allocation/${only!.ID}/stop`);
  await api.settle();
  await obey();
  await pass(3 * hour);
  await collect();
  expect((await read('/v1/job/web/allocations'))[0].ID).not.toBe(only!.ID);
  expect(await read('/v1/job/web/deployment')).toMatchObject({ ID, Status: 'failed' });
  // There is room for the second allocation, which would now be placed.
  await fleet.join(2);
  await api.settle();
  expect(await read('/v1/job/web/allocations')).toHaveLength(1);
});

test('an allocation that is being stopped is kept until its node reports the end', async () => {
  await register();
  await obey();
  await api.call('DELETE', '/v1/job/web?purge=true');
  await api.settle();
  expect(await collect()).toMatchObject({ Allocations: 0 });
  await obey();
  expect(await collect()).toMatchObject({ Allocations: 1, Jobs: 0 });
  expect(count()).toMatchObject({ allocations: 0, evaluations: 0 });
});

test('a tag keeps a dead job with its versions', async () => {
  await register();
  await api.call('PUT', '/v1/job/web/tag/golden');
  await api.call('DELETE', '/v1/job/web');
  await api.settle();
  await obey();
  expect(await collect()).toMatchObject({ Jobs: 0 });
  await api.call('DELETE', '/v1/job/web/tag/golden');
  expect(await collect()).toMatchObject({ Jobs: 1 });
});

test('periodic and parameterized jobs are deleted only when they are stopped', async () => {
  await register({ ID: 'nightly', Type: 'batch', Periodic: { Specs: ['@daily'] } });
  await register({ ID: 'pattern', Type: 'batch', ParameterizedJob: {} });
  expect(await collect()).toMatchObject({ Jobs: 0 });
  await api.call('DELETE', '/v1/job/nightly');
  await api.call('DELETE', '/v1/job/pattern');
  expect(await collect()).toMatchObject({ Jobs: 2 });
});

test('a terminal batch job is deleted with its allocations, which nothing else deletes', async () => {
  await register({ Type: 'batch' });
  await obey(ended);
  expect((await read('/v1/job/web')).Status).toBe('dead');
  expect(await collect()).toMatchObject({ Jobs: 1, Allocations: 1 });
});

test('a running batch job loses only the allocations of earlier versions', async () => {
  await register({ Type: 'batch' });
  await obey(ended);
  const fate: Fate = ({ JobVersion, Name }: Allocation) =>
    JobVersion === 1 && Name.endsWith('[0]') ? 'complete' : 'running';
  await register({ Type: 'batch' }, { Count: 2 }, { Env: { v: '1' } });
  await obey(fate);
  const before = await read('/v1/job/web/allocations');
  const of = (version: number) =>
    before.filter((one: Allocation) => one.JobVersion === version).length;
  expect([of(0), of(1)]).toEqual([1, 2]);
  expect(await collect()).toMatchObject({ Jobs: 0, Allocations: 1, Evaluations: 0 });
  const left = await read('/v1/job/web/allocations');
  expect(left.map(({ ClientStatus }: Allocation) => ClientStatus).sort()).toEqual([
    'complete',
    'running',
  ]);
  // The completed allocation is still stored, so it is not repeated.
  await api.call('POST', '/v1/job/web/evaluate');
  await api.settle();
  expect(await read('/v1/job/web/allocations')).toHaveLength(2);
});

test.each([
  ['an unlimited policy', { Unlimited: true, Delay: 3600e9 }, 0],
  ['attempts left', { Attempts: 2, Interval: 86_400e9, Delay: 3600e9, Unlimited: false }, 0],
  ['no attempts', { Attempts: 0, Unlimited: false }, 1],
])('a failure with %s', async (_title, ReschedulePolicy, expected) => {
  await register({}, { Count: 2, ReschedulePolicy, Update: { MaxParallel: 0 } });
  await obey(({ Name }) => (Name.endsWith('[0]') ? 'failed' : 'running'));
  expect(await collect()).toMatchObject({ Allocations: expected, Jobs: 0 });
});

test('a failed allocation with a running replacement is deleted, unless it still counts', async () => {
  const policy = { Unlimited: true, Delay: 5e9, DelayFunction: 'constant' };
  await register({}, { ReschedulePolicy: policy, Update: { MaxParallel: 0 } });
  await obey(failed);
  await pass(20_000);
  const all: Allocation[] = await read('/v1/job/web/allocations');
  expect(all.map(({ ClientStatus }) => ClientStatus).sort()).toEqual(['failed', 'running']);
  expect(await collect()).toMatchObject({ Allocations: 1 });
  const limited = { Attempts: 3, Interval: 3600e9, Delay: 5e9, Unlimited: false };
  const group = { ReschedulePolicy: limited, Update: { MaxParallel: 0 } };
  await register({ ID: 'limited' }, group);
  await obey((one) => (one.JobID === 'limited' ? 'failed' : 'running'));
  await pass(20_000);
  expect(await read('/v1/job/limited/allocations')).toHaveLength(2);
  // The failed attempt stays in the tracker of its replacement.
  expect(await collect()).toMatchObject({ Allocations: 1 });
  const [left] = await read('/v1/job/limited/allocations');
  expect(left.RescheduleTracker.Events).toHaveLength(1);
});

test('a down node is deleted when no allocation is wanted on it', async () => {
  await fleet.join(1);
  await register({}, { Count: 1 });
  await obey();
  const [{ NodeID }]: [Allocation] = await read('/v1/job/web/allocations');
  const n = NodeID.startsWith('00000001') ? 1 : 2;
  fleet.cut(n);
  await pass(40_000);
  expect((await read(`/v1/node/${NodeID}`)).Status).toBe('down');
  expect(await collect()).toMatchObject({ Nodes: 1, Allocations: 1 });
  expect((await api.call('GET', `/v1/node/${NodeID}`)).status).toBe(404);
  const [moved] = await read('/v1/job/web/allocations');
  expect(moved).toMatchObject({ DesiredStatus: 'run', ClientStatus: 'running' });
  // When it comes back, it counts as a new node.
  await fleet.restore(n);
  expect((await read(`/v1/node/${NodeID}`)).Status).not.toBe('down');
});

describe('a lost allocation that its node may still run', () => {
  const all = (): Promise<Allocation[]> => read('/v1/job/web/allocations');
  /** Two allocations on two nodes. One node falls silent and is declared lost. */
  const lose = async (): Promise<Allocation> => {
    await fleet.join(1);
    await register(
      { Constraints: [{ Operand: 'distinct_hosts' }] },
      { Count: 2, Disconnect: { StopOnClientAfter: 600e9 }, Update: { MaxParallel: 0 } },
    );
    await obey();
    fleet.cut(2);
    await pass(40_000);
    const lost = (await all()).find(({ ClientStatus }) => ClientStatus === 'lost')!;
    expect(lost).toMatchObject({ FollowupEvalID: expect.stringMatching(/./), NextAllocation: '' });
    return lost;
  };

  test('is kept until it has ended and has been replaced', async () => {
    const lost = await lose();
    expect(await collect()).toMatchObject({ Allocations: 0 });
    await pass(660_000);
    expect(await all()).toHaveLength(2);
    expect(await collect()).toMatchObject({ Allocations: 0 });
    await fleet.join(1);
    await obey();
    const next = (await all()).find(({ PreviousAllocation }) => PreviousAllocation === lost.ID);
    expect(next).toMatchObject({ ClientStatus: 'running', Name: lost.Name });
    expect(await collect()).toMatchObject({ Allocations: 1 });
  });

  test('is deleted when its group needs no more allocations', async () => {
    await lose();
    const body = { Target: { Group: 'web' }, Count: 1, Message: 'one is enough' };
    expect((await api.call('POST', '/v1/job/web/scale', { body })).status).toBe(200);
    await pass(3000);
    expect(await collect()).toMatchObject({ Allocations: 0 });
    await pass(660_000);
    expect(await collect()).toMatchObject({ Allocations: 1 });
    expect((await all()).map(({ ClientStatus }) => ClientStatus)).toEqual(['running']);
  });
});

test('an allocation is not kept forever by an evaluation deleted by hand', async () => {
  await register({}, { Update: { MaxParallel: 0 } });
  await obey();
  const ids = (await read('/v1/job/web/evaluations')).map(({ ID }: { ID: string }) => ID);
  await api.call('DELETE', '/v1/job/web');
  await api.settle();
  await obey();
  await api.call('DELETE', '/v1/evaluations', { body: { EvalIDs: ids } });
  expect(await collect()).toMatchObject({ Allocations: 1, Jobs: 1 });
});

test('gc needs a management token', async () => {
  expect((await api.call('PUT', '/v1/system/gc', { token: null })).status).toBe(403);
  expect((await api.call('POST', '/v1/system/gc')).status).toBe(405);
});

test('old records are deleted automatically, and no younger ones', async () => {
  const lonely = await startApi();
  const call = (method: string, path: string, body?: object) =>
    lonely.call(method, path, body === undefined ? {} : { body });
  await call('POST', '/v1/jobs', jobBody());
  await lonely.settle();
  await call('DELETE', '/v1/job/web');
  await lonely.settle();
  const statusOf = async () => (await call('GET', '/v1/job/web')).status;
  const left = () => lonely.state.read().table(evaluations).size;
  await lonely.world.advance(59 * minute);
  expect(left()).toBeGreaterThan(0);
  await lonely.world.advance(7 * minute);
  expect([left(), await statusOf()]).toEqual([0, 200]);
  await lonely.world.advance(4 * hour - 70 * minute);
  expect(await statusOf()).toBe(200);
  await lonely.world.advance(10 * minute);
  expect(await statusOf()).toBe(404);
});

test('a large job is deleted in parts, and requests meanwhile share the next run', async () => {
  await register({ Type: 'batch' }, { Count: 300 }, { Resources: { CPU: 1, MemoryMB: 10 } });
  await api.settle();
  await obey(ended);
  const before = api.state.read().index;
  const answers = [1, 2, 3].map(() => api.call('PUT', '/v1/system/gc'));
  await api.settle();
  const collected = (await Promise.all(answers)).map(({ json }) => json.Allocations);
  expect(collected[0]).toBe(300);
  expect(collected[1]).toBe(collected[2]);
  expect(api.state.read().index - before).toBeGreaterThanOrEqual(300 / 64);
  expect(count()).toMatchObject({ jobs: 0, allocations: 0, evaluations: 0 });
});

test('records that change meanwhile are checked again', async () => {
  await register({}, { Update: { MaxParallel: 0 } });
  await obey();
  await api.call('DELETE', '/v1/job/web');
  await api.settle();
  await obey();
  const answer = api.call('PUT', '/v1/system/gc');
  const again = api.call('POST', '/v1/job/web/revert', { body: { JobID: 'web' } });
  await api.settle();
  const [{ json }, { status }] = await Promise.all([answer, again]);
  // Either the job existed and was reverted, and stays; or it was gone.
  expect([json.Jobs, status]).toEqual(status === 200 ? [0, 200] : [1, 404]);
  expect(count().jobs).toBe(status === 200 ? 1 : 0);
});

test('summaries are counted again', async () => {
  await register({}, { Count: 2 });
  await obey();
  const right = await read('/v1/job/web/summary');
  await api.state.write((transaction) => {
    const table = transaction.table(jobSummaries);
    const [row] = [...table.scan()];
    const web = { ...row!.Summary.web!, Running: 9, Starting: 4 };
    table.put({ ...row!, Summary: { web } });
  });
  const answer = await api.call('PUT', '/v1/system/reconcile/summaries');
  expect(answer.json).toEqual({ Changed: 1 });
  const { ModifyIndex, ...counted } = await read('/v1/job/web/summary');
  expect({ ...counted, ModifyIndex: right.ModifyIndex }).toEqual(right);
  expect(ModifyIndex).toBeGreaterThan(right.ModifyIndex);
  expect((await api.call('PUT', '/v1/system/reconcile/summaries')).json).toEqual({ Changed: 0 });
});
