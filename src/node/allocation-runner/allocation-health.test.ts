/** The health that an allocation reports, with real runners in simulated time. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import type { Allocation, AllocationReport } from '../../model/allocation/allocation.ts';
import { complete } from '../../model/complete.ts';
import type { Job } from '../../model/job/job.ts';
import { NodeRegistrationSchema } from '../../model/node/node.ts';
import type { Input } from '../../model/schema.ts';
import type { Task } from '../../model/task/task.ts';
import { UpdateStrategySchema } from '../../model/task-group/policies.ts';
import { MockDriver } from '../drivers/mock.ts';
import { eventually } from '../eventually.test-helper.ts';
import { dispatchPayloadHook } from '../hooks/dispatch-payload.ts';
import { testAllocation, testJob, testPolicy } from '../records.test-helper.ts';
import { AllocationRunner } from './allocation-runner.ts';
import { readSavedAllocations } from './saved-allocation.ts';
import type { AllocationSurroundings } from './surroundings.ts';

let dataDirectory: string;
let world: SimulatedWorld;
let surroundings: AllocationSurroundings;
let runner: AllocationRunner;
let reports: AllocationReport[];

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'roster-health-'));
  world = new SimulatedWorld(7);
  reports = [];
  surroundings = {
    world,
    dataDirectory,
    drivers: new Map([['mock', new MockDriver(world)]]),
    node: () => complete(NodeRegistrationSchema, { ID: 'n1', Name: 'alpha' }),
    region: 'global',
    hostEnvironment: {},
    taskHooks: [dispatchPayloadHook()],
    allocationHooks: [],
    changed: (report) => reports.push(report),
    onNotice: (sentence) => expect.fail(sentence),
  };
  await readSavedAllocations(dataDirectory);
});

afterEach(async () => {
  await runner.leave();
  await rm(dataDirectory, { recursive: true });
});

const Update = complete(UpdateStrategySchema, {
  MaxParallel: 1,
  HealthCheck: 'task_states',
  MinHealthyTime: 10e9,
  HealthyDeadline: 60e9,
});

function jobOf(task: Input<Task> = {}): Job {
  const job = testJob([{ Name: 'app', ...task }]);
  return { ...job, TaskGroups: job.TaskGroups.map((group) => ({ ...group, Update })) };
}

async function run(fields: Input<Allocation> = {}, task: Input<Task> = {}): Promise<void> {
  const allocation = testAllocation({ DeploymentID: 'd1', ...fields });
  runner = new AllocationRunner(surroundings, allocation, jobOf(task));
  await runner.start();
}

/** Waits in real time for files, and advances the simulated time by `stepMs` at each try. */
const until = (check: () => void, stepMs = 0) =>
  eventually(async () => {
    await world.advance(stepMs);
    check();
  });

const health = () => runner.report.DeploymentStatus?.Healthy ?? null;
const isRunning = () => expect(runner.report.ClientStatus).toBe('running');

test('is reported to the servers as soon as it is known', async () => {
  await run();
  await until(isRunning);
  await world.advance(9_999);
  expect(reports.at(-1)).toMatchObject({ DeploymentStatus: null, DeploymentID: 'd1' });
  await world.advance(1);
  expect(reports.at(-1)).toMatchObject({
    ClientStatus: 'running',
    DeploymentStatus: { Healthy: true, Timestamp: expect.stringMatching(/^2026-01-01T00:00:10/) },
    DeploymentID: 'd1',
  });
});

test('is lost with a failed task, in the same report', async () => {
  const RestartPolicy = { ...testPolicy, Attempts: 0 };
  await run({}, { Config: { run_for: '2s', exit_code: 1 }, RestartPolicy });
  await until(() => expect(runner.isDone).toBe(true), 100);
  expect(reports.find(({ ClientStatus }) => ClientStatus === 'failed')).toMatchObject({
    DeploymentStatus: { Healthy: false },
  });
  expect(runner.taskState('app')?.Events?.at(-1)).toMatchObject({
    Type: 'Alloc Unhealthy',
    DisplayMessage: 'Unhealthy because the task failed',
  });
});

test('that is not reached in time is reported with the reason', async () => {
  const RestartPolicy = { ...testPolicy, Delay: 600e9 };
  await run({}, { Config: { run_for: '1s', exit_code: 1 }, RestartPolicy });
  await until(() => expect(health()).toBe(false), 1_000);
  expect(runner.taskState('app')?.Events?.at(-1)).toMatchObject({
    Type: 'Alloc Unhealthy',
    DisplayMessage: 'Task not running by the healthy_deadline of 1m0s',
  });
  expect(runner.report.ClientStatus).toBe('pending');
});

test('is not judged for an allocation that is to stop', async () => {
  await run();
  await until(isRunning);
  runner.update({ ...runner.allocation, DesiredStatus: 'stop', AllocModifyIndex: 2 });
  await until(() => expect(runner.report.ClientStatus).toBe('complete'));
  await world.advance(600_000);
  expect(health()).toBeNull();
});

test('is judged anew when the unchanged allocation joins another deployment', async () => {
  await run();
  await until(isRunning);
  await world.advance(10_000);
  expect(health()).toBe(true);
  runner.update({ ...runner.allocation, DeploymentID: 'd2', AllocModifyIndex: 2 });
  expect(runner.report).toMatchObject({ DeploymentStatus: null, DeploymentID: 'd2' });
  await world.advance(10_000);
  expect(reports.at(-1)).toMatchObject({
    DeploymentStatus: { Healthy: true },
    DeploymentID: 'd2',
  });
});

test('survives the agent, and so does the elapsed time', async () => {
  await run();
  await until(isRunning);
  await world.advance(6_000);
  await runner.leave();
  const restarted = async () => {
    const [saved] = (await readSavedAllocations(dataDirectory)).saved;
    runner = new AllocationRunner(surroundings, saved!.allocation, saved!.job, saved);
    await runner.restore();
  };
  await restarted();
  expect(health()).toBeNull();
  await until(() => expect(health()).toBe(true), 1_000);
  expect(runner.report.DeploymentStatus?.Timestamp).toMatch(/^2026-01-01T00:00:10/);
  await runner.leave();
  await restarted();
  expect(health()).toBe(true);
});

test('an allocation that the servers call unknown reports itself again', async () => {
  await run();
  await until(isRunning);
  reports = [];
  runner.update({ ...runner.allocation, ClientStatus: 'unknown', AllocModifyIndex: 2 });
  expect(reports.at(-1)).toMatchObject({ ClientStatus: 'running' });
  expect(runner.taskState('app')?.Events?.at(-1)?.Type).toBe('Reconnected');
});
