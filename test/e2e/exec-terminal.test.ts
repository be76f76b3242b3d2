import { readFileSync } from 'node:fs';
import { type IPty, spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Agent,
  checkout,
  endAgents,
  eventually,
  newDirectory,
  processesWith,
  command as roster,
  startAgent,
} from '../support/agent.ts';
import { openExecSocket } from '../support/exec-socket.ts';

// Commands in tasks, used by a person at a terminal and by scripts.

let agent: Agent;
let alloc: string;
const data = newDirectory();
const token = '11111111-1111-4111-8111-111111111111';
const start = () =>
  startAgent({ dataDirectory: data, args: ['--tasks-on-exit', 'keep', '--log-level', 'warn'] });

const running = async (): Promise<string> =>
  agent.until('/v1/job/shell/allocations', (list) => {
    expect(list[0]).toMatchObject({ TaskStates: { app: { State: 'running' } } });
    return list[0].ID;
  });

beforeAll(async () => {
  agent = await start();
  await agent.register({
    ID: 'shell',
    TaskGroups: [
      {
        Name: 'main',
        Tasks: [
          {
            Name: 'app',
            Driver: 'raw_exec',
            Config: { command: '/bin/sleep', args: ['600'] },
            Resources: { CPU: 20, MemoryMB: 16 },
            Actions: [{ Name: 'greet', Command: 'sh', Args: ['-c', 'echo hello; cat; exit 6'] }],
          },
        ],
      },
    ],
  });
  alloc = await running();
}, 60_000);

afterAll(async () => {
  await agent.request('DELETE', '/v1/job/shell');
  await agent.until('/v1/job/shell/allocations', (list) =>
    expect(list[0].ClientStatus).toBe('complete'),
  );
  await endAgents();
});

describe('a script', () => {
  test('sends standard input, and receives both outputs and the exit code', async () => {
    const script = 'cat; echo noise >&2; exit 7';
    const ran = await agent.cliWith(
      'a\nb\n',
      'alloc',
      'exec',
      alloc.slice(0, 8),
      'sh',
      '-c',
      script,
    );
    expect(ran).toEqual({ code: 7, stdout: 'a\nb\n', stderr: 'noise\n' });
  });

  test.each([
    [['-i', '-task', 'app', '{}', 'cat'], 'in', 0, 'in'],
    [['-task=app', '{}', 'echo', '-json', '--', '-it', '--help'], '', 0, '-json -- -it --help\n'],
    [['{}', 'ls', '-la', '-help', '/no/such'], '', 2, ''],
    [['--no-stdin', '{}', 'cat'], 'in', 0, ''],
    [['{}', '--', 'echo', '-n', 'x'], '', 0, 'x'],
    [['-it', '{}', 'sh', '-c', 'test -t 1 && read a && echo got $a'], 'x\n', 0, 'x\r\ngot x\r\n'],
  ] as const)('alloc exec %j', async (words, stdin, code, stdout) => {
    const given = words.map((word) => (word === '{}' ? alloc : word));
    const ran = await agent.cliWith(stdin, 'alloc', 'exec', ...given);
    expect([ran.code, ran.stdout]).toEqual([code, stdout]);
  });

  test.each([
    ['no-such-thing', 127, /^the command "no-such-thing" was not found in /],
    ['/etc/passwd', 126, /^the command \/etc\/passwd is not executable/],
  ])('alloc exec of %s has the exit code of a shell', async (program, code, message) => {
    const ran = await agent.cli('alloc', 'exec', alloc, program);
    expect(ran).toEqual({ code, stdout: '', stderr: expect.stringMatching(message) });
  });

  test('runs an action by its name', async () => {
    const ran = await agent.cliWith('there', 'job', 'action', '-job', 'shell', 'greet');
    expect(ran).toEqual({ code: 6, stdout: 'hello\nthere', stderr: '' });
  });

  test.each([
    [['alloc', 'exec', 'ffffffff', 'true'], /no allocation/i],
    [['alloc', 'exec', '-task', 'none', '{}', 'true'], /has no task "none"/],
    [['alloc', 'exec', '-e', 'xx', '{}', 'true'], /-e must be one character/],
    [['alloc', 'exec', '--token', 'nobody', '{}', 'true'], /token is unknown/],
    [['job', 'action', '-job', 'shell', 'none'], /no such action "none"/],
    [['job', 'action', '-job', 'nothing', 'greet'], /There is no job "nothing"/],
    [['job', 'action', 'greet'], /Name the job with -job/],
  ])('%j explains the fault', async (words, message) => {
    const ran = await agent.cli(...words.map((word) => (word === '{}' ? alloc : word)));
    expect([ran.code, ran.stdout]).toEqual([255, '']);
    expect(ran.stderr).toMatch(message);
  });
});

