/** Refused starts, files and requests, each with the fault and advice. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Agent,
  agentWords,
  command,
  directory,
  endAgents,
  launch,
  newDirectory,
  processesWith,
  rootToken,
  type StartOptions,
  startAgent,
} from '../support/agent.ts';
import { type Allocation, eventTypes, idle, job, once, taskOf } from '../support/jobs.ts';

let agent: Agent;
const dataDirectory = newDirectory();
const port = () => Number(new URL(agent.address).port);

beforeAll(async () => {
  agent = await startAgent({ dataDirectory });
});
afterAll(endAgents);

/** The output of a start that must fail and leave nothing behind. */
async function refusal(options: StartOptions): Promise<string> {
  const mark = `attempt-${Math.random()}`;
  const words = agentWords(options);
  const { code, stdout, stderr } = await launch(command, words, { env: { LC_ALL: mark } }).ended;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).not.toMatch(/^ {4}at /m);
  expect(processesWith(mark)).toEqual([]);
  return stderr;
}

const file = (name: string, content: unknown = ''): string => {
  const path = join(directory, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

describe('an agent refuses to start', () => {
  test('on a port in use, which it names', async () => {
    const place = join(directory, 'never-made');
    const args = ['--http', `127.0.0.1:${port()}`];
    const said = await refusal({ args, dataDirectory: place, token: null });
    expect(said).toContain(`the port ${port()} is in use`);
    expect(said).toContain('--http');
    expect(existsSync(place)).toBe(false);
  });

  test('when its node cannot start, and leaves no process behind', async () => {
    const place = newDirectory();
    mkdirSync(join(place, 'node'));
    writeFileSync(join(place, 'node/allocations'), 'not a directory');
    const said = await refusal({ dataDirectory: place });
    expect(said).toContain(join(place, 'node/allocations'));
  });

  test('on a data directory of a running agent, which it names', async () => {
    const said = await refusal({ dataDirectory });
    expect(said).toContain(dataDirectory);
    expect(said).toContain(`in use by another process (pid ${agent.pid})`);
    expect((await agent.request('GET', '/v1/jobs')).status).toBe(200);
  });

  test.each([
    ['a file', () => file('occupied'), 'not a directory'],
    ['below a file', () => join(file('occupied'), 'data'), 'not a directory'],
    // No one can create files there, not even root.
    ['not writable', () => '/proc/roster-data', ''],
  ])('on a data directory that is %s', async (_name, place, reason) => {
    const said = await refusal({ dataDirectory: place() });
    expect(said).toContain(`cannot use the data directory ${place()}`);
    expect(said).toContain(reason);
  });

  test.each([
    ['an unknown flag', ['--data-dri', 'x'], ["'--data-dri'", 'Did you mean --data-dir?']],
    ['a flag without its value', ['--http'], ['--http']],
    ['a bad address', ['--http', 'here:there'], ['--http must be HOST:PORT', 'here:there']],
    ['a bad word', ['--tasks-on-exit', 'maybe'], ['maybe', 'stop', 'keep']],
    ['keeping tasks and nothing else', ['--tasks-on-exit', 'keep'], ['without a data directory']],
    ['a job file that is not there', ['--run', '/no/such.json'], ['--run', '/no/such.json']],
    ['an address of another machine', ['--http', '192.0.2.1:0'], ['192.0.2.1', '--http']],
  ])('with %s', async (_name, args, reasons) => {
    const said = await refusal({ args });
    for (const reason of reasons) expect(said).toContain(reason);
  });

  test('with a malformed root token, which it does not repeat', async () => {
    const said = await refusal({ token: 'open-sesame', args: ['--node-name', ''] });
    expect(said).toContain('--root-token must be a UUID');
    expect(said).toContain('--node-name must be text');
    expect(said).not.toContain('open-sesame');
  });
});

describe('job run refuses', () => {
  test('a job with faults and lists them all', async () => {
    const group = { Name: 'twice', Tasks: [] };
    const bad = {
      ID: 'not one word',
      Type: 'servise',
      Priority: 500,
      TaskGroups: [{ ...group, Count: -1 }, group],
    };
    const { code, stderr } = await agent.cli('job', 'run', file('faults.json', bad));
    expect(code).toBe(1);
    for (const fault of [
      'Job.ID must not hold a space',
      'Job.Type must be one of service, batch, system, sysbatch, got "servise"',
      'Job.Priority must be from 1 to 100, got 500',
      'Job.TaskGroups[0].Count must be at least 0, got -1',
      'Job.TaskGroups[1].Name "twice" is taken',
      'Job.TaskGroups[1].Tasks must hold at least one task',
    ]) {
      expect(stderr).toContain(`  - ${fault}\n`);
    }
    expect(await agent.get('/v1/jobs')).toEqual([]);
  });

  test.each([
    ['is not there', () => join(directory, 'none.json'), 'there is no such file'],
    ['is empty', () => file('empty.json'), 'is empty'],
    ['is no JSON', () => file('cut.json', '{"Job": {'), 'is not JSON'],
    ['holds a list', () => file('list.json', []), 'does not hold an object'],
    ['is a directory', () => directory, 'it is a directory'],
    ['is too large', () => file('large.json', { ID: 'x'.repeat(20e6) }), 'is too large'],
  ])('a file that %s', async (_name, path, reason) => {
    const { code, stdout, stderr } = await agent.cli('job', 'run', path());
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`"${path()}"`);
    expect(stderr).toContain(reason);
  });
});

describe('job run exits with 2 and explains', () => {
  test.each([
    ['there is none', '/no/such/command', 'the command "/no/such/command" does not exist'],
    ['the PATH has none', 'no-such-command', 'the command "no-such-command" was not found in '],
    ['it may not be executed', '/etc/passwd', 'the command /etc/passwd is not executable'],
  ])('that a command cannot be started: %s', async (_name, command, reason) => {
    const id = `command-${command.length}`;
    const body = job(id, { group: once, task: { Config: { command } } });
    const { code, stdout } = await agent.cli('job', 'run', file('command.json', body));
    expect([code, stdout]).toEqual([2, expect.stringContaining(`Driver Failure: ${reason}`)]);
    const [allocation]: Allocation[] = await agent.get(`/v1/job/${id}/allocations`);
    expect(allocation!.ClientStatus).toBe('failed');
    expect(taskOf(allocation!)).toMatchObject({ State: 'dead', Failed: true, Restarts: 0 });
    expect(eventTypes(allocation!)).toEqual([
      'Received',
      'Task Setup',
      'Driver Failure',
      'Not Restarting',
      'Alloc Unhealthy',
    ]);
    expect(taskOf(allocation!).Events[2]!.DisplayMessage).toContain(reason);
  });

  test('that no node has room', async () => {
    const body = job('huge', { task: { ...idle, Resources: { CPU: 1e9, MemoryMB: 10 } } });
    const { code, stdout } = await agent.cli('job', 'run', file('huge.json', body));
    expect(code).toBe(2);
    expect(stdout).toContain('1 node has too little CPU left');
    expect((await agent.cli('job', 'status', 'huge')).stdout).toContain('too little CPU');
  });
});

describe('a request is refused', () => {
  const body = JSON.stringify({ Job: { ID: 'x'.repeat(20e6) } });
  const problems = [
    [413, 'PUT', '/v1/jobs', body, 'body-too-large'],
    [400, 'PUT', '/v1/jobs', '{"Job":', 'malformed-json'],
    [400, 'GET', '/v1/jobs?index=-1', undefined, 'invalid-query'],
    [400, 'GET', '/v1/jobs?wait=blue', undefined, 'invalid-query'],
    [400, 'GET', '/v1/jobs?filter=Nope%3D%3D1', undefined, 'invalid-filter'],
    [400, 'GET', '/v1/jobs?filter=Statu%3D%3D1', undefined, 'invalid-filter'],
    [404, 'GET', '/v1/nothing', undefined, 'route-not-found'],
    [404, 'GET', '/v1/job/nothing', undefined, 'job-not-found'],
    [405, 'PATCH', '/v1/jobs', undefined, 'method-not-allowed'],
    [405, 'PROPFIND', '/v1/jobs', undefined, 'method-not-allowed'],
  ] as const;
  test.each(problems)('%i %s %s', async (status, method, path, sent, code) => {
    const answer = await agent.request(method, path, sent);
    expect(answer).toMatchObject({ status, json: { status, code, detail: expect.any(String) } });
    expect(answer.json.detail).not.toMatch(/[.?!]\.$/);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    if (status === 405) expect(answer.headers.get('allow')).toMatch(/GET.*POST|POST.*GET/);
  });

  test.each([
    ['no token', {}, 'permission-denied', 'anonymous'],
    ['an unknown token', { 'x-registry-token': crypto.randomUUID() }, 'token-not-found', ''],
    ['an invalid token', { authorization: 'Bearer x' }, 'token-not-found', ''],
  ])('with %s: 403', async (_name, headers, code, reason) => {
    const answer = await fetch(`${agent.address}/v1/jobs`, { headers });
    expect(answer.status).toBe(403);
    const problem = (await answer.json()) as { detail: string };
    expect(problem).toMatchObject({ code, detail: expect.stringContaining(reason) });
    for (const secret of Object.values(headers).filter(({ length }) => length > 20)) {
      expect(JSON.stringify(problem)).not.toContain(secret);
    }
  });
});

describe('a client that does not speak HTTP does no harm', () => {
  /** All bytes until the server closes the connection. */
  const raw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      let answer = '';
      const socket = connect(port(), '127.0.0.1', () => socket.write(text, 'latin1'));
      socket
        .on('data', (bytes) => {
          answer += bytes.toString('latin1');
        })
        .on('error', reject)
        .on('close', () => resolve(answer));
    });
  const head = 'PUT /v1/jobs HTTP/1.1\r\nHost: x\r\n';

  test.each([
    ['no HTTP at all', 'GARBAGE\r\n\r\n', 400],
    ['TLS', '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03', 400],
    ['an unknown version', 'GET /v1/jobs HTTP/9.9\r\n\r\n', 400],
    ['a space in a header’s name', 'GET / HTTP/1.1\r\nHost: x\r\nBad Name: 1\r\n\r\n', 400],
    ['two lengths', `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, 400],
    ['a length and chunks', `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
    ['a negative length', `${head}Content-Length: -5\r\n\r\n`, 400],
    ['huge headers', `GET / HTTP/1.1\r\nHost: x\r\nBig: ${'x'.repeat(100_000)}`, 431],
    ['a bad path', 'GET /v1/job/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404],
  ])('%s: a 4xx with a reason', async (_name, text, status) => {
    const answer = await raw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain('application/problem+json');
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ status });
    expect((await agent.request('GET', '/v1/jobs')).status).toBe(200);
  });

  test('clients that never finish their headers or bodies delay no one', async () => {
    const starts = ['GET /v1/jobs HT', `${head}X: `, `${head}Content-Length: 1000000\r\n\r\n{`];
    const sockets = await Promise.all(
      Array.from(
        { length: 150 },
        (_, index) =>
          new Promise<ReturnType<typeof connect>>((resolve, reject) => {
            const socket = connect(port(), '127.0.0.1', () => {
              socket.write(starts[index % starts.length]!, () => resolve(socket));
            }).on('error', reject);
          }),
      ),
    );
    expect((await agent.request('GET', '/v1/jobs')).status).toBe(200);
    expect((await agent.cli('node', 'status')).code).toBe(0);
    const closed = sockets.map(
      (socket) =>
        new Promise((resolve) =>
          socket.removeAllListeners().on('error', resolve).on('close', resolve),
        ),
    );
    // The agent does not wait for these connections when it ends.
    const { code, stderr } = await agent.stop('SIGTERM');
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/^ {4}at /m);
    expect(stderr).not.toContain(rootToken);
    await Promise.all(closed);
  });
});
