import { beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import type { TaskState } from '../../model/allocation/task-state.ts';
import { complete } from '../../model/complete.ts';
import { type Job, type JobInput, JobSchema } from '../../model/job/job.ts';
import type { Input } from '../../model/schema.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { HealthTracker, healthRules, type SavedHealth, standingOf } from './health.ts';
import type { TaskSketch } from './stages.ts';

const deploymentId = 'd1';
const member = { DeploymentID: deploymentId, TaskGroup: 'web' };
const outside = { ...member, DeploymentID: '' };

const strategy = {
  MaxParallel: 1,
  HealthCheck: 'checks',
  MinHealthyTime: 10e9,
  HealthyDeadline: 60e9,
};

const jobWith = (group: Input<TaskGroup>, fields: JobInput = {}): Job =>
  complete(JobSchema, {
    ...fields,
    TaskGroups: [{ Name: 'web', Tasks: [{ Name: 'app' }], ...group }],
  } as JobInput);

const rules = { minHealthyTime: 10e9, healthyDeadline: 60e9, waitsForChecks: true };
test.each<[string, typeof member, Job, object | undefined]>([
  ['a deployment', member, jobWith({ Update: strategy }), rules],
  [
    'a deployment of a system job',
    member,
    jobWith({ Update: strategy }, { Type: 'system' }),
    rules,
  ],
  [
    'a deployment judged by task states alone',
    member,
    jobWith({ Update: { ...strategy, HealthCheck: 'task_states' } }),
    { ...rules, waitsForChecks: false },
  ],
  [
    'a deployment judged by hand',
    member,
    jobWith({ Update: { ...strategy, HealthCheck: 'manual' } }),
    undefined,
  ],
  ['a group that does not roll', member, jobWith({ Update: null }), undefined],
  ['a drain', outside, jobWith({ Update: null, Migrate: strategy }), rules],
  [
    'a group that does not migrate',
    outside,
    jobWith({ Update: strategy, Migrate: { ...strategy, MaxParallel: 0, HealthCheck: '' } }),
    undefined,
  ],
  [
    'batch work',
    outside,
    jobWith({ Update: strategy, Migrate: strategy }, { Type: 'batch' }),
    undefined,
  ],
  ['a group that is no more', { ...member, TaskGroup: 'gone' }, jobWith({}), undefined],
])('how it is judged in %s', (_name, allocation, job, expected) => {
  expect(healthRules(allocation, job)).toEqual(expected);
});

const task = (Name: string, Hook = '', Sidecar = false): TaskSketch =>
  ({ Name, Leader: false, Lifecycle: Hook === '' ? null : { Hook, Sidecar } }) as TaskSketch;
const state = (State: TaskState['State'], Failed = false, Restarts = 0) => ({
  State,
  Failed,
  Restarts,
});
const pending = state('pending');
const running = state('running');
const ended = state('dead');
const failed = state('dead', true);

const tasks = [
  task('init', 'prestart'),
  task('proxy', 'prestart', true),
  task('app'),
  task('warm', 'poststart'),
  task('clean', 'poststop'),
];
const good = { init: ended, proxy: running, app: running, warm: running, clean: pending };

test.each<[string, Parameters<typeof standingOf>[1], object]>([
  ['all as they should be', good, { kind: 'steady', run: 'proxy:0,app:0' }],
  [
    'another run of a task',
    { ...good, app: state('running', false, 2) },
    { kind: 'steady', run: 'proxy:0,app:2' },
  ],
  ['later tasks are done', { ...good, warm: ended }, { kind: 'steady', run: 'proxy:0,app:0' }],
  ['what prepares is at it', { ...good, init: running }, { kind: 'not-yet', waiting: ['init'] }],
  ['a main task restarts', { ...good, app: pending }, { kind: 'not-yet', waiting: ['app'] }],
  ['later tasks wait', { ...good, warm: pending }, { kind: 'not-yet', waiting: ['warm'] }],
  ['nothing has begun', {}, { kind: 'not-yet', waiting: ['init', 'proxy', 'app', 'warm'] }],
  ['a main task failed', { ...good, app: failed }, { kind: 'broken', task: 'app', failed: true }],
  ['a main task ended', { ...good, app: ended }, { kind: 'broken', task: 'app', failed: false }],
  ['a sidecar ended', { ...good, proxy: ended }, { kind: 'broken', task: 'proxy', failed: false }],
  [
    'what prepares failed',
    { ...good, init: failed },
    { kind: 'broken', task: 'init', failed: true },
  ],
  [
    'a later task failed',
    { ...good, warm: failed },
    { kind: 'broken', task: 'warm', failed: true },
  ],
  ['what cleans up failed', { ...good, clean: failed }, { kind: 'steady', run: 'proxy:0,app:0' }],
])('tasks stand together: %s', (_name, states, standing) => {
  expect(standingOf(tasks, states)).toEqual(standing);
});

describe('an allocation', () => {
  let world: SimulatedWorld;
  let judgements: (readonly [elapsedMs: number, reasons: object | undefined])[];
  let job: Job;
  beforeEach(() => {
    world = new SimulatedWorld(1);
    judgements = [];
    job = jobWith({ Update: strategy, Migrate: strategy });
  });

  const track = (saved?: SavedHealth, id = deploymentId) => {
    const judged = (reasons: ReadonlyMap<string, string> | undefined) =>
      judgements.push([
        world.clock.monotonicMs(),
        reasons === undefined ? undefined : Object.fromEntries(reasons),
      ]);
    return new HealthTracker({ ...world, judged }, id, saved);
  };
  const look = (tracker: HealthTracker, app: object, allocation = member) =>
    tracker.look(allocation, job, { app } as never);

  test('is healthy when its tasks ran for the minimum time without a break', async () => {
    const tracker = track();
    look(tracker, pending);
    await world.advance(5_000);
    look(tracker, running);
    await world.advance(7_000);
    look(tracker, pending);
    await world.advance(1_000);
    look(tracker, state('running', false, 1));
    await world.advance(9_999);
    expect(tracker.told.DeploymentStatus).toBeNull();
    await world.advance(1);
    expect(judgements).toEqual([[23_000, undefined]]);
    expect(tracker.told).toEqual({
      DeploymentStatus: {
        Healthy: true,
        Canary: false,
        ModifyIndex: 0,
        Timestamp: '2026-01-01T00:00:23Z',
      },
      DeploymentID: deploymentId,
    });
    expect(world.pendingTimers).toBe(0);
  });

  test('is healthy at once without a minimum time', () => {
    job = jobWith({ Update: { ...strategy, MinHealthyTime: 0 } });
    look(track(), running);
    expect(judgements).toEqual([[0, undefined]]);
  });

  test('is healthy if the minimum time and the deadline pass together', async () => {
    const tracker = track();
    look(tracker, pending);
    await world.advance(50_000);
    look(tracker, running);
    await world.advance(10_000);
    expect(judgements).toEqual([[60_000, undefined]]);
  });

  test.each([
    ['does not run', pending, 'Task not running by the healthy_deadline of 1m0s'],
    [
      'does not run for long enough',
      running,
      'Task not running for the min_healthy_time of 10s by the healthy_deadline of 1m0s',
    ],
  ])('that %s is unhealthy at the deadline', async (_name, last, reason) => {
    const tracker = track();
    look(tracker, pending);
    await world.advance(55_000);
    look(tracker, last);
    await world.advance(600_000);
    expect(judgements).toEqual([[60_000, { app: reason }]]);
    expect(tracker.told.DeploymentStatus).toMatchObject({ Healthy: false });
  });

  test.each([
    ['fails', failed, 'Unhealthy because the task failed'],
    ['ends', ended, 'Unhealthy because the task ended'],
  ])('that %s is unhealthy at once, and stays so', async (_name, last, reason) => {
    const tracker = track();
    look(tracker, running);
    await world.advance(1_000);
    look(tracker, last);
    look(tracker, running);
    await world.advance(60_000);
    expect(judgements).toEqual([[1_000, { app: reason }]]);
  });

  test('that was healthy and fails is unhealthy; a restart is no failure', async () => {
    const tracker = track();
    look(tracker, running);
    await world.advance(10_000);
    look(tracker, pending);
    await world.advance(600_000);
    expect(tracker.told.DeploymentStatus).toMatchObject({ Healthy: true });
    look(tracker, failed);
    expect(tracker.told.DeploymentStatus).toMatchObject({ Healthy: false });
    expect(judgements).toHaveLength(2);
  });

  test('is judged anew in another deployment', async () => {
    const tracker = track();
    look(tracker, running);
    await world.advance(10_000);
    const next = { ...member, DeploymentID: 'd2' };
    look(tracker, running, next);
    expect(tracker.told).toEqual({ DeploymentStatus: null, DeploymentID: 'd2' });
    await world.advance(10_000);
    expect(tracker.told.DeploymentStatus).toMatchObject({ Healthy: true });
    expect(judgements.map(([elapsedMs]) => elapsedMs)).toEqual([10_000, 20_000]);
  });

  test('is not judged once it is to stop', async () => {
    const tracker = track();
    look(tracker, running);
    tracker.stop();
    look(tracker, failed);
    await world.advance(600_000);
    expect(judgements).toEqual([]);
  });

  test('counts the time without an agent', async () => {
    const first = track();
    look(first, running);
    await world.advance(4_000);
    first.stop();
    const { saved } = first;
    await world.advance(3_000);
    look(track(JSON.parse(JSON.stringify(saved))), running);
    await world.advance(2_999);
    expect(judgements).toEqual([]);
    await world.advance(1);
    expect(judgements).toEqual([[10_000, undefined]]);
  });

  test('keeps its judgement through a restart of the agent', async () => {
    const first = track();
    look(first, running);
    await world.advance(10_000);
    const second = track(first.saved);
    look(second, running);
    expect(second.told).toEqual(first.told);
    expect(judgements).toHaveLength(1);
  });

  test('whose task restarted without an agent begins its time anew', async () => {
    const first = track();
    look(first, running);
    await world.advance(9_000);
    look(track(first.saved), state('running', false, 1));
    first.stop();
    await world.advance(9_999);
    expect(judgements).toEqual([]);
    await world.advance(1);
    expect(judgements).toEqual([[19_000, undefined]]);
  });

  test.each([3_600_000, -3_600_000])(
    'is judged correctly when the clock jumps by %i ms',
    async (jump) => {
      look(track(), running);
      await world.advance(5_000);
      world.jumpWallClock(jump);
      await world.advance(5_000);
      expect(judgements).toEqual([[10_000, undefined]]);
    },
  );
});
