import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Agent,
  endAgents,
  eventually,
  newDirectory,
  processesWith,
  startAgent,
  supervisorsOf,
} from '../support/agent.ts';
import { execJob } from '../support/exec-job.ts';
import { openExecSocket } from '../support/exec-socket.ts';

// Commands in real tasks over real WebSockets:
// docs/guides/actions-and-exec.md#without-the-command-line.

let agent: Agent;
let alloc: string;
let dead: string;
let other: string;
const data = newDirectory();
const token = () => ({ 'x-registry-token': agent.token });

const allocOf = (job: string, status: string): Promise<string> =>
  agent.until(`/v1/job/${job}/allocations`, (list) => {
    expect(list[0]).toMatchObject({ ClientStatus: status });
    if (status === 'running') {
      expect(list[0].TaskStates).toMatchObject({
        app: { State: 'running' },
        side: { State: 'running' },
      });
    }
    return list[0].ID;
  });

beforeAll(async () => {
  agent = await startAgent({ dataDirectory: data });
  for (const [id, args] of [
    ['web', ['600']],
    ['other', ['600']],
    ['dead', ['0']],
  ] as const) {
    await agent.register(execJob(id, args));
  }
  [alloc, other, dead] = await Promise.all([
    allocOf('web', 'running'),
    allocOf('other', 'running'),
    allocOf('dead', 'complete'),
  ]);
}, 60_000);

afterAll(endAgents);

const urlOf = (path: string, query: Record<string, string>) =>
  `${agent.address}${path}?${new URLSearchParams(query)}`;

const execUrl = (command: unknown, query: Record<string, string> = {}, id = alloc) =>
  urlOf(`/v1/client/allocation/${id}/exec`, {
    task: 'app',
    command: typeof command === 'string' ? command : JSON.stringify(command),
    ...query,
  });

const exec = (command: readonly string[], query: Record<string, string> = {}) =>
  openExecSocket(execUrl(command, query), token());
const sh = (script: string) => ['sh', '-c', script];

const actionUrl = (query: Record<string, string> = {}, job = 'web') =>
  urlOf(`/v1/job/${job}/action`, { action: 'greet', task: 'app', alloc_id: alloc, ...query });

