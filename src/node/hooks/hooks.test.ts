/** The order and the failures of hooks in both runners. Invariants: `hook.ts`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { complete } from '../../model/complete.ts';
import { NodeRegistrationSchema } from '../../model/node/node.ts';
import type { Input } from '../../model/schema.ts';
import type { Task } from '../../model/task/task.ts';
import { AllocationRunner } from '../allocation-runner/allocation-runner.ts';
import { readSavedAllocations } from '../allocation-runner/saved-allocation.ts';
import type { AllocationSurroundings } from '../allocation-runner/surroundings.ts';
import { MockDriver } from '../drivers/mock.ts';
import { eventually } from '../eventually.test-helper.ts';
import { testAllocation, testJob } from '../records.test-helper.ts';
import * as events from '../task-runner/events.ts';
import {
  type AllocationHook,
  HookFailure,
  type TaskControls,
  type TaskHook,
  type TaskHookContext,
  type TaskHookFactory,
} from './hook.ts';

let dataDirectory: string;
let world: SimulatedWorld;
let driver: MockDriver;
let runner: AllocationRunner;
/** The calls, in order. */
let told: string[];

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'roster-hooks-'));
  world = new SimulatedWorld(7);
  driver = new MockDriver(world);
  told = [];
  await readSavedAllocations(dataDirectory);
});

afterEach(async () => {
  await runner.leave();
  await rm(dataDirectory, { recursive: true });
});

/** A hook that records every call; `more` does something besides. */
const telling =
  (name: string, more: (context: TaskHookContext) => Partial<TaskHook> = () => ({})) =>
  (context: TaskHookContext): TaskHook => {
    const { beforeStart, ...others } = more(context);
    return {
      name,
      async beforeStart() {
        told.push(`${name} before`);
        return beforeStart?.();
      },
      started: ({ isRestored }) => told.push(`${name} ${isRestored ? 'restored' : 'started'}`),
      ending: async () => void told.push(`${name} ending`),
      ended: async () => void told.push(`${name} ended`),
      close: async ({ isDead }) => void told.push(`${name} ${isDead ? 'dead' : 'left'}`),
      ...others,
    };
  };

async function run(
  taskHooks: readonly TaskHookFactory[],
  task: Input<Task> = {},
  allocationHooks: readonly (() => AllocationHook)[] = [],
  awaited: readonly Promise<void>[] = [],
): Promise<void> {
  runner = new AllocationRunner(
    surroundings(taskHooks, allocationHooks),
    testAllocation(),
    testJob([{ Name: 'app', ...task }]),
  );
  for (const other of awaited) runner.hold(other);
  await runner.start();
}

/** The next agent after a restart of the machine, when nothing runs any more. */
async function restart(
  taskHooks: readonly TaskHookFactory[],
  allocationHooks: readonly (() => AllocationHook)[],
): Promise<void> {
  await runner.leave();
  driver = new MockDriver(world);
  const [saved] = (await readSavedAllocations(dataDirectory)).saved;
  const { allocation, job } = saved!;
  const given = surroundings(taskHooks, allocationHooks);
  runner = new AllocationRunner(given, allocation, job, saved);
  await runner.restore();
}

function surroundings(
  taskHooks: readonly TaskHookFactory[],
  allocationHooks: readonly (() => AllocationHook)[],
): AllocationSurroundings {
  return {
    world,
    dataDirectory,
    region: 'global',
    hostEnvironment: {},
    taskHooks,
    allocationHooks,
    drivers: new Map([['mock', driver]]),
    node: () => complete(NodeRegistrationSchema, { ID: 'n1', Name: 'alpha' }),
    changed: () => {},
    onNotice: (sentence: string) => expect.fail(sentence),
  };
}

const until = (check: () => void, stepMs = 0) =>
  eventually(async () => {
    await world.advance(stepMs);
    check();
  });
/** Stops it, and advances the time until it has stopped. */
async function stopped(): Promise<void> {
  void runner.stop();
  await until(() => expect(state().State).toBe('dead'));
}

const state = () => runner.report.TaskStates.app!;
const eventTypes = () => state().Events!.map(({ Type }) => Type);

test('hooks are called in their order around every run', async () => {
  await run([telling('one'), telling('two')], { Config: { run_for: '60s', exit_code: 1 } });
  await until(() => expect(state().State).toBe('running'));
  expect(told).toEqual(['one before', 'two before', 'one started', 'two started']);
  told.length = 0;
  await until(() => expect(state().Restarts).toBe(1), 5000);
  expect(told).toEqual(['one ended', 'two ended']);
  await until(() => expect(told).toContain('two started'), 1000);
  expect(told.slice(2, 6)).toEqual(['one before', 'two before', 'one started', 'two started']);
  told.length = 0;
  await stopped();
  expect(told).toEqual([
    'one ending',
    'two ending',
    'one ended',
    'two ended',
    'one dead',
    'two dead',
  ]);
});

