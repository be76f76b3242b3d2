import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { complete } from '../../model/complete.ts';
import type { JobInput } from '../../model/job/job.ts';
import { NodeRegistrationSchema } from '../../model/node/node.ts';
import { socketPair } from '../../model/node-stream/socket-pair.test-helper.ts';
import { StreamConnection } from '../../model/node-stream/stream-connection.ts';
import type { Input } from '../../model/schema.ts';
import type { Task } from '../../model/task/task.ts';
import { restartHandler, signalHandler } from '../command-handlers.ts';
import { DriverFailure, type DriverHandle } from '../drivers/driver.ts';
import { MockDriver } from '../drivers/mock.ts';
import { eventually } from '../eventually.test-helper.ts';
import { testAllocation, testJob } from '../records.test-helper.ts';
import { AllocationRunner } from './allocation-runner.ts';
import { readSavedAllocations } from './saved-allocation.ts';

// Commands of servers over the stream of a node act on the tasks of its allocations.

let dataDirectory: string;
let world: SimulatedWorld;
let driver: MockDriver;
let runner: AllocationRunner;
let server: StreamConnection;
/** Notices to the operator; a test fails on notices that it does not expect. */
let notices: string[] | undefined;
beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'roster-commands-'));
  await readSavedAllocations(dataDirectory);
  world = new SimulatedWorld(7);
  driver = new MockDriver(world);
  notices = undefined;
  const [near, far] = socketPair();
  server = new StreamConnection({ socket: near, side: 'server' });
  const node = new StreamConnection({ socket: far, side: 'node' });
  const find = (id: string) => (id === runner.id ? runner : undefined);
  node.accept('restart', restartHandler(find));
  node.accept('signal', signalHandler(find));
});
afterEach(async () => {
  await runner.leave();
  await rm(dataDirectory, { recursive: true });
});

async function run(tasks: readonly Input<Task>[], job: JobInput = {}): Promise<void> {
  const surroundings = {
    world,
    dataDirectory,
    region: 'global',
    hostEnvironment: {},
    taskHooks: [],
    allocationHooks: [],
    drivers: new Map([['mock', driver]]),
    node: () => complete(NodeRegistrationSchema, { ID: 'n1', Name: 'alpha' }),
    changed: () => {},
    onNotice: (sentence: string) => {
      if (notices === undefined) expect.fail(sentence);
      notices.push(sentence);
    },
  };
  runner = new AllocationRunner(surroundings, testAllocation(), testJob(tasks, job));
  await runner.start();
}

/** Resolves when the node has done the command; rejects with its reason. */
async function ask(kind: 'restart' | 'signal', wish: object, id = runner.id): Promise<void> {
  for await (const _ of server.open(kind, { alloc_id: id, ...wish })) expect.fail('no bytes');
}

const until = (check: () => void, stepMs = 0) =>
  eventually(async () => {
    await world.advance(stepMs);
    check();
  });
const stateOf = (task: string) => runner.taskState(task)?.State;
const eventsOf = (task: string) => (runner.taskState(task)?.Events ?? []).map(({ Type }) => Type);
const startsOf = (task: string) =>
  driver.started.filter(({ taskName }) => taskName === task).length;
const refuseStop = (handle: DriverHandle): void => {
  handle.stop = async () => {
    throw new DriverFailure('not now', false);
  };
};
const app = { Name: 'app' };
const other = { Name: 'other' };
const prepare = {
  Name: 'prepare',
  Lifecycle: { Hook: 'prestart', Sidecar: false },
  Config: { run_for: '1s' },
};

