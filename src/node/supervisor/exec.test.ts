import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realWorld } from '../../base/ports-real.ts';
import type { ExecSession } from '../../model/exec-session/exec-session.ts';
import { eventually } from '../eventually.test-helper.ts';
import { SupervisorClient } from './client.ts';
import { listPids, readEnvironment } from './proc.ts';
import type { ExecRequest, StartRequest } from './protocol.ts';

// One supervisor for all tests of this file; each test has its own task.

let dataDirectory: string;
let client: SupervisorClient;

const newClient = (): SupervisorClient => {
  const { timers, random } = realWorld;
  return new SupervisorClient({ dataDirectory, endWithAgent: false, timers, random });
};

beforeAll(async () => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'roster-exec-'));
  mkdirSync(join(dataDirectory, 'local'));
  client = newClient();
  await client.connect();
});

afterAll(async () => {
  await client.shutdown('SIGKILL', 100);
  rmSync(dataDirectory, { recursive: true, force: true });
});

let tasks = 0;
async function task(change: Partial<StartRequest> = {}): Promise<string> {
  const allocId = realWorld.ids.uuid();
  const taskId = `${allocId}/web#${++tasks}`;
  await client.start({
    taskId,
    allocId,
    taskName: 'web',
    command: '/bin/sleep',
    args: ['600'],
    env: {
      PATH: '/usr/bin:/bin',
      ROSTER_ALLOC_ID: allocId,
      ROSTER_TASK_NAME: 'web',
      ROSTER_TASK_DIR: join(dataDirectory, 'local'),
      COLOR: 'green',
    },
    directory: dataDirectory,
    user: '',
    logs: { directory: dataDirectory, name: 'x', maxFiles: 1, maxFileBytes: 1, disabled: true },
    ...change,
  });
  return taskId;
}

async function exec(
  command: readonly string[],
  change: Partial<ExecRequest> & { readonly task?: Partial<StartRequest> } = {},
): Promise<ExecSession> {
  const taskId = change.taskId ?? (await task(change.task));
  return client.exec({ taskId, command, tty: false, ...change });
}

async function all(session: ExecSession) {
  const said = { stdout: '', stderr: '' };
  for await (const { stream, data } of session.output) {
    said[stream] += Buffer.from(data).toString('latin1');
  }
  return { ...said, ...(await session.exited) };
}

const sh = (script: string): readonly string[] => ['sh', '-c', script];

/** Processes with this entry in their environment. */
const processesWith = (entry: string): number[] =>
  listPids().filter((pid) => readEnvironment(pid).includes(entry));

describe('a command with pipes', () => {
  test.each([
    [
      'shows its output, and how it ends',
      sh('echo out; echo err >&2; exit 7'),
      'out\n',
      'err\n',
      7,
    ],
    ['ends by a signal', sh('kill -9 $$'), '', '', 137],
    ['has the environment of its task', sh('echo $COLOR $ROSTER_TASK_NAME'), 'green web\n', '', 0],
    ['opens its output by name', sh('echo a > /dev/stdout; echo b > /dev/stderr'), 'a\n', 'b\n', 0],
    ['prints nothing', ['true'], '', '', 0],
  ])('%s', async (_name, command, stdout, stderr, exitCode) => {
    expect(await all(await exec(command))).toEqual({ stdout, stderr, exitCode });
  });

  test('has the working directory of its task', async () => {
    expect((await all(await exec(['pwd']))).stdout).toBe(`${dataDirectory}\n`);
  });

  test('has the user of its task, without the groups of the agent’s user', async () => {
    const session = await exec(['id', '-G'], { task: { user: 'nobody', directory: '/' } });
    expect((await all(session)).stdout).toMatch(/^\d+\n$/);
  });

  test('takes and returns arbitrary bytes', async () => {
    const bytes = Buffer.from(
      Array.from({ length: 300_000 }, (_, at) => (at * 7 + (at >> 8)) % 256),
    );
    const session = await exec(['cat']);
    const back = all(session);
    await session.write(bytes);
    session.closeInput();
    const { stdout, exitCode } = await back;
    expect([Buffer.from(stdout, 'latin1').equals(bytes), exitCode]).toEqual([true, 0]);
  });

  test('may leave its input unread', async () => {
    const session = await exec(['true']);
    await Promise.all([all(session), session.write(Buffer.alloc(1_000_000))]);
    expect(await session.exited).toEqual({ exitCode: 0 });
  });

  test('runs behind a prefix', async () => {
    const via = { prefix: ['/usr/bin/env', 'COLOR=red'], directory: '/' };
    const session = await exec(sh('echo $COLOR; pwd'), { via });
    expect((await all(session)).stdout).toBe('red\n/\n');
  });

  test('leaves no process that it started', async () => {
    const mark = `MARK=${realWorld.ids.uuid()}`;
    const script = `env ${mark} setsid sleep 600 & env ${mark} sleep 600 & echo done`;
    expect((await all(await exec(sh(script)))).stdout).toBe('done\n');
    await eventually(() => expect(processesWith(mark)).toEqual([]));
  });
});

