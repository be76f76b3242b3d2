import { expect, test } from 'vitest';
import { type Handler, indexed, problem, type SeenRequest } from '../../sdk/server.test-helper.ts';
import { allocation, ids, second } from '../fixtures.test-helper.ts';
import { run } from '../harness.test-helper.ts';

const list = 'GET /v1/allocations';
const first = `GET /v1/allocation/${ids.first}`;
const logsPath = `/v1/client/fs/logs/${ids.first}`;

test('status lists the allocations', async () => {
  const server = { [list]: { json: [allocation(second), allocation()] } };
  expect((await run(['alloc', 'status'], { server })).stdout).toBe(
    `ID        Name          Node  Desired  Status   Changed
a0a0a0a0  web.front[0]  one   run      running  1m ago
a1a1a1a1  web.front[1]  one   run      running  1m ago
`,
  );
});

test('status of an allocation shows its ports, tasks and events', async () => {
  const server = {
    [list]: { json: [allocation()] },
    [first]: { json: allocation({ PreviousAllocation: ids.second }) },
    [`${first}/services`]: { json: [] },
  };
  const { stdout, seen } = await run(['alloc', 'status', 'A0A0A0A0'], { server });
  expect(seen[0]!.query).toMatchObject({ prefix: 'a0a0a0a0' });
  expect(stdout).toBe(`ID          a0a0a0a0-0000-4000-8000-000000000000
Name        web.front[0]
Job         web (version 2)
Namespace   default
Node        one (d0d0d0d0)
Evaluation  e1e1e1e1
Desired     run
Status      running (Tasks are running)
Created     1m5s ago
Changed     1m ago
Replaces    a1a1a1a1

Ports
Label  Address          To
http   127.0.0.1:20123  -
admin  [::1]:20124      8080

Task "server"
State     running
CPU       50 MHz
Memory    64 MB
Started   1m ago
Finished  -
Restarts  1

When      Event     What happened
1m ago    Started   Task started
1m2s ago  Received  Task received by the node
`);
});

test('status shows preempted allocations and devices', async () => {
  const Shared = { DiskMB: 300, Networks: null, Ports: null };
  const Devices = [{ Vendor: 'acme', Type: 'gpu', Name: 'a100', DeviceIDs: ['g1', 'g2'] }];
  const Cpu = { CpuShares: 50, ReservedCores: null };
  const server = { Cpu, Memory: { MemoryMB: 64, MemoryMaxMB: 0 }, Networks: null, Devices };
  const served = allocation({
    AllocatedResources: { Tasks: { server }, TaskLifecycles: { server: null }, Shared },
    PreemptedByAllocation: ids.second,
    PreemptedAllocations: [ids.second, ids.first],
  });
  const { stdout } = await run(['alloc', 'status', ids.first], {
    server: { [first]: { json: served }, [`${first}/services`]: { json: [] } },
  });
  expect(stdout).toMatch(/^Made way for +a1a1a1a1$/m);
  expect(stdout).toMatch(/^Evicted +a1a1a1a1, a0a0a0a0$/m);
  expect(stdout).toMatch(/^Device +acme\/gpu\/a100: g1, g2$/m);
});

test('-json is the record, and a whole id needs no list', async () => {
  const { stdout, seen } = await run(['alloc', 'status', '-json', ids.first], {
    server: { [first]: { json: allocation() } },
  });
  expect(JSON.parse(stdout)).toEqual(allocation());
  expect(seen).toHaveLength(1);
});

test.each([
  ['a0a0', [], 'Error: "a0a0" is too short: give at least 8 characters of the allocation\'s id.'],
  ['web.front', [], 'Error: "web.front" is not part of an id: give at least 8 characters'],
  ['a0a0a0a0', [], 'Error: There is no allocation "a0a0a0a0".\n"roster alloc status" lists them.'],
  [
    'a0a0a0a0',
    [allocation(), allocation(second)],
    `Error: "a0a0a0a0" fits 2 allocations. Give more of the id:\n  - ${ids.first}  web.front[0]\n  - ${ids.second}  web.front[1]\n`,
  ],
])('the id %s is explained', async (id, found, stderr) => {
  const ran = await run(['alloc', 'status', id], { server: { [list]: { json: found } } });
  expect(ran).toMatchObject({ exitCode: 1, stdout: '' });
  expect(ran.stderr).toContain(stderr);
});

/** Serves a log of ten lines, as the API cuts it. */
function logServer(log: string, follow?: (request: SeenRequest) => string): Handler {
  return (request) => {
    if (request.path !== logsPath) return indexed(1, allocation());
    const offset = Number(request.query.offset ?? 0);
    const text = request.query.origin === 'end' ? log.slice(log.length - offset) : log;
    const all = text + (request.query.follow === 'true' ? (follow?.(request) ?? '') : '');
    return { text: request.query.plain === 'true' ? all : frame(all) };
  };
}

