/** When the directories of a task are made: ahead of its first run by a hook, and before each later run. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { complete } from '../../model/complete.ts';
import { NodeRegistrationSchema } from '../../model/node/node.ts';
import { MockDriver } from '../drivers/mock.ts';
import { eventually } from '../eventually.test-helper.ts';
import type { AllocationHookFactory } from '../hooks/hook.ts';
import { testAllocation, testJob } from '../records.test-helper.ts';
import type { SystemUser } from '../system-user.ts';
import { AllocationRunner } from './allocation-runner.ts';
import { type AllocationFiles, filesOnDisk } from './files.ts';
import { readSavedAllocations } from './saved-allocation.ts';

let dataDirectory: string;
let world: SimulatedWorld;
let runner: AllocationRunner;
/** For each time: whether the task had no directory. */
let made: boolean[];

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'roster-directories-'));
  world = new SimulatedWorld(7);
  made = [];
  await readSavedAllocations(dataDirectory);
});

afterEach(async () => {
  await runner.leave();
  await rm(dataDirectory, { recursive: true });
});

const files: AllocationFiles = {
  ...filesOnDisk,
  async makeTaskDirectories(paths, owner) {
    const isNew = await filesOnDisk.makeTaskDirectories(paths, owner);
    made.push(isNew);
    return isNew;
  },
};

async function run(allocationHooks: readonly AllocationHookFactory[]): Promise<void> {
  const surroundings = {
    world,
    dataDirectory,
    region: 'global',
    hostEnvironment: {},
    taskHooks: [],
    allocationHooks,
    files,
    drivers: new Map([['mock', new MockDriver(world)]]),
    node: () => complete(NodeRegistrationSchema, { ID: 'n1' }),
    changed: () => {},
    onNotice: (sentence: string) => expect.fail(sentence),
  };
  const job = testJob([{ Name: 'app', Config: { run_for: '1h' } }]);
  runner = new AllocationRunner(surroundings, testAllocation(), job);
  await runner.start();
  await isRunning();
}

const isRunning = (restarts = 0): Promise<void> =>
  eventually(async () => {
    await world.advance(100);
    const { State, Restarts } = runner.taskState('app')!;
    expect([State, Restarts]).toEqual(['running', restarts]);
  });

const ahead =
  (owner: SystemUser | undefined): AllocationHookFactory =>
  ({ makeTaskDirectories }) => ({
    name: 'ahead',
    async beforeStart() {
      await makeTaskDirectories('app', owner);
    },
  });

test('once before the first run, and again before each later run', async () => {
  await run([ahead(undefined)]);
  expect(made).toEqual([true]);
  await rm(join(runner.directories.root, 'app'), { recursive: true });
  await runner.restart({ task: '', all: false });
  await isRunning(1);
  expect(made).toEqual([true, true]);
  expect(existsSync(join(runner.directories.root, 'app/local'))).toBe(true);
});

test('again for the first run where a hook gave them to another user than the agent', async () => {
  const [uid, gid] = [process.getuid!(), process.getgid!()];
  await run([ahead({ uid, gid })]);
  expect(made).toEqual([true, false]);
});

test('by the run itself where no hook needs them', async () => {
  await run([]);
  expect(made).toEqual([true]);
});