describe('a command that cannot be started', () => {
  test.each([
    [
      'a name that is nowhere',
      ['no-such-thing'],
      /^the command "no-such-thing" was not found in .*:\/usr\/bin:\/bin\r?\n$/,
      127,
    ],
    [
      'a path that is not there',
      ['/no/such'],
      /^the command "\/no\/such" does not exist\r?\n$/,
      127,
    ],
    ['no program', ['/etc/passwd'], /^the command \/etc\/passwd is not executable\r?\n$/, 126],
  ])('%s is told as by a shell', async (_name, command, message, exitCode) => {
    for (const tty of [false, true]) {
      const told = await all(await exec(command, { tty }));
      const said = expect.stringMatching(message);
      expect(told).toMatchObject({ exitCode, ...(tty ? { stdout: said } : { stderr: said }) });
    }
  });

  test('a script whose interpreter is missing', async () => {
    const path = join(dataDirectory, 'script');
    writeFileSync(path, '#!/no/such\n', { mode: 0o755 });
    const stderr = `${path} could not be started: no such file or directory\n`;
    expect(await all(await exec([path]))).toEqual({ stdout: '', stderr, exitCode: 127 });
  });

  test('of an ended task', async () => {
    const taskId = await task({ command: '/bin/true', args: [] });
    await client.exitOf(taskId);
    await expect(exec(['true'], { taskId })).rejects.toMatchObject({ status: 404 });
  });
});

