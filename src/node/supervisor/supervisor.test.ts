import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Timers } from '../../base/ports.ts';
import { realWorld } from '../../base/ports-real.ts';
import { eventually } from '../eventually.test-helper.ts';
import { SupervisorClient, type SupervisorClientOptions } from './client.ts';
import { launchSupervisor } from './launch.ts';
import { makePrivateDirectory, supervisorPaths } from './paths.ts';
import { isAlive, isEnded, readStat } from './proc.ts';
import {
  lineReader,
  oldestProtocolVersion,
  protocolVersion,
  type StartRequest,
  type TaskStatus,
} from './protocol.ts';
import { writeTable } from './task-table.ts';

const { timers } = realWorld;

let dataDirectory: string;
let clients: SupervisorClient[];
/** Different in each run, as leftovers of tasks are searched for by it on the whole machine. */
let taskId: string;

beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'roster-sup-'));
  mkdirSync(join(dataDirectory, 'logs'));
  clients = [];
  taskId = `${realWorld.ids.uuid()}/web#1`;
});

afterEach(async () => {
  const last = clients.at(-1);
  if (last !== undefined) {
    await last.connect().catch(() => {});
    await last.shutdown('SIGKILL', 100);
  }
  rmSync(dataDirectory, { recursive: true, force: true });
});

function newClient(options: Partial<SupervisorClientOptions> = {}): SupervisorClient {
  const client = new SupervisorClient({
    dataDirectory,
    endWithAgent: false,
    timers,
    random: realWorld.random,
    ...options,
  });
  clients.push(client);
  return client;
}

function shell(script: string, change: Partial<StartRequest> = {}): StartRequest {
  const [allocId = ''] = taskId.split('/');
  return {
    taskId,
    allocId,
    taskName: 'web',
    command: '/bin/sh',
    args: ['-c', script],
    env: {
      PATH: '/usr/bin:/bin',
      ROSTER_ALLOC_ID: allocId,
      ROSTER_TASK_NAME: 'web',
    },
    directory: dataDirectory,
    user: '',
    logs: {
      directory: join(dataDirectory, 'logs'),
      name: 'web',
      maxFiles: 2,
      maxFileBytes: 1_000_000,
      disabled: false,
    },
    ...change,
  };
}

const log = (stream = 'stdout') =>
  readFileSync(join(dataDirectory, 'logs', `web.${stream}.0`), 'utf8');

const alive = ({ pid, startTime }: TaskStatus) => isAlive(pid, startTime);

/** Short, for waits that must fail. */
const hurriedWhile = (isInVain: () => boolean): Timers => ({
  ...timers,
  after: (delayMs, run) => timers.after(isInVain() ? Math.min(delayMs, 1) : delayMs, run),
});

describe('a task', () => {
  test.each([
    ['ends by itself', 'exit 0', { exitCode: 0, signal: 0 }],
    ['fails', 'exit 7', { exitCode: 7, signal: 0 }],
    ['is ended by a signal', 'kill -9 $$', { exitCode: 137, signal: 9 }],
  ])('%s', async (_name, script, exit) => {
    const client = newClient();
    await client.start(shell(script));
    expect(await client.exitOf(taskId)).toMatchObject(exit);
  });

  test('has its output in its files when its exit is reported', async () => {
    const client = newClient();
    await client.start(shell('echo out; echo err >&2; echo again > /dev/stdout'));
    await client.exitOf(taskId);
    expect([log(), log('stderr')]).toEqual(['out\nagain\n', 'err\n']);
  });

  test('gets its signals', async () => {
    const client = newClient();
    await client.start(
      shell('trap "echo got; exit 3" USR1; echo ready; while :; do sleep 0.02; done'),
    );
    await eventually(() => expect(log()).toBe('ready\n'));
    expect(await client.signal(taskId, 'SIGUSR1')).toBe(true);
    expect(await client.exitOf(taskId)).toMatchObject({ exitCode: 3 });
    expect(log()).toBe('ready\ngot\n');
    expect(await client.signal(taskId, 'SIGUSR1')).toBe(false);
  });

  test('that ignores its kill signal is killed after the timeout', async () => {
    const client = newClient();
    await client.start(shell('trap "" TERM; echo ready; while :; do sleep 0.02; done'));
    await eventually(() => expect(log()).toBe('ready\n'));
    await client.kill(taskId, 'SIGTERM', 50);
    expect(await client.exitOf(taskId)).toMatchObject({ signal: 9 });
  });

  test.each([
    ['its group', 'sleep 600 & echo $!'],
    ['its session', 'setsid sleep 600 & echo $!'],
    [
      'its session, its parents and its environment',
      'setsid -f env -i sh -c "echo \\$\\$; exec sleep 600"',
    ],
  ])('leaves nothing behind, also not what fled from %s', async (_name, fleeing) => {
    const client = newClient();
    const asItEnds = 'while ! [ -s logs/web.stdout.0 ]; do sleep 0.01; done; exit 0';
    await client.start(shell(`${fleeing}; ${asItEnds}`));
    await client.exitOf(taskId);
    const pid = Number(log());
    expect(pid).toBeGreaterThan(1);
    expect(isEnded(readStat(pid))).toBe(true);
  });

  test('is started once under one id, also during its start and after its end', async () => {
    const client = newClient();
    const request = shell('echo once; sleep 600');
    const [first, second] = await Promise.all([client.start(request), client.start(request)]);
    expect(second).toEqual(first);
    await eventually(() => expect(log()).toBe('once\n'));
    await client.kill(request.taskId, 'SIGTERM', 1000);
    await client.exitOf(request.taskId);
    expect(await client.start(request)).toMatchObject({ pid: first.pid, exit: { signal: 15 } });
    expect(log()).toBe('once\n');
  });

  test.each([
    ['a command that is not there', { command: '/no/such/command' }, /no such file/],
    ['a user that nobody knows', { user: 'nobody-knows-me' }, /no user "nobody-knows-me"/],
  ])('is refused with %s', async (_name, change, reason) => {
    const client = newClient();
    await expect(client.start(shell('exit 0', change))).rejects.toThrow(reason);
    expect(await client.connect()).toEqual([]);
  });
});