test('a hook’s variables win over all others, and later hooks see them', async () => {
  let seen: string | undefined;
  const adding = telling('one', () => ({ beforeStart: async () => ({ COLOUR: 'blue' }) }));
  const looking = telling('two', ({ environment }) => ({
    beforeStart: async () => {
      seen = environment().variables.COLOUR;
      return undefined;
    },
  }));
  await run([adding, looking], { Env: { COLOUR: 'red' } });
  await until(() => expect(driver.started).toHaveLength(1));
  expect(driver.started[0]!.variables.COLOUR).toBe('blue');
  expect(seen).toBe('blue');
});

test('a hanging hook does not keep its task from being killed', async () => {
  await run([telling('one', () => ({ beforeStart: () => new Promise(() => {}) })), telling('two')]);
  await until(() => expect(told).toEqual(['one before']));
  await runner.stop();
  expect(state()).toMatchObject({ State: 'dead', Failed: false });
  expect(driver.started).toEqual([]);
  expect(told).toEqual(['one before', 'one dead', 'two dead']);
});

test.each([
  ['that may pass', true, ['Received', 'Task Setup', 'Task hook failed', 'Restarting']],
  ['for good', false, ['Received', 'Task Setup', 'Task hook failed', 'Not Restarting']],
])(
  'a failure %s goes by the restart policy, with the event of the hook',
  async (_n, passes, types) => {
    const event = events.hookFailed('one', 'no');
    const beforeStart = () => Promise.reject(new HookFailure(event, 'no', passes));
    await run([telling('one', () => ({ beforeStart })), telling('two')]);
    await until(() => expect(eventTypes()).toEqual(types));
    expect(told.slice(0, 3)).toEqual(['one before', 'one ended', 'two ended']);
    expect(driver.started).toEqual([]);
  },
);

test('only a restart that counts as a failure follows the restart policy', async () => {
  let controls: TaskControls | undefined;
  await run([
    (context) => {
      controls = context;
      return undefined;
    },
  ]);
  await until(() => expect(state().State).toBe('running'));
  await controls!.restart('because');
  await until(() => expect(driver.started).toHaveLength(2));
  expect(eventTypes()).not.toContain('Restarting');
  await until(() => expect(state().State).toBe('running'));
  await controls!.restart('unhealthy', { isFailure: true });
  await until(() => expect(eventTypes()).toContain('Restarting'));
  controls!.fail(events.hookFailed('one', 'it is over'));
  await until(() => expect(state()).toMatchObject({ State: 'dead', Failed: true }));
});

describe('no task starts before the hooks of its allocation have finished', () => {
  let gate: PromiseWithResolvers<void>;
  const hook = (): AllocationHook => ({
    name: 'gate',
    async beforeStart() {
      told.push('gate before');
      await gate.promise;
      told.push('gate through');
    },
  });
  const inOrder = ['gate before', 'gate through', 'one before', 'one started'];

  beforeEach(() => {
    gate = Promise.withResolvers();
  });

  test.each([
    ['when it is new', []],
    ['when its dependency ends before they begin', [Promise.resolve()]],
  ])('%s', async (_name, awaited) => {
    await run([telling('one')], {}, [hook], awaited);
    await until(() => expect(told).toEqual(['gate before']));
    expect(eventTypes()).toEqual(['Received']);
    gate.resolve();
    await until(() => expect(driver.started).toHaveLength(1));
    expect(told).toEqual(inOrder);
  });

  test('when an agent takes up a task and has to start it again', async () => {
    gate.resolve();
    await run([telling('one')], {}, [hook]);
    await until(() => expect(state().State).toBe('running'));
    gate = Promise.withResolvers();
    await restart([telling('one')], [hook]);
    told.length = 0;
    // A run has its number as soon as it begins.
    expect(runner.runIds).toEqual([`${runner.id}/app#1`]);
    gate.resolve();
    await until(() => expect(state().State).toBe('running'));
    expect(runner.runIds).toEqual([`${runner.id}/app#2`]);
    expect(told).toEqual(inOrder.slice(1));
  });
});

test('a failed hook of the allocation fails its tasks with its message', async () => {
  const beforeStart = () => Promise.reject(new Error('the disk is not here'));
  await run([], {}, [() => ({ name: 'disk', beforeStart })]);
  await until(() => expect(runner.report.ClientStatus).toBe('failed'));
  expect(state().Events!.at(-1)!.DisplayMessage).toBe('the disk is not here');
  expect(driver.started).toEqual([]);
});

test('the hooks of an allocation are called before its tasks end, and when it is done', async () => {
  const hook: AllocationHook = {
    name: 'services',
    ending: async () => void told.push('ending'),
    close: async ({ isDone }) => void told.push(`close ${isDone}`),
  };
  await run([telling('one')], {}, [() => hook]);
  await until(() => expect(state().State).toBe('running'));
  told.length = 0;
  await stopped();
  await until(() => expect(told).toContain('close true'));
  expect(told).toEqual(['ending', 'one ending', 'one ended', 'one dead', 'close true']);
});