const frame = (text: string, more: object = {}): string =>
  `${JSON.stringify({ File: 'alloc/logs/server.stdout.0', Offset: 0, Data: btoa(text), ...more })}\n{}\n`;

const log = Array.from({ length: 12 }, (_, line) => `line ${line}\n`).join('');
const tail = (lines: number) =>
  log
    .split(/(?<=\n)/)
    .slice(-lines)
    .join('');

test.each([
  ['all of it', [], log],
  ['its tail', ['-tail'], tail(10)],
  ['its last lines', ['-n', '2'], tail(2)],
  ['its last lines and later lines', ['-f', '-n', '2'], `${tail(2)}later\n`],
  ['all lines and later lines', ['-follow'], `${log}later\n`],
  ['its last bytes', ['-c', '5'], log.slice(-5)],
])('logs print %s', async (_, options, expected) => {
  const server = logServer(log, () => 'later\n');
  const ran = await run(['alloc', 'logs', ...options, ids.first], { server });
  expect(ran).toMatchObject({ exitCode: 0, stdout: expected, stderr: '' });
});

test.each([
  [[ids.first, 'side']],
  [['-task', 'side', ids.first]],
  [['-task', 'side', ids.first, 'side']],
])('logs of a named task and of standard error ask for just that', async (words) => {
  const server = logServer('oops\n');
  const { seen, stdout } = await run(['alloc', 'logs', '-stderr', ...words], { server });
  expect(stdout).toBe('oops\n');
  expect(seen).toHaveLength(1);
  expect(seen[0]!.query).toMatchObject({ task: 'side', type: 'stderr', origin: 'start' });
});

test('logs of an allocation with several tasks need the name of a task', async () => {
  const { server, client } = { server: {}, client: {} };
  const TaskStates = { server, client } as never;
  const answers = { [first]: { json: allocation({ TaskStates }) } };
  const { exitCode, stderr } = await run(['alloc', 'logs', ids.first], { server: answers });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('has 2 tasks: say which one after its id: "client", "server".');
});

test('logs of two tasks at once are refused', async () => {
  const { exitCode, stderr } = await run(['alloc', 'logs', '-task', 'a', ids.first, 'b']);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 1 });
  expect(stderr).toContain('-task names "a", and TASK "b".');
});

test('logs that are refused are explained', async () => {
  const refused = problem(503, 'node-unreachable', 'The node is not connected.');
  const server = { [first]: { json: allocation() }, [`GET ${logsPath}`]: refused };
  expect(await run(['alloc', 'logs', ids.first], { server })).toMatchObject({
    exitCode: 1,
    stderr: 'Error: The node is not connected.\n"roster node status" shows which nodes are up.\n',
  });
});

test('a wrong number of lines is refused', async () => {
  const { exitCode, stderr } = await run(['alloc', 'logs', '-n', 'x', ids.first]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('-n must be a number of lines from 0 to 999999, got "x".');
});

test('output that was deleted by rotation is reported on standard error', async () => {
  const text = `${frame('before\n')}${frame('after\n', { FileEvent: 'file deleted' })}`;
  const server = { [first]: { json: allocation() }, [`GET ${logsPath}`]: { text } };
  expect(await run(['alloc', 'logs', ids.first], { server })).toMatchObject({
    stdout: 'before\nafter\n',
    stderr:
      '[alloc/logs/server.stdout.0: output before this was rotated away before it could be read]\n',
  });
});

test.each([
  [['-n', '1', '-c', '1'], '-n and -c cannot be given together.'],
  [['-c', '1k'], '-c must be a number of bytes, got "1k".'],
])('logs with %j are refused', async (options, sentence) => {
  const { exitCode, stderr } = await run(['alloc', 'logs', ...options, ids.first]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(sentence)]);
});

/** Two pieces, and then silence. */
const endless: Handler = ({ path }) =>
  path === logsPath
    ? { write: (response) => void response.writeHead(200).write(frame('one\n')) }
    : indexed(1, allocation());

test('Ctrl-C ends -f with the exit code 130', async () => {
  const ran = await run(['alloc', 'logs', '-f', ids.first], {
    server: endless,
    onOutput: (_, interrupt) => interrupt(),
  });
  expect(ran).toMatchObject({ exitCode: 130, stdout: 'one\n', stderr: '' });
});

test('a closed output ends -f without an error', async () => {
  const ran = await run(['alloc', 'logs', '-f', ids.first], {
    server: endless,
    readerLeavesAfter: 1,
  });
  expect(ran).toMatchObject({ exitCode: 0, stdout: 'one\n', stderr: '' });
});
