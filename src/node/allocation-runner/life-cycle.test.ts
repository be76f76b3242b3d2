/** How allocations end, in the order of docs/behaviour/client.md#the-end-of-an-allocation. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { noTransition } from '../../model/allocation/allocation.ts';
import { complete } from '../../model/complete.ts';
import { NodeRegistrationSchema } from '../../model/node/node.ts';
import type { Input } from '../../model/schema.ts';
import type { Task } from '../../model/task/task.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { DriverFailure } from '../drivers/driver.ts';
import { MockDriver } from '../drivers/mock.ts';
import { eventually } from '../eventually.test-helper.ts';
import { testAllocation, testJob } from '../records.test-helper.ts';
import { AllocationRunner } from './allocation-runner.ts';
import { readSavedAllocations } from './saved-allocation.ts';

const startMs = Date.UTC(2026, 0, 1);
let dataDirectory: string;
let world: SimulatedWorld;
let driver: MockDriver;
let runner: AllocationRunner;

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'roster-life-'));
  world = new SimulatedWorld(7, startMs);
  driver = new MockDriver(world);
  await readSavedAllocations(dataDirectory);
});

afterEach(async () => {
  await runner.leave();
  await rm(dataDirectory, { recursive: true });
});

const surroundings = () => ({
  world,
  dataDirectory,
  region: 'global',
  hostEnvironment: {},
  taskHooks: [],
  allocationHooks: [],
  drivers: new Map([['mock', driver]]),
  node: () => complete(NodeRegistrationSchema, { ID: 'n1' }),
  changed: () => {},
  onNotice: (sentence: string) => expect.fail(sentence),
});

async function run(tasks: readonly Input<Task>[], group: Partial<TaskGroup> = {}) {
  const job = testJob(tasks, { Type: 'batch' });
  const TaskGroups = job.TaskGroups.map((one) => ({ ...one, ...group }));
  const allocation = testAllocation({ CreateTime: startMs * 1e6 });
  runner = new AllocationRunner(surroundings(), allocation, { ...job, TaskGroups });
  await runner.start();
}

/** The next agent on the same machine. */
async function restart(): Promise<void> {
  await runner.leave();
  const [saved] = (await readSavedAllocations(dataDirectory)).saved;
  runner = new AllocationRunner(surroundings(), saved!.allocation, saved!.job, saved);
  await runner.restore();
}

const until = (check: () => void, stepMs = 0) =>
  eventually(async () => {
    await world.advance(stepMs);
    check();
  });

const elapsedMs = () => world.clock.nowMs() - startMs;
const state = (task = 'app') => runner.report.TaskStates[task]!;
const types = (task = 'app') => state(task).Events!.map(({ Type }) => Type);
const isRunning = (task = 'app') => until(() => expect(state(task).State).toBe('running'));
const stop = (NoShutdownDelay: boolean | null = null) => {
  const { allocation } = runner;
  const DesiredTransition = { ...noTransition, NoShutdownDelay };
  runner.update({ ...allocation, DesiredStatus: 'stop', DesiredTransition });
};

