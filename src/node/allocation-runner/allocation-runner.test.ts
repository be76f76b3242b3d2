import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { complete } from '../../model/complete.ts';
import type { JobInput } from '../../model/job/job.ts';
import { NodeRegistrationSchema } from '../../model/node/node.ts';
import type { Input } from '../../model/schema.ts';
import type { Task } from '../../model/task/task.ts';
import { MockDriver } from '../drivers/mock.ts';
import { eventually } from '../eventually.test-helper.ts';
import { dispatchPayloadHook } from '../hooks/dispatch-payload.ts';
import { testAllocation, testJob, testPolicy } from '../records.test-helper.ts';
import { AllocationRunner } from './allocation-runner.ts';
import { readSavedAllocations } from './saved-allocation.ts';
import type { AllocationSurroundings } from './surroundings.ts';

let dataDirectory: string;
let world: SimulatedWorld;
let driver: MockDriver;
let surroundings: AllocationSurroundings;
let runners: AllocationRunner[];

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'roster-alloc-'));
  world = new SimulatedWorld(7);
  driver = new MockDriver(world);
  runners = [];
  surroundings = {
    world,
    dataDirectory,
    drivers: new Map([['mock', driver]]),
    node: () => complete(NodeRegistrationSchema, { ID: 'n1', Name: 'alpha' }),
    region: 'global',
    hostEnvironment: {},
    taskHooks: [dispatchPayloadHook()],
    allocationHooks: [],
    changed: () => {},
    onNotice: (sentence) => expect.fail(sentence),
  };
  await readSavedAllocations(dataDirectory);
});

afterEach(async () => {
  // Their last writes must be done before the directory is removed.
  for (const runner of runners) await runner.leave();
  await rm(dataDirectory, { recursive: true });
});

async function run(tasks: readonly Input<Task>[], job: JobInput = {}): Promise<AllocationRunner> {
  const runner = new AllocationRunner(surroundings, testAllocation(), testJob(tasks, job));
  runners.push(runner);
  await runner.start();
  return runner;
}

/** The next agent on the same machine. */
async function restart(): Promise<AllocationRunner> {
  const [saved] = (await readSavedAllocations(dataDirectory)).saved;
  const runner = new AllocationRunner(surroundings, saved!.allocation, saved!.job, saved);
  // The one before has left, as two runners would write to one file.
  runners = [runner];
  await runner.restore();
  return runner;
}

/** Waits in real time for files, and advances the simulated time by `stepMs` at each try. */
const until = (check: () => void, stepMs = 0) =>
  eventually(async () => {
    await world.advance(stepMs);
    check();
  });

const statusOf = (runner: AllocationRunner) => runner.report.ClientStatus;
const eventsOf = (runner: AllocationRunner, task: string) =>
  (runner.taskState(task)?.Events ?? []).map(({ Type }) => Type);

describe('one task', () => {
  test('runs until it is stopped', async () => {
    const runner = await run([{ Name: 'app' }]);
    await until(() => expect(statusOf(runner)).toBe('running'));
    void runner.stop();
    await until(() => expect(statusOf(runner)).toBe('complete'));
    expect(eventsOf(runner, 'app')).toEqual([
      'Received',
      'Task Setup',
      'Started',
      'Killing',
      'Terminated',
      'Killed',
    ]);
    expect(driver.signals).toEqual(['app SIGINT']);
    expect(driver.running).toEqual([]);
  });

  test.each<[string, Input<Task>, JobInput, string, string[]]>([
    [
      'batch work that succeeds is complete',
      { Config: { run_for: '1s' } },
      { Type: 'batch' },
      'complete',
      ['Started', 'Terminated'],
    ],
    [
      'a service that cannot start is failed',
      { Config: { start_error: 'no such command' } },
      {},
      'failed',
      ['Driver Failure', 'Not Restarting'],
    ],
    [
      'a wrong Config is failed',
      { Config: { run_for: 'soon', colour: 'red' } },
      {},
      'failed',
      ['Failed Validation', 'Not Restarting'],
    ],
    [
      'an unknown driver is failed',
      { Driver: 'docker' },
      {},
      'failed',
      ['Driver Failure', 'Not Restarting'],
    ],
    [
      'failures beyond the policy are failed',
      { Config: { run_for: '1s', exit_code: 3 }, RestartPolicy: { ...testPolicy, Attempts: 1 } },
      {},
      'failed',
      ['Started', 'Terminated', 'Restarting', 'Started', 'Terminated', 'Not Restarting'],
    ],
  ])('%s', async (_name, task, job, status, events) => {
    const runner = await run([{ Name: 'app', ...task }], job);
    await until(() => expect(statusOf(runner)).toBe(status), 1000);
    expect(eventsOf(runner, 'app').slice(2)).toEqual(events);
    expect(runner.isDone).toBe(true);
  });

  test('reports every fault of its Config in one sentence', async () => {
    const runner = await run([{ Name: 'app', Config: { run_for: 'soon', colour: 'red' } }]);
    await until(() => expect(statusOf(runner)).toBe('failed'));
    const event = runner.taskState('app')?.Events?.find((e) => e.Type === 'Failed Validation');
    expect(event?.ValidationError).toMatch(/Config.run_for must be .*Config.colour is not known/);
  });

  test('that is killed during its restart delay does not start again', async () => {
    const runner = await run([{ Name: 'app', Config: { run_for: '1s', exit_code: 1 } }]);
    await until(() => expect(eventsOf(runner, 'app')).toContain('Restarting'), 200);
    void runner.stop();
    await until(() => expect(statusOf(runner)).toBe('complete'));
    await world.advance(60_000);
    expect(driver.started).toHaveLength(1);
  });

  test('that does not end in time is killed, after the greatest kill timeout at most', async () => {
    const runner = await run([{ Name: 'app', KillTimeout: 3600e9, Config: { kill_after: '2h' } }]);
    await until(() => expect(statusOf(runner)).toBe('running'));
    void runner.stop();
    await until(() => expect(eventsOf(runner, 'app')).toContain('Killing'));
    await world.advance(29_000);
    expect(runner.isDone).toBe(false);
    await until(() => expect(runner.isDone).toBe(true), 500);
    expect(runner.taskState('app')?.Events?.find((e) => e.Type === 'Terminated')?.Signal).toBe(9);
  });
});