describe('an agent that leaves', () => {
  test('finds its tasks unchanged', async () => {
    const before = newClient();
    const started = await before.start(shell('sleep 600'));
    await before.close();
    const after = newClient();
    expect(await after.connect()).toEqual([started]);
    expect(after.pid).toBe(before.pid);
    expect(alive(started)).toBe(true);
  });

  test('learns of an exit meanwhile, until it forgets it', async () => {
    const before = newClient();
    const started = await before.start(shell('while [ ! -e go ]; do sleep 0.02; done; exit 5'));
    await before.close();
    mkdirSync(join(dataDirectory, 'go'));
    await eventually(() => expect(alive(started)).toBe(false));
    const after = newClient();
    await after.connect();
    expect(await after.exitOf(taskId)).toMatchObject({ exitCode: 5 });
    await after.forget(taskId);
    await after.close();
    expect(await newClient().connect()).toEqual([]);
  });

  test('ends its tasks if it keeps nothing', async () => {
    const client = newClient({ endWithAgent: true });
    const started = await client.start(shell('sleep 600'));
    const supervisor = { ...started, pid: client.pid, startTime: readStat(client.pid)!.startTime };
    await client.close();
    await eventually(() => expect([alive(started), alive(supervisor)]).toEqual([false, false]));
  });

  test('leaves an idle supervisor, which ends', async () => {
    const client = newClient({ idleTimeoutMs: 500 });
    await client.connect();
    const { pid } = client;
    await client.close();
    await eventually(() => expect(readStat(pid)?.state ?? 'Z').toBe('Z'));
  });
});

describe('a supervisor that is killed', () => {
  test('has a successor that ends its tasks and reports them as lost', async () => {
    const notices: string[] = [];
    const client = newClient({ onNotice: (sentence) => notices.push(sentence) });
    const started = await client.start(shell('sleep 600'));
    const first = client.pid;
    process.kill(first, 'SIGKILL');
    expect(await client.exitOf(taskId)).toMatchObject({
      signal: 9,
      lost: 'the supervisor of the task ended unexpectedly',
    });
    expect(alive(started)).toBe(false);
    await client.start(shell('sleep 600', { taskId: taskId.replace('#1', '#2') }));
    expect(client.pid).not.toBe(first);
    expect(notices).toHaveLength(1);
  });

  test('has one also while the agent is away', async () => {
    const before = newClient();
    const started = await before.start(shell('sleep 600'));
    await before.close();
    process.kill(before.pid, 'SIGKILL');
    const [status] = await newClient().connect();
    expect(status).toMatchObject({ taskId, exit: { signal: 9 } });
    expect(alive(started)).toBe(false);
  });

  test('or does not answer is ended and replaced', async () => {
    const before = newClient();
    const started = await before.start(shell('sleep 600'));
    await before.close();
    process.kill(before.pid, 'SIGSTOP');
    const after = newClient({ timers: hurriedWhile(() => !isEnded(readStat(before.pid))) });
    await after.connect();
    expect(after.pid).not.toBe(before.pid);
    expect(alive(started)).toBe(false);
  });
});

