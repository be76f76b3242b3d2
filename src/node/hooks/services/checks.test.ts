/** Checks of services and the health that they give, with real runners in simulated time. */
import { expect, test } from 'vitest';
import type { DriverExec } from '../../drivers/driver.ts';
import { MockDriver } from '../../drivers/mock.ts';
import { realProbe } from './probes/real-probe.ts';
import {
  batches,
  check,
  driver,
  events,
  plainProbe,
  probedAt,
  results,
  run,
  runner,
  setOutcome,
  state,
  told,
  until,
  useServices,
  web,
  world,
} from './services.test-helper.ts';

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
  // Less than the time after which a node repeats its reports.
  await world.advance(120_000);
  expect(batches).toBe(count);
  setOutcome('critical');
  await world.advance(11_000);
  expect(told).toMatchObject([{ Status: 'critical' }]);
  expect(results()).toMatchObject([
    { Status: 'critical', Output: 'it is critical', Failures: 1, Mode: 'healthiness' },
  ]);
});

test('a hanging check ends at its timeout, and others go on', async () => {
  const aborted: boolean[] = [];
  useServices(async (wish) => {
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
  useServices(async () => {
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
    useServices(() => new Promise(() => {}));
    await run({ group: [{ ...web, Checks: [{ ...check, InitialStatus }] }] });
    await until(() => expect(told).toMatchObject([{ Status }]), 10);
  },
);

test('failures after the grace time restart the task, and count as its failures', async () => {
  const CheckRestart = { Limit: 3, Grace: 25e9, IgnoreWarnings: false };
  setOutcome('critical');
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
  setOutcome('passing');
  await world.advance(300_000);
  expect(driver.started).toHaveLength(2);
});

test('a task that keeps failing its check is given up by its restart policy', async () => {
  const CheckRestart = { Limit: 1, Grace: 0, IgnoreWarnings: false };
  setOutcome('critical');
  await run({ task: { Services: [{ ...web, Checks: [{ ...check, CheckRestart }] }] } });
  await until(() => expect(state()).toMatchObject({ State: 'dead', Failed: true }), 1000);
  expect(driver.started).toHaveLength(3);
});

test('ignored warnings restart nothing', async () => {
  const CheckRestart = { Limit: 1, Grace: 0, IgnoreWarnings: true };
  setOutcome('warning');
  await run({ group: [{ ...web, Checks: [{ ...check, CheckRestart }] }] });
  await world.advance(300_000);
  expect(driver.started).toHaveLength(1);
});

const update = { HealthCheck: 'checks', MinHealthyTime: 30e9, HealthyDeadline: 120e9 };
const deployed = { DeploymentID: 'd1' };
const health = () => runner!.report.DeploymentStatus?.Healthy ?? null;

test('an allocation is healthy once its checks have passed for the whole time', async () => {
  setOutcome('critical');
  await run({ group: [{ ...web, Checks: [check] }], allocation: deployed, update });
  await world.advance(45_000);
  expect(health()).toBe(null);
  setOutcome('passing');
  await world.advance(25_000);
  // A failure begins the time anew.
  setOutcome('critical');
  await world.advance(10_000);
  setOutcome('passing');
  await world.advance(30_000);
  expect(health()).toBe(null);
  await world.advance(10_500);
  expect(health()).toBe(true);
});

test('an allocation is unhealthy when its checks do not pass by the deadline, and names them', async () => {
  setOutcome('critical');
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
  setOutcome(comes);
  const group = [{ ...web, Checks: [{ ...check, ...fields }] }];
  await run({ group, allocation: deployed, update: how });
  await world.advance(35_000);
  expect(health()).toBe(true);
});

test('the first check is waited for even without a minimum time', async () => {
  useServices(() => new Promise(() => {}));
  const group = [{ ...web, Checks: [check] }];
  await run({ group, allocation: deployed, update: { ...update, MinHealthyTime: 0 } });
  await world.advance(20_000);
  expect(health()).toBe(null);
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
  useServices(realProbe);
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
  useServices(realProbe);
  const script = { ...check, Type: 'script', Command: '/bin/look' };
  const mute = Object.assign(new MockDriver(world), { exec: undefined });
  await run({
    task: { Services: [{ ...web, Checks: [script] }] },
    driver: mute as unknown as MockDriver,
  });
  const Output = 'the driver of the task "app" runs no commands in it';
  await until(() => expect(results()).toMatchObject([{ Status: 'critical', Output }]), 100);
});