describe('a restart', () => {
  test('of one task leaves the others alone, and counts as no failure', async () => {
    await run([app, other]);
    await until(() => expect([startsOf('app'), startsOf('other')]).toEqual([1, 1]));
    await ask('restart', { task: 'app' });
    await until(() => expect([startsOf('app'), stateOf('app')]).toEqual([2, 'running']));
    expect(startsOf('other')).toBe(1);
    expect(eventsOf('app')).toEqual([
      'Received',
      'Task Setup',
      'Started',
      'Restart Signaled',
      'Terminated',
      'Started',
    ]);
    expect(runner.taskState('app')).toMatchObject({ Failed: false, Restarts: 1 });
  });

  test('does not use up the restart policy, however often', async () => {
    const RestartPolicy = { Attempts: 1, Interval: 1800e9, Delay: 15e9, Mode: 'fail' };
    await run([{ ...app, RestartPolicy }]);
    for (let count = 1; count <= 4; count++) {
      await until(() => expect([startsOf('app'), stateOf('app')]).toEqual([count, 'running']));
      await ask('restart', { task: '' });
    }
    await until(() => expect([startsOf('app'), stateOf('app')]).toEqual([5, 'running']));
  });

  test('of all running tasks leaves completed ones alone', async () => {
    await run([prepare, app, other]);
    await until(
      () => expect([stateOf('app'), stateOf('other')]).toEqual(['running', 'running']),
      500,
    );
    await ask('restart', { task: '' });
    await until(() => expect([startsOf('app'), startsOf('other')]).toEqual([2, 2]));
    expect([startsOf('prepare'), stateOf('prepare')]).toEqual([1, 'dead']);
  });

  test('of all tasks begins with the first stage again', async () => {
    await run([prepare, app]);
    await until(() => expect(stateOf('app')).toBe('running'), 500);
    await ask('restart', { task: '', all: true });
    await until(() => expect([startsOf('prepare'), stateOf('prepare')]).toEqual([2, 'running']));
    // The main task waits for the prestart task, as at the first start.
    expect([startsOf('app'), stateOf('app')]).toEqual([1, 'pending']);
    await until(() => expect([startsOf('app'), stateOf('app')]).toEqual([2, 'running']), 500);
    expect(eventsOf('app')).toContain('Restart Signaled');
    expect(runner.report.ClientStatus).toBe('running');
  });

  test('of all tasks gives way to a stop', async () => {
    await run([prepare, { ...app, Config: { kill_after: '3s' } }]);
    await until(() => expect(stateOf('app')).toBe('running'), 500);
    await ask('restart', { task: '', all: true });
    void runner.stop();
    await until(() => expect(runner.isDone).toBe(true), 500);
    expect([startsOf('prepare'), startsOf('app')]).toEqual([1, 1]);
  });

  test('of all tasks revives none once the allocation is stopped', async () => {
    await run([prepare, { ...app, Leader: true, Config: { kill_after: '3s' } }]);
    await until(() => expect(stateOf('app')).toBe('running'), 500);
    await ask('restart', { task: '', all: true });
    await until(() => expect(driver.signals).toHaveLength(1));
    void runner.stop();
    await until(() => expect(stateOf('app')).toBe('dead'), 500);
    await world.advance(1000);
    expect([stateOf('prepare'), runner.isDone]).toEqual(['dead', true]);
  });

  test.each([
    ['that the driver refuses', { task: '', all: false }],
    ['of all tasks that the driver refuses', { task: '', all: true }],
  ])('%s leaves the task to its own end', async (_title, wish) => {
    await run([{ ...app, Config: { run_for: '10s' } }], { Type: 'batch' });
    await until(() => expect(stateOf('app')).toBe('running'));
    refuseStop((await driver.recover(`${runner.id}/app#1`))!);
    notices = [];
    await ask('restart', wish).catch(() => {});
    await world.advance(10_000);
    await until(() => expect(runner.report.ClientStatus).toBe('complete'), 1000);
    expect(startsOf('app')).toBe(1);
  });

  test('of all tasks restarts the others if the driver refuses one', async () => {
    await run([app, { ...other, Config: { kill_after: '3s' } }]);
    await until(() => expect([stateOf('app'), stateOf('other')]).toEqual(['running', 'running']));
    refuseStop((await driver.recover(`${runner.id}/app#1`))!);
    notices = [];
    await ask('restart', { task: '', all: true });
    await until(() => expect([startsOf('other'), stateOf('other')]).toEqual([2, 'running']), 500);
    expect([startsOf('app'), stateOf('app')]).toEqual([1, 'running']);
    expect(notices).toEqual([`${runner.id}: not now`]);
  });

  test('of all tasks replaces one that is under way', async () => {
    await run([{ ...app, Config: { run_for: '10s', kill_after: '3s' } }], { Type: 'batch' });
    await until(() => expect(stateOf('app')).toBe('running'));
    await ask('restart', { task: 'app' });
    await ask('restart', { task: '', all: true });
    await until(() => expect([startsOf('app'), stateOf('app')]).toEqual([2, 'running']), 500);
    await until(() => expect(runner.report.ClientStatus).toBe('complete'), 1000);
    expect(startsOf('app')).toBe(2);
  });
});