const sleepers = (): readonly number[] =>
  processesWith(`ROSTER_ALLOC_ID=${alloc}\0`).filter(
    (pid) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n',
  );

interface Person {
  readonly pty: IPty;
  sees(pattern: RegExp): Promise<RegExpExecArray>;
  readonly left: Promise<number>;
}

/** Runs the command in its own terminal. */
function sit(...words: readonly string[]): Person {
  const { PATH = '' } = process.env;
  const pty = spawn(roster, [...words], {
    cols: 100,
    rows: 30,
    cwd: checkout,
    env: { PATH, HOME: '/', ROSTER_ADDR: agent.address, ROSTER_TOKEN: agent.token, TMPDIR: data },
  });
  let seen = '';
  let heard = (): void => {};
  pty.onData((text) => {
    seen += text;
    heard();
  });
  const left = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)));
  return {
    pty,
    left,
    sees: (pattern) =>
      eventually(
        () => {
          const found = pattern.exec(seen);
          if (found === null) throw new Error(`${pattern} was not seen: ${seen}`);
          return found;
        },
        (again) => {
          heard = again;
        },
      ),
  };
}

describe('a terminal', () => {
  test('runs a shell as if it were local, with the size of the window', async () => {
    const person = sit('alloc', 'exec', alloc, 'sh');
    await person.sees(/[#$] $/);
    person.pty.write('stty size; echo "-$ROSTER_TASK_NAME-"\r');
    await person.sees(/30 100\r+\n-app-/);
    person.pty.resize(90, 20);
    person.pty.write('until stty size | grep "20 90"; do sleep 0.1; done\r');
    // A shell may print its prompt again when its window changes.
    await person.sees(/\b20 90\r/);
    person.pty.write('sleep 600\r');
    // One process is the task, the other is the command.
    await eventually(() => expect(sleepers()).toHaveLength(2));
    // The key interrupts the remote command, not the client.
    person.pty.write('\x03');
    await person.sees(/\^C/);
    person.pty.write('echo still $((40 + 2)); exit 9\r');
    await person.sees(/still 42/);
    expect(await person.left).toBe(9);
  });

  test('leaves the session with a tilde and a dot', async () => {
    const person = sit('job', 'action', '-job', 'shell', '-alloc', alloc, 'greet');
    await person.sees(/hello/);
    person.pty.write('typed\r~.');
    expect(await person.left).toBe(130);
  });

  test('keeps its own keys if the command has no terminal', async () => {
    const person = sit(
      'alloc',
      'exec',
      '--no-tty',
      alloc,
      'sh',
      '-c',
      'test -t 0 || echo none; sleep 600',
    );
    await person.sees(/none/);
    person.pty.write('\x03');
    expect(await person.left).toBe(130);
  });
});

test('a session ends with its agent, the task continues, and the next agent runs commands in it', async () => {
  const url = (command: readonly string[], tty: boolean) =>
    `${agent.address}/v1/client/allocation/${alloc}/exec?tty=${tty}&task=app&command=${encodeURIComponent(JSON.stringify(command))}`;
  const headers = { 'x-registry-token': token };
  const pids = async () => {
    const sessions = [true, false].map((tty) =>
      openExecSocket(
        url(['sh', '-c', 'echo $$; trap "" HUP; while :; do sleep 1; done'], tty),
        headers,
      ),
    );
    const found = await Promise.all(sessions.map((one) => one.says(/(\d+)\r?\n/)));
    return { sessions, pids: found.map(([, pid]) => Number(pid)) };
  };
  const before = await pids();
  await agent.stop();
  for (const { closed } of before.sessions)
    expect([1001, 1006, 1008]).toContain((await closed).code);
  const gone = (pid: number) => expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  await eventually(() => before.pids.forEach(gone));
  await eventually(() => expect(processesWith(`ROSTER_ALLOC_ID=${alloc}\0`)).toHaveLength(1));
  agent = await start();
  expect(await running()).toBe(alloc);
  await eventually(async () => {
    const ran = await agent.cli('alloc', 'exec', alloc, 'echo', 'again');
    expect(ran).toEqual({ code: 0, stdout: 'again\n', stderr: '' });
  });
  // A killed client has the same effect.
  const crashed = await pids();
  agent.signal('SIGKILL');
  for (const { closed } of crashed.sessions) expect((await closed).code).toBe(1006);
  await eventually(() => crashed.pids.forEach(gone));
  await agent.ended;
  agent = await start();
  expect(await running()).toBe(alloc);
});
