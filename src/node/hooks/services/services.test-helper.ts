/** An allocation with services and checks, and with its runner and tasks in simulated time. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import type { Allocation } from '../../../model/allocation/allocation.ts';
import type { CheckOutcome } from '../../../model/check-result/check-rules.ts';
import { complete } from '../../../model/complete.ts';
import type { Job } from '../../../model/job/job.ts';
import { NodeRegistrationSchema } from '../../../model/node/node.ts';
import type { Input } from '../../../model/schema.ts';
import type { Check } from '../../../model/service/check.ts';
import { type Service, ServiceSchema } from '../../../model/service/service.ts';
import type { ToldService } from '../../../model/service-registration/service-registration.ts';
import type { Task } from '../../../model/task/task.ts';
import { UpdateStrategySchema } from '../../../model/task-group/policies.ts';
import { AllocationRunner } from '../../allocation-runner/allocation-runner.ts';
import { readSavedAllocations } from '../../allocation-runner/saved-allocation.ts';
import type { Driver } from '../../drivers/driver.ts';
import { MockDriver } from '../../drivers/mock.ts';
import { eventually } from '../../eventually.test-helper.ts';
import { testAllocation, testJob } from '../../records.test-helper.ts';
import { NodeServices } from './node-services.ts';
import type { Probe } from './probes/probe.ts';

let dataDirectory: string;
export let world: SimulatedWorld;
export let driver: MockDriver;
export let runner: AllocationRunner | undefined;
export let services: NodeServices;
/** The last report to the servers, and the number of reports. */
export let told: readonly ToldService[];
export let batches: number;
/** The results of checks, and the times (ms) of their runs. */
let outcome: CheckOutcome;
export let probedAt: number[];
export let notices: string[];

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'roster-services-'));
  world = new SimulatedWorld(7);
  driver = new MockDriver(world);
  [told, batches, outcome, probedAt, notices] = [[], 0, 'passing', [], []];
  services = newServices();
  await readSavedAllocations(dataDirectory);
});

afterEach(async () => {
  await runner?.leave();
  await rm(dataDirectory, { recursive: true });
});

export const plainProbe: Probe = async () => {
  probedAt.push(world.clock.monotonicMs());
  return { outcome, statusCode: 0, output: `it is ${outcome}` };
};

function newServices(probe: Probe = plainProbe, isRestoring = false): NodeServices {
  const made = new NodeServices({
    timers: world.timers,
    random: world.random,
    probe,
    send: async ([report]) => {
      batches++;
      told = report!.Services;
    },
    onError: (error) => expect.fail(String(error)),
    onRefused: (_report, error) => expect.fail(String(error)),
  });
  if (!isRestoring) made.noteRestored();
  return made;
}

export const port = { Label: 'http', Value: 25_001, To: 8080, HostIP: '10.0.0.7', HostNetwork: '' };
const AllocatedResources = {
  Tasks: {},
  TaskLifecycles: {},
  Shared: { DiskMB: 0, Networks: null, Ports: [port] },
};
export const check: Input<Check> = {
  Name: 'alive',
  Type: 'tcp',
  Interval: 10e9,
  Timeout: 2e9,
};
export const web: Input<Service> = { Name: 'web', PortLabel: 'http' };
const completed = (service: Input<Service>): Service => complete(ServiceSchema, service);

interface Wanted {
  readonly group?: readonly Input<Service>[];
  readonly task?: Input<Task>;
  readonly allocation?: Input<Allocation>;
  readonly update?: object;
  readonly driver?: Driver;
}

export function jobOf({ group = [], task = {}, update }: Wanted): Job {
  const job = testJob([{ Name: 'app', ...task }]);
  const Update =
    update === undefined ? null : complete(UpdateStrategySchema, { MaxParallel: 1, ...update });
  const Services = group.map(completed);
  return { ...job, TaskGroups: job.TaskGroups.map((one) => ({ ...one, Services, Update })) };
}

const surroundingsOf = (with_: Wanted) => ({
  world,
  dataDirectory,
  region: 'global',
  hostEnvironment: {},
  taskHooks: [services.taskHook],
  allocationHooks: [services.allocationHook],
  drivers: new Map([['mock', with_.driver ?? driver]]),
  node: () =>
    complete(NodeRegistrationSchema, {
      ID: 'n1',
      Name: 'alpha',
      Attributes: { 'unique.network.ip-address': '10.0.0.7' },
    }),
  changed: () => {},
  onNotice: (sentence: string) => notices.push(sentence),
});

export const allocationOf = (fields: Input<Allocation> = {}) =>
  testAllocation({ AllocatedResources, ...fields });

export async function run(wanted: Wanted): Promise<void> {
  runner = new AllocationRunner(
    surroundingsOf(wanted),
    allocationOf(wanted.allocation),
    jobOf(wanted),
  );
  await runner.start();
  await until(() => expect(runner!.report.ClientStatus).toBe('running'));
}

/** The next agent takes the allocation up. */
export async function takeUp(wanted: Wanted): Promise<void> {
  const [entry] = (await readSavedAllocations(dataDirectory)).saved;
  runner = new AllocationRunner(surroundingsOf(wanted), entry!.allocation, entry!.job, entry);
  await runner.restore();
}

export function useServices(probe?: Probe, isRestoring?: boolean): void {
  services = newServices(probe, isRestoring);
}

export function setOutcome(next: CheckOutcome): void {
  outcome = next;
}

export function forgetBatches(): void {
  batches = 0;
}

/** Waits in real time for files, and advances the simulated time by `stepMs` at each try. */
export const until = (look: () => void, stepMs = 0) =>
  eventually(async () => {
    await world.advance(stepMs);
    look();
  });

export const state = () => runner!.report.TaskStates.app!;
export const events = () => state().Events!.map(({ Type }) => Type);
export const results = () => Object.values(services.resultsOf(runner!.id) ?? {});
export const names = () => told.map(({ ServiceName }) => ServiceName);