describe('a signal', () => {
  test('goes to the named task', async () => {
    await run([app, other]);
    await until(() => expect(startsOf('other')).toBe(1));
    await ask('signal', { task: 'other', signal: 'SIGHUP' });
    expect(driver.signals).toEqual(['other SIGHUP']);
    expect(eventsOf('other').at(-1)).toBe('Signaling');
  });

  test('goes to all running tasks when none is named', async () => {
    await run([prepare, app, other]);
    await until(() => expect(stateOf('other')).toBe('running'), 500);
    await ask('signal', { task: '', signal: 'SIGUSR1' });
    expect(driver.signals.sort()).toEqual(['app SIGUSR1', 'other SIGUSR1']);
  });

  test('that the driver refuses is refused with its reason', async () => {
    await run([{ ...app, Config: { signal_error: 'no such signal' } }]);
    await until(() => expect(stateOf('app')).toBe('running'));
    await expect(ask('signal', { task: 'app', signal: 'SIGX' })).rejects.toMatchObject({
      status: 400,
      message: 'The driver refuses: no such signal.',
    });
  });
});

test.each([
  ['an allocation that is not there', 'gone', {}, 404, 'allocation-not-found'],
  ['a task that is not there', undefined, { task: 'none' }, 404, 'task-not-found'],
  ['a task that is over', undefined, { task: 'prepare' }, 400, 'not-running'],
])('%s is refused', async (_title, id, wish, status, code) => {
  await run([prepare, app]);
  await until(() => expect(stateOf('app')).toBe('running'), 500);
  for (const kind of ['restart', 'signal'] as const) {
    const asked = ask(kind, { ...wish, signal: 'SIGHUP' }, id);
    await expect(asked).rejects.toMatchObject({ status, code });
  }
});

test('an allocation that ends is refused', async () => {
  await run([{ ...app, Config: { kill_after: '5s' } }]);
  await until(() => expect(stateOf('app')).toBe('running'));
  void runner.stop();
  await until(() => expect(eventsOf('app')).toContain('Killing'));
  await expect(ask('restart', { task: 'app' })).rejects.toMatchObject({ code: 'not-running' });
});

test('a restart of all tasks that an agent could not finish is finished by the next one', async () => {
  await run([prepare, { ...app, Config: { kill_after: '3s' } }]);
  await until(() => expect(stateOf('app')).toBe('running'), 500);
  await ask('restart', { task: '', all: true });
  await runner.leave();
  const [saved] = (await readSavedAllocations(dataDirectory)).saved;
  const { allocation, job } = saved!;
  const surroundings = {
    world,
    dataDirectory,
    region: 'global',
    hostEnvironment: {},
    taskHooks: [],
    allocationHooks: [],
    drivers: new Map([['mock', driver]]),
    node: () => complete(NodeRegistrationSchema, { ID: 'n1', Name: 'alpha' }),
    changed: () => {},
    onNotice: (sentence: string) => expect.fail(sentence),
  };
  runner = new AllocationRunner(surroundings, allocation, job, saved);
  await runner.restore();
  await until(() => expect([startsOf('app'), stateOf('app')]).toEqual([2, 'running']), 1000);
});
