import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import type { AllocationReport } from '../model/allocation/allocation.ts';
import { complete } from '../model/complete.ts';
import { limits } from '../model/limits.ts';
import { NodeRegistrationSchema } from '../model/node/node.ts';
import type { Input } from '../model/schema.ts';
import type { Task } from '../model/task/task.ts';
import { type AllocationFiles, noFiles, savedAllocationPath } from './allocation-runner/files.ts';
import { Allocations } from './allocations.ts';
import { MockDriver } from './drivers/mock.ts';
import { eventually } from './eventually.test-helper.ts';
import type { AllocationHookFactory } from './hooks/hook.ts';
import { agentLimits } from './limits.ts';
import { testAllocation, testJob, testPolicy } from './records.test-helper.ts';
import type { Assignment } from './server-api.ts';

let dataDirectory: string;
let world: SimulatedWorld;
let driver: MockDriver;
let reports: AllocationReport[];
let allocations: Allocations;
let allocationHooks: AllocationHookFactory[];

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'roster-allocations-'));
  world = new SimulatedWorld(7);
  driver = new MockDriver(world);
  reports = [];
  allocationHooks = [];
});

afterEach(async () => {
  await allocations.leave();
  await rm(dataDirectory, { recursive: true });
});

/** The next agent on the same machine. */
async function startAgent(files?: AllocationFiles): Promise<void> {
  allocations = new Allocations(
    {
      world,
      dataDirectory,
      ...(files !== undefined && { files }),
      region: 'global',
      hostEnvironment: {},
      taskHooks: [],
      allocationHooks,
      drivers: new Map([['mock', driver]]),
      node: () => complete(NodeRegistrationSchema, { ID: 'n1' }),
      changed: (report) => reports.push(report),
      onNotice: (sentence: string) => expect.fail(sentence),
    },
    () => {},
  );
  await allocations.restore();
}

const id = (number: number) => `a1111111-0000-4000-8000-00000000000${number}`;

const assignment = (number: number, tasks: readonly Input<Task>[]): Assignment => ({
  Allocation: testAllocation({ ID: id(number) }),
  Job: testJob(tasks),
});

const until = (check: () => void, stepMs = 0) =>
  eventually(async () => {
    await world.advance(stepMs);
    check();
  });

const areRunning = (...runIds: readonly string[]) =>
  until(() => expect([...driver.running].sort()).toEqual(runIds));

test('a task that restarts while others are taken up is not ended as unclaimed', async () => {
  await startAgent();
  allocations.apply([assignment(1, [{ Name: 'app' }]), assignment(2, [{ Name: 'app' }])]);
  await areRunning(`${id(1)}/app#1`, `${id(2)}/app#1`);
  await until(() => expect(reports.at(-1)?.ClientStatus).toBe('running'));
  const suspended = allocations.get(id(1))!.suspend();
  await areRunning(`${id(2)}/app#1`);
  await suspended;
  await allocations.get(id(2))!.leave();
  const gate = Promise.withResolvers<void>();
  const recover = driver.recover.bind(driver);
  driver.recover = async (runId) => {
    await gate.promise;
    return recover(runId);
  };
  const restored = startAgent();
  await areRunning(`${id(1)}/app#2`, `${id(2)}/app#1`);
  driver.signals.length = 0;
  gate.resolve();
  await restored;
  await world.advance(1000);
  expect(driver.signals).toEqual([]);
});

test('the end of an allocation is delivered with its last report, not earlier', async () => {
  await startAgent();
  const RestartPolicy = { ...testPolicy, Attempts: 0 };
  const bad = { Name: 'bad', RestartPolicy, Config: { run_for: '1s', exit_code: 1 } };
  allocations.apply([assignment(1, [bad, { Name: 'good', Config: { kill_after: '3s' } }])]);
  await until(() => expect(reports.at(-1)?.ClientStatus).toBe('failed'), 100);
  const first = reports.at(-1)!;
  await until(() => expect(allocations.get(id(1))!.isDone).toBe(true), 100);
  allocations.noteDelivered([first]);
  expect(allocations.undelivered).toEqual([allocations.get(id(1))!.report]);
  allocations.noteDelivered(allocations.undelivered);
  expect(allocations.undelivered).toEqual([]);
});

test('an ended allocation stays until its successor on this node has begun', async () => {
  const gate = Promise.withResolvers<void>();
  allocationHooks = [
    ({ allocation }) =>
      allocation().PreviousAllocation === ''
        ? undefined
        : { name: 'disk', beforeStart: () => gate.promise },
  ];
  await startAgent();
  const tasks = [{ Name: 'app', Config: { run_for: '1s' } }];
  allocations.apply([assignment(1, tasks)]);
  await until(() => expect(allocations.get(id(1))!.isDone).toBe(true), 100);
  allocations.noteDelivered(allocations.undelivered);
  const next = assignment(2, [{ Name: 'app' }]);
  const Allocation = { ...next.Allocation, PreviousAllocation: id(1) };
  allocations.apply([assignment(1, tasks), { ...next, Allocation }]);
  await allocations.removeOver();
  await allocations.remove(id(1));
  expect(allocations.get(id(1))).toBeDefined();
  gate.resolve();
  await areRunning(`${id(2)}/app#1`);
  await until(() => expect(reports.at(-1)?.ClientStatus).toBe('running'));
  await allocations.removeOver();
  expect(allocations.get(id(1))).toBeUndefined();
});

