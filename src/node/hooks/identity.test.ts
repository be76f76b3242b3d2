import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { complete } from '../../model/complete.ts';
import { NodeRegistrationSchema } from '../../model/node/node.ts';
import type { Input } from '../../model/schema.ts';
import type { Task } from '../../model/task/task.ts';
import type { IdentityRequest } from '../../model/workload/identity-request.ts';
import { AllocationRunner } from '../allocation-runner/allocation-runner.ts';
import { readSavedAllocations } from '../allocation-runner/saved-allocation.ts';
import { MockDriver } from '../drivers/mock.ts';
import { eventually } from '../eventually.test-helper.ts';
import { testAllocation, testJob } from '../records.test-helper.ts';
import { IdentityRefusal, type IdentitySource } from '../workload/identity-source.ts';
import { identityHook } from './identity.ts';

const hourMs = 3_600_000;
let dataDirectory: string;
let world: SimulatedWorld;
let driver: MockDriver;
let runner: AllocationRunner;
let asked: IdentityRequest[];
let isRefused: boolean;

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'roster-identity-'));
  world = new SimulatedWorld(7);
  driver = new MockDriver(world);
  asked = [];
  isRefused = false;
  await readSavedAllocations(dataDirectory);
});
afterEach(async () => {
  await runner.leave();
  await rm(dataDirectory, { recursive: true });
});

/** Issues `token 1 of cloud` and so on; only `default` does not expire. */
const source: IdentitySource = {
  issue: async (request) => {
    if (isRefused) throw new IdentityRefusal('the allocation has ended');
    asked.push(request);
    const TTL = request.Name === 'default' ? 0 : hourMs * 1e6;
    return { ...request, Token: tokenOf(request.Name, asked.length), TTL, ExpirationTime: 0 };
  },
};
const tokenOf = (name: string, n: number) => `token ${n} of ${name}`;

function newRunner(task: Input<Task>): AllocationRunner {
  const surroundings = {
    world,
    dataDirectory,
    region: 'global',
    hostEnvironment: {},
    taskHooks: [identityHook(source)],
    allocationHooks: [],
    drivers: new Map([['mock', driver]]),
    node: () => complete(NodeRegistrationSchema, { ID: 'n1', Name: 'alpha' }),
    changed: () => {},
    onNotice: (sentence: string) => expect.fail(sentence),
  };
  return new AllocationRunner(surroundings, testAllocation(), testJob([{ Name: 'app', ...task }]));
}
async function run(task: Input<Task>): Promise<void> {
  runner = newRunner(task);
  await runner.start();
}
const until = (check: () => unknown, stepMs = 0) =>
  eventually(async () => {
    await world.advance(stepMs);
    await check();
  });
const running = (n = 1) => until(() => expect(driver.started).toHaveLength(n));
const started = () => driver.started.at(-1)!;
const file = (path: string) => join(runner.directories.root, 'app', path);
const text = (path: string) => readFile(file(path), 'utf8');
const events = () => runner.report.TaskStates.app!.Events!.map(({ Type }) => Type);
const cloud = { Name: 'cloud', Audience: ['cloud.example'], TTL: hourMs * 1e6 };

test.each<[string, Input<Task>, Record<string, string>, Record<string, string>]>([
  [
    'the default one, both ways',
    { Identity: { Env: true, File: true } },
    { ROSTER_TOKEN: tokenOf('default', 1) },
    { 'secrets/roster_token': tokenOf('default', 1) },
  ],
  [
    'one with a name, in a file of its own',
    {
      Identities: [{ ...cloud, Env: true, File: true, Filepath: 'local/${ROSTER_TASK_NAME}.jwt' }],
    },
    { ROSTER_TOKEN_cloud: tokenOf('cloud', 1) },
    { 'local/app.jwt': tokenOf('cloud', 1) },
  ],
  [
    'one with a name, in the file that it has by itself',
    { Identities: [{ ...cloud, File: true }] },
    {},
    { 'secrets/roster_token_cloud': tokenOf('cloud', 1) },
  ],
  ['nothing that is not asked for', { Identity: {}, Identities: [cloud] }, {}, {}],
])('a task gets %s', async (_, task, variables, files) => {
  await run(task);
  await running();
  const given = Object.entries(started().variables);
  const tokens = given.filter(([name]) => name.startsWith('ROSTER_TOKEN'));
  expect(Object.fromEntries(tokens)).toEqual(variables);
  for (const [path, token] of Object.entries(files)) {
    expect(await text(path)).toBe(token);
    expect((await stat(file(path))).mode & 0o777).toBe(0o600);
  }
  expect(asked).toHaveLength(Object.keys({ ...variables, ...files }).length > 0 ? 1 : 0);
  expect(JSON.stringify(runner.report)).not.toContain('token 1');
});

test('a token is renewed at about half its life, in its file and for the next run', async () => {
  await run({ Identities: [{ ...cloud, Env: true, File: true }] });
  await running();
  await world.advance(hourMs * 0.44);
  expect(asked).toHaveLength(1);
  await world.advance(hourMs * 0.12);
  await until(async () =>
    expect(await text('secrets/roster_token_cloud')).toBe(tokenOf('cloud', 2)),
  );
  expect(driver.started).toHaveLength(1);
  await runner.restart({ task: 'app', all: false });
  await running(2);
  expect(started().variables.ROSTER_TOKEN_cloud).toBe(tokenOf('cloud', 2));
  expect(asked).toHaveLength(2);
});

test.each([
  ['noop', '', 1, [] as string[]],
  ['restart', '', 2, ['Restart Signaled']],
  ['signal', 'SIGHUP', 1, ['Signaling']],
])('with the change mode %s', async (ChangeMode, ChangeSignal, runs, told) => {
  await run({ Identities: [{ ...cloud, File: true, ChangeMode, ChangeSignal }] });
  await running();
  await until(() => expect(runner.report.TaskStates.app!.State).toBe('running'));
  await world.advance(hourMs * 0.56);
  await until(() => expect(asked).toHaveLength(2));
  await running(runs);
  await until(() => expect(events()).toEqual(expect.arrayContaining(told)));
  if (told.length === 0) expect(events()).toEqual(['Received', 'Task Setup', 'Started']);
});

test('a refused identity keeps the task from starting, with an event', async () => {
  isRefused = true;
  await run({ Identity: { Env: true } });
  await until(() => expect(events()).toContain('Not Restarting'));
  expect(runner.report.TaskStates.app!.Events!.at(-2)).toMatchObject({
    Type: 'Task hook failed',
    DisplayMessage: 'identity: the identity "default" is refused: the allocation has ended',
  });
  expect(driver.started).toEqual([]);
});

test('no tokens are fetched for an ended task', async () => {
  await run({ Identities: [{ ...cloud, Env: true }] });
  await running();
  void runner.stop();
  await until(() => expect(runner.isDone).toBe(true), 1000);
  await world.advance(2 * hourMs);
  expect(asked).toHaveLength(1);
  expect(world.pendingTimers).toBe(0);
});

test('no link that a task left is followed', async () => {
  await run({ Identities: [{ ...cloud, File: true }] });
  await running();
  const outside = join(dataDirectory, 'outside');
  await writeFile(outside, 'as it was');
  await rm(file('secrets/roster_token_cloud'));
  await symlink(outside, file('secrets/roster_token_cloud'));
  await world.advance(hourMs * 0.56);
  await until(async () =>
    expect(await text('secrets/roster_token_cloud')).toBe(tokenOf('cloud', 2)),
  );
  expect(await readFile(outside, 'utf8')).toBe('as it was');
});