describe('a command with a terminal', () => {
  const terminal = { tty: true } as const;

  test('has one of the given size', async () => {
    const session = await exec(sh('tty; read go; stty size; exit 3'), terminal);
    let said = '';
    for await (const { data } of session.output) {
      said += Buffer.from(data).toString();
      if (!/^\/dev\/pts\/\d+\r\n$/.test(said)) continue;
      session.resize({ height: 33, width: 99 });
      await session.write(Buffer.from('go\n'));
    }
    expect(said).toMatch(/^\/dev\/pts\/\d+\r\ngo\r\n33 99\r\n$/);
    expect(await session.exited).toEqual({ exitCode: 3 });
  });

  test('gets signals from keys', async () => {
    const session = await exec(
      sh('trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.1; done'),
      terminal,
    );
    let said = '';
    for await (const { data } of session.output) {
      said += Buffer.from(data).toString();
      if (said === 'ready\r\n') await session.write(Buffer.from('\x03'));
    }
    expect(said).toBe('ready\r\n^Ccaught\r\n');
    expect(await session.exited).toEqual({ exitCode: 5 });
  });

  test('ends with its input', async () => {
    const session = await exec(['cat'], terminal);
    const said = all(session);
    await session.write(Buffer.from('half'));
    session.closeInput();
    expect(await said).toMatchObject({ stdout: expect.stringMatching(/half$/), exitCode: 0 });
  });

  test('is not hung up when it closes its terminal before it ends', async () => {
    const session = await exec(sh('echo out; exec <&- >&- 2>&-; sleep 0.3; exit 4'), terminal);
    expect(await all(session)).toEqual({ stdout: 'out\r\n', stderr: '', exitCode: 4 });
  });

  test('has the user of its task, without the groups of the agent’s user', async () => {
    const session = await exec(['id', '-G'], {
      ...terminal,
      task: { user: 'nobody', directory: '/' },
    });
    expect((await all(session)).stdout).toMatch(/^\d+\r\n$/);
  });

  test('keeps all of its output for a late reader', async () => {
    const session = await exec(sh('seq 1 3000'), terminal);
    const output = session.output[Symbol.asyncIterator]();
    let said = Buffer.from((await output.next()).value!.data).toString();
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (let next = await output.next(); !next.done; next = await output.next()) {
      said += Buffer.from(next.value.data).toString();
    }
    expect(said.trim().split(/\s+/).at(-1)).toBe('3000');
  });

  test('is invisible to other processes', async () => {
    const taskId = await task();
    const session = await exec(['cat'], { ...terminal, taskId });
    const other = await all(await exec(sh('ls -l /proc/$$/fd'), { taskId }));
    expect(other.stdout).not.toMatch(/ptmx|\/pts\//);
    session.close();
  });
});

describe('a session ends', () => {
  test.each([
    ['with pipes', false],
    ['with a terminal', true],
  ])('with its task, %s', async (_name, tty) => {
    const taskId = await task();
    const session = await exec(sh('echo ready; trap "" HUP TERM INT; while :; do sleep 1; done'), {
      taskId,
      tty,
    });
    const said = all(session);
    await client.kill(taskId, 'SIGKILL', 0);
    expect((await said).exitCode).toBe(137);
    await client.exitOf(taskId);
    expect(processesWith(`ROSTER_ALLOC_ID=${taskId.split('/')[0]}`)).toEqual([]);
  });

  test.each([
    ['with pipes', false],
    ['with a terminal', true],
  ])('when it is closed, also if it ignores that, %s', async (_name, tty) => {
    const mark = `MARK=${realWorld.ids.uuid()}`;
    const session = await exec(
      ['env', mark, ...sh('trap "" HUP TERM INT; echo ready; while :; do sleep 1; done')],
      { tty },
    );
    await session.output[Symbol.asyncIterator]().next();
    expect(processesWith(mark)).not.toEqual([]);
    session.close();
    await eventually(() => expect(processesWith(mark)).toEqual([]));
  });

  test('when its client leaves', async () => {
    const mark = `MARK=${realWorld.ids.uuid()}`;
    const taskId = await task();
    const session = await exec(['env', mark, 'sleep', '600'], { taskId });
    await eventually(() => expect(processesWith(mark)).toHaveLength(1));
    await client.close();
    await expect(all(session)).rejects.toMatchObject({ status: 503 });
    await eventually(() => expect(processesWith(mark)).toEqual([]));
    client = newClient();
    await client.connect();
    expect((await all(await exec(['echo', 'again'], { taskId }))).stdout).toBe('again\n');
  });
});

/** The supervisor's memory in bytes. */
const residentBytes = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${client.pid}/status`, 'utf8'))![1]) * 1024;

test.each([
  ['with pipes', false],
  ['with a terminal', true],
])('a flood that nobody reads stops, and delays no one, %s', async (_name, tty) => {
  const taskId = await task();
  const session = await exec(['yes'], { taskId, tty });
  let pid: number | undefined;
  await eventually(() => {
    [pid] = processesWith(`ROSTER_ALLOC_ID=${taskId.split('/')[0]}`).filter(
      (one) => readFileSync(`/proc/${one}/comm`, 'utf8') === 'yes\n',
    );
    expect(pid).toBeDefined();
  });
  const written = () => /wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1];
  const before = residentBytes();
  let last = '';
  await eventually(async () => {
    const now = written()!;
    const same = now === last;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(same).toBe(true);
  });
  expect(Number(last)).toBeLessThan(2 ** 20);
  expect(residentBytes() - before).toBeLessThan(20 * 2 ** 20);
  expect((await all(await exec(['echo', 'hi'], { taskId }))).stdout).toBe('hi\n');
  session.close();
});

test('no pipe stays open', async () => {
  const count = () => readdirSync(`/proc/${client.pid}/fd`).length;
  const taskId = await task();
  await all(await exec(['true'], { taskId }));
  await eventually(() => expect(readdirSync(join(dataDirectory, 'supervisor'))).toBeDefined());
  const before = count();
  for (let round = 0; round < 5; round++) await all(await exec(['true'], { taskId }));
  await eventually(() => expect(count()).toBeLessThanOrEqual(before));
});