test('ended allocations are removed once no others begin, all but the newest', async () => {
  await startAgent();
  const tasks = [{ Name: 'app', Config: { run_for: '1s' } }];
  const kept = limits.node.terminalAllocationsKept;
  const ended = Array.from({ length: kept + 2 }, (_, at) => assignment(at + 1, tasks));
  allocations.apply(ended);
  await until(() => expect(allocations.all.every(({ isDone }) => isDone)).toBe(true), 100);
  allocations.noteDelivered(allocations.undelivered);
  const next = assignment(kept + 3, [{ Name: 'app' }]);
  allocations.apply([next]);
  expect(allocations.all).toHaveLength(kept + 3);
  // The record of an allocation is the last of its files.
  const record = savedAllocationPath(dataDirectory, id(2));
  await until(() => expect(existsSync(record)).toBe(false), 100);
  expect(allocations.all).toHaveLength(kept + 1);
  expect(allocations.get(id(1))).toBeUndefined();
  expect(allocations.get(id(3))).toBeDefined();
});

test('while others begin, no more are removed than are too many', async () => {
  await startAgent(noFiles);
  const tasks = [{ Name: 'app', Config: { run_for: '1s' } }];
  const { overMax, collectRestMs } = agentLimits;
  const ended = Array.from({ length: overMax + 2 }, (_, at) => assignment(at + 1, tasks));
  allocations.apply(ended);
  await until(() => expect(allocations.all.every(({ isDone }) => isDone)).toBe(true), 100);
  allocations.noteDelivered(allocations.undelivered);
  allocations.apply([assignment(overMax + 3, [{ Name: 'app' }])]);
  await areRunning(`${id(overMax + 3)}/app#1`);
  await until(() => expect(allocations.get(id(2))).toBeUndefined());
  expect(allocations.all).toHaveLength(overMax + 1);
  const kept = limits.node.terminalAllocationsKept;
  await until(() => expect(allocations.all).toHaveLength(kept + 1), collectRestMs);
});

test('an allocation that is stopped before its turn never starts', async () => {
  await startAgent();
  const tasks = [{ Name: 'app' }];
  const all = Array.from({ length: 20 }, (_, at) => assignment(at + 1, tasks));
  allocations.apply(all);
  allocations.apply(all.slice(0, 1));
  await areRunning(`${id(1)}/app#1`);
  await until(() => expect(allocations.all.filter(({ isDone }) => !isDone)).toHaveLength(1), 100);
  expect(driver.started.some(({ runId }) => runId.startsWith(id(20)))).toBe(false);
});

const leading = ['.', '..', 'a/b', '/etc', 'alloc', '', 'a\0b', '.disk', '.app.artifacts'];

test.each(leading)(
  'no directory is made for a task %j, although a server asks for it',
  async (Name) => {
    await startAgent();
    const before = readdirSync(dataDirectory);
    allocations.apply([assignment(1, [{ Name: 'app' }, { Name }])]);
    const ClientDescription = `The task ${JSON.stringify(Name)} has a name that no directory can have`;
    expect(reports).toMatchObject([{ ID: id(1), ClientStatus: 'failed', ClientDescription }]);
    const { TaskStates } = reports[0]!;
    expect(TaskStates[Name]).toMatchObject({
      State: 'dead',
      Failed: true,
      Events: [{ Type: 'Setup Failure', DisplayMessage: ClientDescription }],
    });
    expect(allocations.all).toEqual([]);
    expect(readdirSync(dataDirectory)).toEqual(before);
  },
);

test.each(['..', '../..', 'a/b'])(
  'no directory is made for an allocation %j either',
  async (ID) => {
    await startAgent();
    const { Allocation, Job } = assignment(1, [{ Name: 'app' }]);
    allocations.apply([{ Allocation: { ...Allocation, ID }, Job }]);
    expect(reports).toMatchObject([{ ID, ClientStatus: 'failed' }]);
    expect(existsSync(join(dataDirectory, 'alloc'))).toBe(false);
  },
);

test('a task with such a name from an earlier agent goes on, and is not started again', async () => {
  await startAgent();
  allocations.apply([assignment(1, [{ Name: 'app' }])]);
  await until(() => expect(reports.at(-1)?.ClientStatus).toBe('running'));
  await allocations.leave();
  const path = savedAllocationPath(dataDirectory, id(1));
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll('"app"', '".."'));
  const recover = driver.recover.bind(driver);
  driver.recover = () => recover(`${id(1)}/app#1`);
  driver.endUnclaimed = async () => {};
  await startAgent();
  await until(() => expect(allocations.get(id(1))!.taskState('..')?.State).toBe('running'));
  void allocations
    .get(id(1))!
    .restart({ task: '..', all: false })
    .catch(() => {});
  await until(() => expect(allocations.get(id(1))!.isDone).toBe(true), 100);
  const events = allocations
    .get(id(1))!
    .taskState('..')!
    .Events!.map((one) => one.DisplayMessage);
  expect(events).toContainEqual(expect.stringMatching(/name that no directory can have/));
});