describe('the greatest time to run', () => {
  const cleaner = { Name: 'clean', Lifecycle: { Hook: 'poststop' as const } };
  const ended = {
    ClientStatus: 'complete',
    ClientDescription: 'Reached its maximum run duration',
  };

  test('counts from the creation; after it the allocation is complete, without poststop tasks', async () => {
    await run([{ Name: 'app' }, cleaner], { MaxRunDuration: 60e9 });
    await isRunning();
    await world.advance(59_000);
    expect(runner.report.ClientStatus).toBe('running');
    await until(() => expect(runner.report).toMatchObject(ended), 500);
    expect(elapsedMs()).toBeLessThan(70_000);
    expect(types().slice(-4)).toEqual(['Task hook message', 'Killing', 'Terminated', 'Killed']);
    expect(state().Events!.at(-4)!.DisplayMessage).toBe(
      'The allocation has run for its max_run_duration of 1m0s',
    );
    expect(state().Failed).toBe(false);
    expect(driver.started.map(({ taskName }) => taskName)).toEqual(['app']);
  });

  test('goes on while the agent is away', async () => {
    await run([{ Name: 'app' }], { MaxRunDuration: 60e9 });
    await isRunning();
    await world.advance(30_000);
    await restart();
    await world.advance(29_000);
    expect(runner.report.ClientStatus).toBe('running');
    await until(() => expect(runner.report).toMatchObject(ended), 500);
  });

  test('that passed without an agent ends the allocation when the next agent takes it up', async () => {
    await run([{ Name: 'app' }, cleaner], { MaxRunDuration: 60e9 });
    await isRunning();
    await runner.leave();
    await world.advance(120_000);
    await restart();
    await until(() => expect(runner.report).toMatchObject(ended), 100);
    expect(driver.started).toHaveLength(1);
  });

  test('ends poststop tasks too, even if only they are left', async () => {
    await run([{ Name: 'app', Config: { run_for: '1s' } }, cleaner], { MaxRunDuration: 60e9 });
    await until(() => expect(state('clean').State).toBe('running'), 100);
    await until(() => expect(runner.report).toMatchObject(ended), 500);
  });

  test('does not matter to an allocation that ends earlier, and is not mentioned by one that failed', async () => {
    const RestartPolicy = { Attempts: 0, Interval: 60e9, Delay: 0, Mode: 'fail' };
    await run([{ Name: 'app', RestartPolicy, Config: { run_for: '1s', exit_code: 1 } }], {
      MaxRunDuration: 60e9,
    });
    await until(() => expect(runner.report.ClientStatus).toBe('failed'), 100);
    await world.advance(120_000);
    expect(runner.report).toMatchObject({
      ClientStatus: 'failed',
      ClientDescription: 'Failed tasks',
    });
  });

  test('may be changed while it runs', async () => {
    await run([{ Name: 'app' }], { MaxRunDuration: 60e9 });
    await isRunning();
    const { allocation } = runner;
    const job = testJob([{ Name: 'app' }], { Type: 'batch' });
    const TaskGroups = job.TaskGroups.map((one) => ({ ...one, MaxRunDuration: 600e9 }));
    runner.update(allocation, { ...job, TaskGroups });
    await world.advance(300_000);
    expect(runner.report.ClientStatus).toBe('running');
    await until(() => expect(runner.report).toMatchObject(ended), 10_000);
  });
});

describe('the shutdown delay', () => {
  const tasks = [
    { Name: 'lead', Leader: true, ShutdownDelay: 5e9 },
    { Name: 'app' },
    { Name: 'side', Lifecycle: { Hook: 'prestart' as const, Sidecar: true } },
  ];
  const signalled = () => driver.signals.map((line) => line.split(' ')[0]);

  test('of the group comes once before all ends, and that of a task before its own', async () => {
    await run(tasks, { ShutdownDelay: 10e9 });
    await isRunning('lead');
    stop();
    await world.advance(9_900);
    expect(signalled()).toEqual([]);
    expect(state('lead').State).toBe('running');
    await world.advance(200);
    await until(() => expect(state('lead').State).toBe('pending'));
    expect(types('lead').slice(-2)).toEqual([
      'Waiting for shutdown delay',
      'Waiting for shutdown delay',
    ]);
    await world.advance(4_000);
    expect(signalled()).toEqual([]);
    await until(() => expect(runner.isDone).toBe(true), 100);
    expect(signalled()).toEqual(['lead', 'app', 'side']);
    expect(elapsedMs()).toBeLessThan(20_000);
  });

  test.each([
    ['of the group', { ShutdownDelay: 3600e9 }, tasks.slice(1)],
    ['of a task', {}, [{ Name: 'app', ShutdownDelay: 3600e9 }]],
  ])('%s is not waited for when somebody asks, before it or during it', async (_n, group, of) => {
    for (const asksLater of [false, true]) {
      await run(of, group);
      await isRunning();
      stop(asksLater ? null : true);
      await world.advance(1000);
      if (asksLater) {
        await until(() => expect(types()).toContain('Waiting for shutdown delay'));
        stop(true);
      } else await until(() => expect(types()).toContain('Skipping shutdown delay'));
      await until(() => expect(runner.isDone).toBe(true), 10);
      expect(elapsedMs()).toBeLessThan(60_000);
      await runner.leave();
      await rm(dataDirectory, { recursive: true });
      await readSavedAllocations(dataDirectory);
    }
  });

  test('begins anew with the next agent, for which the task runs until then', async () => {
    await run([{ Name: 'app', ShutdownDelay: 60e9 }]);
    await isRunning();
    stop();
    await until(() => expect(state().State).toBe('pending'));
    await restart();
    await until(() => expect(runner.isDone).toBe(true), 1000);
    expect(driver.signals).toEqual(['app SIGINT']);
  });
});