describe('a command', () => {
  test('sends its output and its end in the messages of the protocol', async () => {
    const said = await exec(sh('echo out; echo err >&2; exit 7')).closed;
    expect([said.stdout.toString(), said.stderr.toString()]).toEqual(['out\n', 'err\n']);
    expect(said.others).toEqual([
      { stdout: { close: true } },
      { stderr: { close: true } },
      { exited: true, result: { exit_code: 7 } },
    ]);
    expect([said.code, said.reason]).toEqual([1000, '']);
  });

  test('that succeeds has no exit code in its result', async () => {
    expect((await exec(['true']).closed).others.at(-1)).toEqual({ exited: true, result: {} });
  });

  test('has the environment, directory and permissions of its task', async () => {
    const { stdout } = await exec(sh('echo $COLOR $ROSTER_ALLOC_ID $ROSTER_TASK_NAME; pwd')).closed;
    const [first, second] = stdout.toString().split('\n');
    expect(first).toBe(`green ${alloc} app`);
    expect(second).toMatch(new RegExp(`/alloc/${alloc}/app$`));
  });

  test('receives and returns every byte', async () => {
    const bytes = Buffer.from(
      Array.from({ length: 200_003 }, (_, at) => (at * 31 + (at >> 7)) % 256),
    );
    const session = exec(['cat']);
    session.socket.once('open', () => {
      for (let at = 0; at < bytes.length; at += 5000) {
        session.send({ stdin: { data: bytes.subarray(at, at + 5000).toString('base64') } });
      }
      session.send({});
      session.send({ stdin: { close: true } });
    });
    const { stdout, code } = await session.closed;
    expect([stdout.equals(bytes), code]).toEqual([true, 1000]);
  });

  test('may print much, in messages of at most a kibibyte', async () => {
    const session = exec(sh('head -c 3000000 /dev/zero'));
    let longest = 0;
    session.socket.on('message', (text) => {
      const { stdout } = JSON.parse(String(text));
      if (stdout?.data) longest = Math.max(longest, Buffer.from(stdout.data, 'base64').length);
    });
    const { stdout, code } = await session.closed;
    expect([stdout.length, longest, code]).toEqual([3_000_000, 1024, 1000]);
  });

  test('that is killed reports the signal', async () => {
    const session = exec(sh('echo $$; exec sleep 600'));
    const [, pid] = await session.says(/(\d+)\n/);
    process.kill(Number(pid), 'SIGKILL');
    expect((await session.closed).others.at(-1)).toEqual({
      exited: true,
      result: { exit_code: 137 },
    });
  });

  test('runs beside another command', async () => {
    const [one, two] = [exec(['cat']), exec(['cat'], { task: 'side' })];
    for (const [session, word] of [
      [one, 'one'],
      [two, 'two'],
    ] as const) {
      session.socket.once('open', () =>
        session.send({ stdin: { data: Buffer.from(word).toString('base64') } }),
      );
    }
    await Promise.all([one.says(/^one$/), two.says(/^two$/)]);
    for (const { send } of [one, two]) send({ stdin: { close: true } });
    expect((await Promise.all([one.closed, two.closed])).map(({ code }) => code)).toEqual([
      1000, 1000,
    ]);
  });

  test('ends with its WebSocket', async () => {
    const session = exec(sh('echo $$; trap "" HUP; while :; do sleep 0.1; done'));
    const [, pid] = await session.says(/(\d+)\n/);
    session.socket.terminate();
    await eventually(() => expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH'));
  });

  test('has a terminal with the size of the window', async () => {
    const session = exec(sh('tty; read go; stty size'), { tty: 'true' });
    await session.says(/^\/dev\/pts\/\d+\r\n$/);
    session.send({ tty_size: { height: 41, width: 132 } });
    // A terminal without a window, as in a build, has no size.
    session.send({ tty_size: { height: 0, width: 0 } });
    session.send({ stdin: { data: Buffer.from('go\r').toString('base64') } });
    const { stdout, stderr } = await session.closed;
    expect(stdout.toString()).toMatch(/go\r\n41 132\r\n$/);
    expect(stderr.length).toBe(0);
  });
});

describe('an action', () => {
  test.each(['alloc_id', 'allocID', 'AllocID'])('is run where %s says', async (name) => {
    const url = urlOf('/v1/job/web/action', { action: 'greet', task: 'side', [name]: alloc });
    const { stdout, code } = await openExecSocket(url, token()).closed;
    expect([stdout.toString(), code]).toEqual(['hello from side\n', 1000]);
  });

  test('takes input and reports its exit code', async () => {
    const session = openExecSocket(actionUrl({ action: 'ask', group: 'main' }), token(), [
      { stdin: { data: Buffer.from('Ada\n').toString('base64') } },
    ]);
    const { stdout, others } = await session.closed;
    expect(stdout.toString()).toBe('hello Ada\n');
    expect(others.at(-1)).toEqual({ exited: true, result: { exit_code: 4 } });
  });

  test('runs with a terminal', async () => {
    const { stdout } = await openExecSocket(actionUrl({ tty: 'true' }), token()).closed;
    expect(stdout.toString()).toBe('hello from app\r\n');
  });
});

describe('a token in the first message', () => {
  const url = () => execUrl(['echo', 'hi'], { ws_handshake: 'true' });
  const shake = (auth_token: string, version = 1) => ({ version, auth_token });
  test('is accepted', async () => {
    const { stdout } = await openExecSocket(url(), {}, [shake(agent.token)]).closed;
    expect(stdout.toString()).toBe('hi\n');
  });
  test('may repeat the token of the headers', async () => {
    const { stdout } = await openExecSocket(url(), token(), [shake(agent.token)]).closed;
    expect(stdout.toString()).toBe('hi\n');
  });
  test.each([
    ['of another version', () => ({}), () => shake(agent.token, 2), /"version": 1/],
    ['that is no token', () => ({}), () => shake('nobody'), /The token is unknown here/],
    ['without a token', () => ({}), () => shake(''), /Permission denied: the anonymous/],
    ['another than that of the headers', token, () => shake('another'), /another than that of the/],
    ['that is no handshake', () => ({}), () => ({ stdin: { close: true } }), /"version": 1/],
  ])('%s closes the socket', async (_name, headers, message, reason) => {
    const said = await openExecSocket(url(), headers(), [message()]).closed;
    expect([said.code, said.reason]).toEqual([1008, expect.stringMatching(reason)]);
  });
});

const missing = '99999999-9999-4999-8999-999999999999';

describe('an error closes the socket with 1008 and its reason', () => {
  test.each([
    ['no token', () => execUrl(['true']), () => ({}), /^Permission denied: the anonymous token/],
    [
      'no command',
      () => urlOf(`/v1/client/allocation/${alloc}/exec`, { task: 'app' }),
      token,
      /command is required/,
    ],
    ['an empty command', () => execUrl([]), token, /"command" is empty/],
    ['a command without a name', () => execUrl(['']), token, /"command" is empty/],
    ['a command that is no JSON', () => execUrl('ls -l'), token, /"command" is not JSON/],
    ['a command of numbers', () => execUrl([1]), token, /array of texts/],
    [
      'no such allocation',
      () => execUrl(['true'], {}, missing),
      token,
      /There is no allocation "9999/,
    ],
    ['an allocation that is over', () => execUrl(['true'], {}, dead), token, /is not running/],
    ['no such task', () => execUrl(['true'], { task: 'none' }), token, /has no task "none"/],
    [
      'no task where there are two',
      () => execUrl(['true'], { task: '' }),
      token,
      /2 tasks: app, side/,
    ],
    [
      'no alloc_id',
      () => urlOf('/v1/job/web/action', { action: 'greet', task: 'app' }),
      token,
      /alloc_id is required/,
    ],
    [
      'no action',
      () => urlOf('/v1/job/web/action', { task: 'app', alloc_id: alloc }),
      token,
      /action is required/,
    ],
    [
      'no task of an action',
      () => urlOf('/v1/job/web/action', { action: 'greet', alloc_id: alloc }),
      token,
      /task is required/,
    ],
    ['no such job', () => actionUrl({}, 'none'), token, /There is no job "none"/],
    [
      'an allocation of another job',
      () => actionUrl({ alloc_id: other }),
      token,
      /is not an allocation of the job "web"/,
    ],
    [
      'no such allocation of a job',
      () => actionUrl({ alloc_id: missing }),
      token,
      /There is no allocation/,
    ],
    ['no such action', () => actionUrl({ action: 'none' }), token, /has no action "none"/],
    ['no such task with an action', () => actionUrl({ task: 'none' }), token, /has no task "none"/],
    [
      'an action of what is over',
      () => actionUrl({ alloc_id: dead }, 'dead'),
      token,
      /is not running/,
    ],
  ])('%s', async (_name, url, headers, reason) => {
    const said = await openExecSocket(url(), headers()).closed;
    expect([said.code, said.reason]).toEqual([1008, expect.stringMatching(reason)]);
    expect(said.others).toEqual([]);
  });

  test.each([
    ['text', 'hello', /not JSON/],
    ['a list', '[]', /not an object/],
    ['an unknown member', '{"resize":{}}', /unknown member "resize"/],
    ['input that is no base64', '{"stdin":{"data":"a"}}', /not base64/],
    ['a window without a width', '{"tty_size":{"height":3}}', /height and a width/],
    ['a window without an end', '{"tty_size":{"height":3,"width":1e9}}', /height and a width/],
  ])('a message that is %s', async (_name, message, reason) => {
    const session = exec(['cat']);
    session.socket.once('open', () => session.send(message));
    const said = await session.closed;
    expect([said.code, said.reason]).toEqual([1008, expect.stringMatching(reason)]);
  });

  test('an endless message closes the socket with 1009', async () => {
    const session = exec(['cat']);
    session.socket.once('open', () => session.send({ stdin: { data: 'A'.repeat(300_000) } }));
    expect((await session.closed).code).toBe(1009);
  });
});

describe('permissions', () => {
  const withRights = async (name: string, capabilities: readonly string[]) => {
    const Rules = `namespace "default" { capabilities = ${JSON.stringify(capabilities)} }`;
    await agent.request('PUT', '/v1/acl/policy', { Name: name, Rules });
    const made = await agent.request('PUT', '/v1/acl/token', { Policies: [{ Name: name }] });
    return made.json.SecretID as string;
  };
  test.each([
    ['none', ['read-job'], /lacks the permission namespace:alloc-exec on "default" and /],
    [
      'alloc-exec alone, where tasks see the machine',
      ['alloc-exec'],
      /lacks the permission namespace:alloc-node-exec on "default"\.$/,
    ],
    ['both', ['alloc-exec', 'alloc-node-exec'], undefined],
  ] as const)('%s', async (name, capabilities, refusal) => {
    const secret = await withRights(name.replace(/\W+/g, '-'), capabilities);
    for (const url of [execUrl(['true']), actionUrl()]) {
      const { code, reason } = await openExecSocket(url, { 'x-registry-token': secret }).closed;
      expect([code, reason]).toEqual(
        refusal === undefined ? [1000, ''] : [1008, expect.stringMatching(refusal)],
      );
    }
  });
});

const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;

test('unread output stops and disturbs no one', async () => {
  // The command is a shell around the agent's own program. A process of an earlier session may
  // still be ending.
  const ofTasks = new Set(processesWith('ROSTER_ALLOC_ID='));
  const own = processesWith(data).filter((pid) => pid !== agent.pid && !ofTasks.has(pid));
  const pids = [...own, agent.pid];
  const [supervisor] = supervisorsOf(data);
  const before = pids.map(residentBytes);
  const floods = [exec(['yes'], { tty: 'true' }), exec(['yes']), exec(['yes'], { task: 'side' })];
  for (const { socket } of floods) socket.once('open', () => socket.pause());
  const writers = () =>
    processesWith(`ROSTER_ALLOC_ID=${alloc}\0`).filter(
      (pid) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'yes\n',
    );
  const written = () =>
    writers().map((pid) =>
      Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1]),
    );
  let last: readonly number[] = [];
  await eventually(async () => {
    const now = written();
    const isSame = now.length === 3 && now.join() === last.join();
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(isSame).toBe(true);
  });
  // Most of it is in the kernel's buffers of the sockets.
  for (const bytes of last) expect(bytes).toBeLessThan(16 * 2 ** 20);
  const grown = pids.map((pid, at) => residentBytes(pid) - before[at]!);
  expect(Math.max(...grown)).toBeLessThan(64 * 2 ** 20);
  expect(pids).toContain(supervisor);
  const { stdout } = await exec(['echo', 'still here']).closed;
  expect(stdout.toString()).toBe('still here\n');
  for (const { socket } of floods) socket.terminate();
  await eventually(() => expect(writers()).toEqual([]));
});

test('input that the command does not read stops, and ends with the session', async () => {
  const session = exec(sh('echo ready; exec sleep 600'));
  await session.says(/ready/);
  const piece = { stdin: { data: Buffer.alloc(64 * 1024).toString('base64') } };
  for (let count = 0; count < 200; count++) session.send(piece);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { bufferedAmount } = session.socket;
  const [pid] = processesWith(`ROSTER_ALLOC_ID=${alloc}\0`).filter(
    (one) => readFileSync(`/proc/${one}/cmdline`, 'utf8') === 'sleep\0' + '600\0',
  );
  expect(bufferedAmount).toBeGreaterThan(2 ** 20);
  const other = await exec(['echo', 'hi']).closed;
  expect(other.stdout.toString()).toBe('hi\n');
  process.kill(pid!, 'SIGKILL');
  await eventually(() => expect(session.socket.readyState).toBeGreaterThan(1));
});

test('a plain request is told that a WebSocket is served here', async () => {
  const { status, json } = await agent.request(
    'GET',
    new URL(actionUrl()).pathname + new URL(actionUrl()).search,
  );
  expect([status, json.code]).toEqual([426, 'upgrade-required']);
});
