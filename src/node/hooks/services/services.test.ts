/** Services and checks of an allocation, with real runners in simulated time. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
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
import type { Driver, DriverExec } from '../../drivers/driver.ts';
import { MockDriver } from '../../drivers/mock.test-helper.ts';
import { eventually } from '../../eventually.test-helper.ts';
import { testAllocation, testJob } from '../../records.test-helper.ts';
import { NodeServices } from './node-services.ts';
import type { Probe } from './probes/probe.ts';
import { realProbe } from './probes/real-probe.ts';

let dataDirectory: string;
let world: SimulatedWorld;
let driver: MockDriver;
let runner: AllocationRunner | undefined;
let services: NodeServices;
/** The last report to the servers, and the number of reports. */
let told: readonly ToldService[];
let batches: number;
/** The results of checks, and the times (ms) of their runs. */
let outcome: CheckOutcome;
let probedAt: number[];
let notices: string[];

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

const plainProbe: Probe = async () => {
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

const port = { Label: 'http', Value: 25_001, To: 8080, HostIP: '10.0.0.7', HostNetwork: '' };
const AllocatedResources = {
  Tasks: {},
  TaskLifecycles: {},
  Shared: { DiskMB: 0, Networks: null, Ports: [port] },
};
const check: Input<Check> = {
  Name: 'alive',
  Type: 'tcp',
  Interval: 10e9,
  Timeout: 2e9,
};
const web: Input<Service> = { Name: 'web', PortLabel: 'http' };
const completed = (service: Input<Service>): Service => complete(ServiceSchema, service);

interface Wanted {
  readonly group?: readonly Input<Service>[];
  readonly task?: Input<Task>;
  readonly allocation?: Input<Allocation>;
  readonly update?: object;
  readonly driver?: Driver;
}

function jobOf({ group = [], task = {}, update }: Wanted): Job {
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

const allocationOf = (fields: Input<Allocation> = {}) =>
  testAllocation({ AllocatedResources, ...fields });

async function run(wanted: Wanted): Promise<void> {
  runner = new AllocationRunner(
    surroundingsOf(wanted),
    allocationOf(wanted.allocation),
    jobOf(wanted),
  );
  await runner.start();
  await until(() => expect(runner!.report.ClientStatus).toBe('running'));
}

/**
 * Waits in real time for writes of files, and advances the simulated time by `stepMs` at each try.
 */
const until = (look: () => void, stepMs = 0) =>
  eventually(async () => {
    await world.advance(stepMs);
    look();
  });

const state = () => runner!.report.TaskStates.app!;
const events = () => state().Events!.map(({ Type }) => Type);
const results = () => Object.values(services.resultsOf(runner!.id) ?? {});
const names = () => told.map(({ ServiceName }) => ServiceName);

test('a service is registered with all its fields, with references resolved', async () => {
  const Tags = ['v1', '${ROSTER_ALLOC_INDEX}', '${node.unique.name}', '${UNKNOWN}'];
  const Meta = { place: '${node.datacenter}${ROSTER_GROUP_NAME}' };
  await run({ group: [{ ...web, Tags, Meta }], task: { Services: [{ Name: 'own' }] } });
  await until(() => expect(names()).toEqual(['web', 'own']), 10);
  expect(told[0]).toEqual({
    ID: `${runner!.id}-group-web-http`,
    ServiceName: 'web',
    TaskName: '',
    Address: '10.0.0.7',
    Port: 25_001,
    Status: 'unchecked',
    Tags: ['v1', '2', 'alpha', '${UNKNOWN}'],
    Meta: { place: 'dc1servers' },
    TaggedAddresses: null,
    Weights: null,
  });
  expect(told[1]).toMatchObject({ TaskName: 'app', Address: '10.0.0.7', Port: 0 });
  expect(batches).toBe(1);
});

test.each([
  [
    'a number with a mode that takes one',
    { PortLabel: '9000', AddressMode: 'driver' },
    '10.0.0.7:9000',
  ],
  [
    'an address of its own',
    { Address: 'lb.${node.unique.name}.example' },
    'lb.alpha.example:25001',
  ],
])('the address is %s', async (_name, fields, address) => {
  await run({ task: { Services: [{ ...web, ...fields }] } });
  await until(() => expect(told.map((one) => `${one.Address}:${one.Port}`)).toEqual([address]), 10);
});

test('an allocation with its own network has its address there', async () => {
  const NetworkStatus = { Address: '172.26.0.4' };
  await run({ group: [{ ...web, AddressMode: 'alloc' }], allocation: { NetworkStatus } });
  await until(() => expect(told).toMatchObject([{ Address: '172.26.0.4', Port: 8080 }]), 10);
});

test('a service that cannot be registered is reported once, and keeps no other from it', async () => {
  const group = [{ ...web, Name: 'no such ${UNKNOWN}' }, { ...web, PortLabel: '${LATE}' }, web];
  await run({ group });
  await until(() => expect(names()).toEqual(['web']), 10);
  await world.advance(60_000);
  expect(notices).toHaveLength(2);
  expect(notices[0]).toContain('the service "no such ${UNKNOWN}" cannot be registered');
  expect(notices[1]).toContain('the allocation has no port "${LATE}"');
});

test('a canary has its own tags until it is promoted', async () => {
  const group = [{ ...web, Tags: ['live'], CanaryTags: ['canary'] }];
  await run({ group, allocation: { DeploymentStatus: { Canary: true } } });
  await until(() => expect(told).toMatchObject([{ Tags: ['canary'] }]), 10);
  runner!.update(allocationOf({ DeploymentStatus: { Canary: false } }), jobOf({ group }));
  await until(() => expect(told).toMatchObject([{ Tags: ['live'] }]), 10);
});

test('a service is deregistered while its task does not run', async () => {
  await run({ group: [web], task: { Config: { run_for: '60s', exit_code: 1 } } });
  await until(() => expect(names()).toEqual(['web']), 10);
  await until(() => expect(state().Restarts).toBe(1), 1000);
  await until(() => expect(names()).toEqual([]), 10);
  await until(() => expect(names()).toEqual(['web']), 1000);
});

test('a service is deregistered before the shutdown delay begins', async () => {
  await run({ group: [web], task: { Services: [{ Name: 'own' }], ShutdownDelay: 30e9 } });
  await until(() => expect(names()).toEqual(['web', 'own']), 10);
  void runner!.stop();
  await until(() => expect(events()).toContain('Waiting for shutdown delay'), 10);
  expect(told).toEqual([]);
  expect(driver.running).toHaveLength(1);
});

test('an update in place registers changes, and leaves running checks alone', async () => {
  const before = [{ ...web, Checks: [check] }];
  await run({ group: before });
  await until(() => expect(told).toMatchObject([{ Status: 'passing' }]), 100);
  const [since] = results().map(({ Timestamp }) => Timestamp);
  const group = [
    { ...web, Tags: ['new'], Checks: [check] },
    { ...web, Name: 'other' },
  ];
  runner!.update(allocationOf(), jobOf({ group }));
  await until(() => expect(names()).toEqual(['web', 'other']), 10);
  expect(told[0]).toMatchObject({ Tags: ['new'], Status: 'passing' });
  expect(results()).toMatchObject([{ Status: 'passing', Timestamp: since }]);
  runner!.update(allocationOf(), jobOf({ group: [] }));
  await until(() => expect(names()).toEqual([]), 10);
  expect(results()).toEqual([]);
});

test('checks begin at different times, repeat at their interval, and end with their task', async () => {
  await run({ group: [{ ...web, Checks: [check, { ...check, Name: 'other' }] }] });
  const beganMs = world.clock.monotonicMs();
  await world.advance(31_000);
  const first = probedAt.slice(0, 2).map((atMs) => atMs - beganMs);
  expect(Math.max(...first)).toBeLessThanOrEqual(1000);
  expect(first[0]).not.toBe(first[1]);
  expect(probedAt).toHaveLength(8);
  expect(probedAt[6]! - probedAt[0]!).toBe(30_000);
  void runner!.stop();
  await until(() => expect(state().State).toBe('dead'), 100);
  const count = probedAt.length;
  await world.advance(60_000);
  expect(probedAt).toHaveLength(count);
});

test('an instance has the status of its worst check, and is reported only when that changes', async () => {
  await run({ group: [{ ...web, Checks: [check] }] });
  await until(() => expect(told).toMatchObject([{ Status: 'passing' }]), 100);
  const count = batches;
  await world.advance(300_000);
  expect(batches).toBe(count);
  outcome = 'critical';
  await world.advance(11_000);
  expect(told).toMatchObject([{ Status: 'critical' }]);
  expect(results()).toMatchObject([
    { Status: 'critical', Output: 'it is critical', Failures: 1, Mode: 'healthiness' },
  ]);
});

test('a hanging check ends at its timeout, and others go on', async () => {
  const aborted: boolean[] = [];
  services = newServices(async (wish) => {
    if (wish.check.Name !== 'hangs') return plainProbe(wish);
    wish.signal.addEventListener('abort', () => aborted.push(true));
    return new Promise(() => {});
  });
  await run({ group: [{ ...web, Checks: [{ ...check, Name: 'hangs' }, check] }] });
  await world.advance(3100);
  expect(aborted).toEqual([true]);
  expect(results().map(({ Check, Status, Output }) => [Check, Status, Output])).toEqual([
    ['hangs', 'critical', 'no answer within 2s'],
    ['alive', 'passing', 'it is passing'],
  ]);
  await world.advance(10_000);
  expect(aborted).toHaveLength(2);
});

test('an error of a probe is reported up to a bound', async () => {
  services = newServices(async () => {
    throw new Error('x'.repeat(10_000));
  });
  await run({ group: [{ ...web, Checks: [check] }] });
  await until(() => expect(results()).toMatchObject([{ Status: 'critical' }]), 100);
  expect(results()[0]!.Output).toBe('x'.repeat(4096));
});

test.each([
  ['', 'pending'],
  ['passing', 'passing'],
  ['warning', 'warning'],
  ['critical', 'critical'],
] as const)(
  'before the first check with InitialStatus %j the instance is %s',
  async (InitialStatus, Status) => {
    services = newServices(() => new Promise(() => {}));
    await run({ group: [{ ...web, Checks: [{ ...check, InitialStatus }] }] });
    await until(() => expect(told).toMatchObject([{ Status }]), 10);
  },
);

test('failures after the grace time restart the task, and count as its failures', async () => {
  const CheckRestart = { Limit: 3, Grace: 25e9, IgnoreWarnings: false };
  outcome = 'critical';
  await run({ group: [{ ...web, Checks: [{ ...check, CheckRestart }] }] });
  // Runs at about 1, 11 and 21 s, within the grace time; then at 31, 41 and 51 s.
  await world.advance(50_000);
  expect(events()).not.toContain('Restart Signaled');
  await until(() => expect(events()).toContain('Restarting'), 500);
  const restart = state().Events!.find(({ Type }) => Type === 'Restart Signaled');
  expect(restart!.DisplayMessage).toBe(
    'Check "alive" of the service "web" failed 3 times in a row',
  );
  await until(() => expect(driver.started).toHaveLength(2), 1000);
  outcome = 'passing';
  await world.advance(300_000);
  expect(driver.started).toHaveLength(2);
});

test('a task that keeps failing its check is given up by its restart policy', async () => {
  const CheckRestart = { Limit: 1, Grace: 0, IgnoreWarnings: false };
  outcome = 'critical';
  await run({ task: { Services: [{ ...web, Checks: [{ ...check, CheckRestart }] }] } });
  await until(() => expect(state()).toMatchObject({ State: 'dead', Failed: true }), 1000);
  expect(driver.started).toHaveLength(3);
});

test('ignored warnings restart nothing', async () => {
  const CheckRestart = { Limit: 1, Grace: 0, IgnoreWarnings: true };
  outcome = 'warning';
  await run({ group: [{ ...web, Checks: [{ ...check, CheckRestart }] }] });
  await world.advance(300_000);
  expect(driver.started).toHaveLength(1);
});

const update = { HealthCheck: 'checks', MinHealthyTime: 30e9, HealthyDeadline: 120e9 };
const deployed = { DeploymentID: 'd1' };
const health = () => runner!.report.DeploymentStatus?.Healthy ?? null;

test('an allocation is healthy once its checks have passed for the whole time', async () => {
  outcome = 'critical';
  await run({ group: [{ ...web, Checks: [check] }], allocation: deployed, update });
  await world.advance(45_000);
  expect(health()).toBe(null);
  outcome = 'passing';
  await world.advance(25_000);
  // A failure begins the time anew.
  outcome = 'critical';
  await world.advance(10_000);
  outcome = 'passing';
  await world.advance(30_000);
  expect(health()).toBe(null);
  await world.advance(10_500);
  expect(health()).toBe(true);
});

test('an allocation is unhealthy when its checks do not pass by the deadline, and names them', async () => {
  outcome = 'critical';
  await run({ group: [{ ...web, Checks: [check] }], allocation: deployed, update });
  await world.advance(119_000);
  expect(health()).toBe(null);
  await world.advance(1500);
  expect(health()).toBe(false);
  const event = state().Events!.find(({ Type }) => Type === 'Alloc Unhealthy');
  expect(event!.DisplayMessage).toBe(
    'Check "alive" of the service "web" not passing by the healthy_deadline of 2m0s',
  );
});

test.each([
  ['checks that are ignored', { OnUpdate: 'ignore' }, update, 'critical'],
  ['warnings that are ignored', { OnUpdate: 'ignore_warnings' }, update, 'warning'],
  ['task states alone', {}, { ...update, HealthCheck: 'task_states' }, 'critical'],
] as const)('%s do not keep it from being healthy', async (_name, fields, how, comes) => {
  outcome = comes;
  const group = [{ ...web, Checks: [{ ...check, ...fields }] }];
  await run({ group, allocation: deployed, update: how });
  await world.advance(35_000);
  expect(health()).toBe(true);
});

test('the first check is waited for even without a minimum time', async () => {
  services = newServices(() => new Promise(() => {}));
  const group = [{ ...web, Checks: [check] }];
  await run({ group, allocation: deployed, update: { ...update, MinHealthyTime: 0 } });
  await world.advance(20_000);
  expect(health()).toBe(null);
});

test('an agent that takes up an allocation deregisters nothing, and reports everything once it is known', async () => {
  const wanted = { group: [{ ...web, Checks: [check] }] };
  await run(wanted);
  await until(() => expect(told).toMatchObject([{ Status: 'passing' }]), 100);
  await runner!.leave();
  batches = 0;
  services = newServices(plainProbe, true);
  const { saved } = await readSavedAllocations(dataDirectory);
  const [entry] = saved;
  runner = new AllocationRunner(surroundingsOf(wanted), entry!.allocation, entry!.job, entry);
  await runner.restore();
  services.noteRestored();
  await until(() => expect(batches).toBe(1), 100);
  expect(told).toMatchObject([{ ServiceName: 'web', Status: 'passing' }]);
});

test('an agent that finds a task ended deregisters its services', async () => {
  await run({ group: [web], task: { Config: { run_for: '60s', exit_code: 1 } } });
  await until(() => expect(names()).toEqual(['web']), 10);
  await runner!.leave();
  await world.advance(60_000);
  services = newServices(plainProbe, true);
  const [entry] = (await readSavedAllocations(dataDirectory)).saved;
  runner = new AllocationRunner(surroundingsOf({}), entry!.allocation, entry!.job, entry);
  await runner.restore();
  services.noteRestored();
  await until(() => expect(names()).toEqual([]), 10);
});

test('an agent that ends with its tasks deregisters their services first', async () => {
  await run({ group: [web] });
  await until(() => expect(names()).toEqual(['web']), 10);
  const done = services.withdraw();
  await until(() => expect(names()).toEqual([]), 10);
  await done;
  expect(driver.running).toHaveLength(1);
});

/** A driver whose tasks run commands with a given output and exit code. */
function execDriver(answer: { exitCode: number; lines: readonly string[] }, commands: string[][]) {
  return Object.assign(new MockDriver(world), {
    exec: async (_runId: string, { command }: { command: readonly string[] }) => {
      commands.push([...command]);
      return {
        output: (async function* () {
          for (const line of answer.lines) {
            yield { stream: 'stdout' as const, data: new TextEncoder().encode(line) };
          }
        })(),
        exited: Promise.resolve({ exitCode: answer.exitCode }),
        write: async () => {},
        closeInput: () => {},
        resize: () => {},
        close: () => {},
      } satisfies DriverExec;
    },
  });
}

test.each([
  [0, 'passing', 'fine'],
  [1, 'warning', 'exit code 1: fine'],
  [2, 'critical', 'exit code 2: fine'],
])('a script that ends with %i is %s', async (exitCode, Status, Output) => {
  services = newServices(realProbe);
  const commands: string[][] = [];
  const script = { ...check, Type: 'script', Command: '/bin/look', Args: ['${ROSTER_TASK_NAME}'] };
  await run({
    task: { Services: [{ ...web, Checks: [script] }] },
    driver: execDriver({ exitCode, lines: ['fi', 'ne\n'] }, commands),
  });
  await until(() => expect(results()).toMatchObject([{ Status, Output }]), 100);
  expect(commands[0]).toEqual(['/bin/look', 'app']);
});

test('a driver that runs no commands says so', async () => {
  services = newServices(realProbe);
  const script = { ...check, Type: 'script', Command: '/bin/look' };
  const mute = Object.assign(new MockDriver(world), { exec: undefined });
  await run({
    task: { Services: [{ ...web, Checks: [script] }] },
    driver: mute as unknown as MockDriver,
  });
  const Output = 'the driver of the task "app" runs no commands in it';
  await until(() => expect(results()).toMatchObject([{ Status: 'critical', Output }]), 100);
});