test.each([
  ['the time that it asks for', 2e9, { run: 2000 }],
  ['at most 30 s', 3600e9, { run: 30_000 }],
  ['nothing when it asks for none', 0, { run: 0 }],
])('a task has %s to end', async (_name, KillTimeout, { run: expectedMs }) => {
  await run([{ Name: 'app', KillTimeout, KillSignal: 'SIGHUP', Config: { kill_after: '2h' } }]);
  await isRunning();
  const before = elapsedMs();
  stop();
  await until(() => expect(driver.signals).toEqual(['app SIGHUP']));
  await until(() => expect(runner.isDone).toBe(true), 100);
  expect(Math.abs(elapsedMs() - before - expectedMs)).toBeLessThanOrEqual(1000);
  expect(state().Events!.find(({ Type }) => Type === 'Terminated')!.Signal).toBe(9);
});

describe('a task that cannot be killed', () => {
  const refused = () => types().filter((type) => type === 'Killed').length;

  async function kill(config: object): Promise<{ readonly tries: () => number }> {
    await run([{ Name: 'app', Config: config }]);
    await isRunning();
    const handle = (await driver.recover(`${runner.id}/app#1`))!;
    let tries = 0;
    handle.stop = async () => {
      tries++;
      throw new DriverFailure('not now', false);
    };
    stop();
    await until(() => expect(refused()).toBe(1));
    return { tries: () => tries };
  }

  test('is killed again from time to time', async () => {
    const { tries } = await kill({});
    await until(() => expect(tries()).toBe(5), 5_000);
    expect(refused()).toBe(5);
  });

  test('is left alone once it has ended by itself', async () => {
    const { tries } = await kill({ run_for: '3s' });
    await until(() => expect(runner.isDone).toBe(true), 500);
    const { length } = types();
    await world.advance(600_000);
    expect([tries(), types().length]).toEqual([1, length]);
  });

  test('is left alone by an agent that has ended', async () => {
    const { tries } = await kill({});
    await runner.leave();
    await world.advance(600_000);
    expect([tries(), refused()]).toEqual([1, 1]);
  });
});

test('a task that is being taken up is not dead before its process is', async () => {
  const Config = { kill_after: '3s' };
  await run([
    { Name: 'app', Config },
    { Name: 'slow', Config },
  ]);
  await isRunning();
  await isRunning('slow');
  stop();
  await until(() => expect(types()).toContain('Killing'));
  const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const recover = driver.recover.bind(driver);
  driver.recover = async (runId) => {
    asked.resolve();
    if (runId.includes('/slow#')) await gate.promise;
    return recover(runId);
  };
  const restarted = restart();
  await asked.promise;
  await world.advance(1000);
  expect(state('slow').State).toBe('running');
  gate.resolve();
  await restarted;
  await until(() => expect(runner.isDone).toBe(true), 1000);
  expect(driver.running).toEqual([]);
  expect(types('slow').slice(-2)).toEqual(['Terminated', 'Killed']);
});

test.each([
  ['waits for its next run', { run_for: '1s', exit_code: 1 }],
  ['ends by itself meanwhile', { run_for: '4s', exit_code: 1 }],
])('a task that %s does not start again while its allocation ends', async (_name, Config) => {
  const lead = { Name: 'lead', Leader: true, KillTimeout: 30e9, Config: { kill_after: '25s' } };
  await run([lead, { Name: 'app', Config }]);
  await isRunning('lead');
  await isRunning();
  await world.advance(2000);
  stop();
  await until(() => expect(types('lead')).toContain('Killing'));
  await until(() => expect(runner.isDone).toBe(true), 500);
  expect(driver.started).toHaveLength(2);
  expect(state()).toMatchObject({ State: 'dead', Failed: false });
});