describe('a slow supervisor', () => {
  test('is kept by an agent that was itself stalled for the whole timeout', async () => {
    const before = newClient();
    const started = await before.start(shell('sleep 600'));
    await before.close();
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    const heldUp: Timers = {
      ...timers,
      after: (delayMs, run) => {
        const timer = timers.after(delayMs, run);
        Atomics.wait(sleeper, 0, 0, delayMs + 20);
        return timer;
      },
    };
    const after = newClient({ timers: heldUp });
    expect(await after.connect()).toEqual([started]);
    expect(after.pid).toBe(before.pid);
    expect(alive(started)).toBe(true);
  });
});

test('a supervisor that does not listen in time is ended, and the next one starts', async () => {
  const launched: number[] = [];
  const client = newClient({
    timers: hurriedWhile(() => launched.length < 2),
    launch: (options) => {
      // The first one never listens.
      const pid =
        launched.length > 0
          ? launchSupervisor(options)
          : spawn('/bin/sleep', ['600'], { stdio: 'ignore' }).pid!;
      launched.push(pid);
      return pid;
    },
  });
  await expect(client.connect()).rejects.toThrow('the supervisor did not start');
  expect(isEnded(readStat(launched[0]!))).toBe(true);
  await client.start(shell('sleep 600'));
  expect(client.pid).toBe(launched[1]);
});

describe('a supervisor of another version', () => {
  /** Knows the requests that never change, and ends its one task without an error. */
  async function other(version: number): Promise<readonly string[]> {
    const paths = supervisorPaths(dataDirectory);
    makePrivateDirectory(paths.directory);
    const [allocId = ''] = taskId.split('/');
    const task = { taskId, allocId, taskName: 'web', pid: 0, startTime: '' };
    const exit = { exitCode: 0, signal: 0, timeMs: 1 };
    const asked: string[] = [];
    const answers: Record<string, () => unknown> = {
      hello: () => ({ version, pid: process.pid }),
      list: () => [task],
      shutdown: () => {
        writeTable(paths.table, [{ ...task, exit }]);
        server.close();
        return true;
      },
    };
    const server = createServer((socket) => {
      const read = lineReader(
        ({ id, op }) => {
          asked.push(String(op));
          socket.write(`${JSON.stringify({ id, value: answers[String(op)]?.() ?? null })}\n`);
          if (op === 'shutdown') socket.end();
        },
        () => {},
      );
      socket.on('error', () => {}).on('data', read);
    });
    await new Promise<void>((resolve) => server.listen(paths.socket, resolve));
    return asked;
  }

  test.each([protocolVersion + 1, oldestProtocolVersion - 1])(
    '(%i) is replaced before any start, and its tasks are lost without counting as failed',
    async (version) => {
      const asked = await other(version);
      const notices: string[] = [];
      const client = newClient({ onNotice: (sentence) => notices.push(sentence) });
      const lost = 'the supervisor of the task was replaced by one of another version';
      expect(await client.connect()).toMatchObject([{ taskId, exit: { lost } }]);
      expect(asked).toEqual(['hello', 'list', 'shutdown']);
      expect(notices).toEqual([
        `the running supervisor speaks version ${version} of the protocol, this agent ` +
          `${oldestProtocolVersion} to ${protocolVersion}: its tasks are ended and start again`,
      ]);
      const next = await client.start(shell('sleep 600', { taskId: taskId.replace('#1', '#2') }));
      expect(alive(next)).toBe(true);
    },
  );
});

describe('the socket', () => {
  test('and the table are this user’s alone', async () => {
    await newClient().connect();
    const { directory, socket, table } = supervisorPaths(dataDirectory);
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect([mode(directory), mode(socket), mode(table)]).toEqual(['700', '600', '600']);
  });

  test('of a long data directory is elsewhere, and is removed with its directory', async () => {
    dataDirectory = join(dataDirectory, 'x'.repeat(120));
    mkdirSync(join(dataDirectory, 'logs'), { recursive: true });
    const client = newClient();
    await client.start(shell('exit 0'));
    expect(await client.exitOf(taskId)).toMatchObject({ exitCode: 0 });
    const { socket } = supervisorPaths(dataDirectory);
    expect(socket.length).toBeLessThan(100);
    expect(existsSync(dirname(socket))).toBe(true);
    await client.shutdown('SIGKILL', 100);
    expect(existsSync(dirname(socket))).toBe(false);
  });

  test.each([
    ['a request before hello', '{"id":1,"op":"list"}\n', /say hello first/],
    ['a line that is no JSON', 'hello\n', /not a JSON object/],
    ['an unknown request', '{"id":1,"op":"hello"}\n{"id":2,"op":"dance"}\n', /knows no such/],
  ])('answers %s with a reason', async (_name, text, reason) => {
    await newClient().connect();
    const socket = connect(supervisorPaths(dataDirectory).socket);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.write(text);
    await eventually(() => expect(answer).toMatch(reason));
    socket.destroy();
  });
});