describe('several tasks', () => {
  test('start in the order of their hooks, and end in the order of endings', async () => {
    const runner = await run([
      { Name: 'clean', Lifecycle: { Hook: 'poststop' }, Config: { run_for: '1s' } },
      { Name: 'app' },
      { Name: 'proxy', Lifecycle: { Hook: 'prestart', Sidecar: true } },
      { Name: 'init', Lifecycle: { Hook: 'prestart' }, Config: { run_for: '1s' } },
    ]);
    await until(() => expect(runner.taskState('app')?.State).toBe('running'), 100);
    expect(
      driver.started
        .map(({ taskName }) => taskName)
        .slice(0, 2)
        .sort(),
    ).toEqual(['init', 'proxy']);
    void runner.stop();
    await until(() => expect(runner.isDone).toBe(true), 100);
    expect(driver.started.map(({ taskName }) => taskName).slice(2)).toEqual(['app', 'clean']);
    expect(driver.signals).toEqual(['app SIGINT', 'proxy SIGINT']);
    expect(statusOf(runner)).toBe('complete');
  });

  test('end when one of them fails', async () => {
    const once = { ...testPolicy, Attempts: 0 };
    const runner = await run([
      { Name: 'bad', Config: { run_for: '1s', exit_code: 1 }, RestartPolicy: once },
      { Name: 'good' },
    ]);
    await until(() => expect(runner.isDone).toBe(true), 100);
    expect(statusOf(runner)).toBe('failed');
    expect(eventsOf(runner, 'good')).toContain('Sibling Task Failed');
    expect(runner.taskState('good')?.Failed).toBe(false);
  });

  test('end with their leader', async () => {
    const runner = await run(
      [{ Name: 'lead', Leader: true, Config: { run_for: '1s' } }, { Name: 'helper' }],
      { Type: 'batch' },
    );
    await until(() => expect(runner.isDone).toBe(true), 100);
    expect(eventsOf(runner, 'helper')).toContain('Leader Task Dead');
    expect(statusOf(runner)).toBe('complete');
  });
});

describe('the next agent', () => {
  test('finds a running task and starts nothing', async () => {
    const before = await run([{ Name: 'app' }]);
    await until(() => expect(statusOf(before)).toBe('running'));
    await before.leave();
    const after = await restart();
    await until(() => expect(statusOf(after)).toBe('running'));
    expect(driver.started).toHaveLength(1);
    expect(eventsOf(after, 'app')).toEqual(eventsOf(before, 'app'));
  });

  test('applies the policy to an exit meanwhile, with the kept counters', async () => {
    const once = { ...testPolicy, Attempts: 1 };
    const task = { Name: 'app', Config: { run_for: '5s', exit_code: 1 }, RestartPolicy: once };
    const before = await run([task]);
    await until(() => expect(driver.started).toHaveLength(2), 1000);
    await until(() => expect(statusOf(before)).toBe('running'));
    await before.leave();
    await world.advance(10_000);
    const after = await restart();
    await until(() => expect(statusOf(after)).toBe('failed'));
    expect(driver.started).toHaveLength(2);
    expect(after.taskState('app')?.Restarts).toBe(1);
  });

  test('waits only for the rest of a restart delay', async () => {
    const before = await run([{ Name: 'app', Config: { run_for: '1s', exit_code: 1 } }]);
    await until(() => expect(eventsOf(before, 'app')).toContain('Restarting'), 200);
    await before.leave();
    await world.advance(20_000);
    await restart();
    await until(() => expect(driver.started).toHaveLength(2));
  });

  test('starts tasks that were stopped with the agent, without counting a failure', async () => {
    const before = await run([{ Name: 'app' }]);
    await until(() => expect(statusOf(before)).toBe('running'));
    const suspended = before.suspend();
    await until(() => expect(driver.running).toEqual([]));
    await suspended;
    const after = await restart();
    await until(() => expect(statusOf(after)).toBe('running'));
    expect(driver.started).toHaveLength(2);
    expect(after.taskState('app')).toMatchObject({ Restarts: 0, Failed: false });
  });

  test('starts a lost run again, without counting a failure', async () => {
    const before = await run([{ Name: 'app' }]);
    await until(() => expect(statusOf(before)).toBe('running'));
    await before.leave();
    driver = new MockDriver(world);
    surroundings = { ...surroundings, drivers: new Map([['mock', driver]]) };
    const after = await restart();
    await until(() => expect(statusOf(after)).toBe('running'));
    expect(eventsOf(after, 'app')).toContain('Failed Restoring Task');
    expect(driver.started).toHaveLength(1);
  });
});
