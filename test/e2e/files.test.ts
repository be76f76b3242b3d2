/** Files, logs and statistics of running tasks, over HTTP and by the commands. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Agent, endAgents, eventually, newDirectory, startAgent } from '../support/agent.ts';
import { type Allocation, job, once, shell } from '../support/jobs.ts';

let agent: Agent;
let id: string;

// Traps that a task could leave for readers of its files.
const traps = shell(`
  umask 022
  cd "$ROSTER_TASK_DIR"
  echo hello > a.txt
  printf '\\000\\377' > binary
  printf 'first\\nsecond\\nthird\\n' > "$ROSTER_ALLOC_DIR/data/lines"
  echo never > "$ROSTER_SECRETS_DIR/key"
  ln -s /etc/passwd absolute-out
  ln -s ../../../../../node.json relative-out
  ln -s / root-out
  ln -s "$ROSTER_ALLOC_DIR/../../" siblings
  ln -s "$ROSTER_ALLOC_DIR/data" absolute-in
  ln -s ../secrets secret
  ln -s loop loop
  mkfifo pipe
  mkdir full
  (cd full; touch $(seq 1 30))
  i=0
  while true; do i=$((i+1)); echo "line $i"; echo "oops $i" >&2; sleep 0.05; done
`);

beforeAll(async () => {
  agent = await startAgent({ dataDirectory: newDirectory() });
  await agent.register(job('files', { task: traps }));
  id = await idOf('files', 'running');
  await eventually(async () => {
    expect((await fs('ls', 'task/local/full')).json).toHaveLength(30);
  });
}, 60_000);
afterAll(endAgents);

/** The id of a job's allocation, once it has the status. */
const idOf = (name: string, status: string): Promise<string> =>
  agent.until(`/v1/job/${name}/allocations`, (all: Allocation[]) => {
    expect(all.map(({ ClientStatus }) => ClientStatus)).toEqual([status]);
    return all[0]!.ID;
  });

const fs = (op: string, path: string, more = '') =>
  agent.request('GET', `/v1/client/fs/${op}/${id}?path=${encodeURIComponent(path)}${more}`);

describe('a path', () => {
  test.each([
    ['task/local/a.txt', 200, 'hello\n'],
    ['/task/local/../local/a.txt', 200, 'hello\n'],
    ['task/local/absolute-in/lines', 200, 'first\nsecond\nthird\n'],
    ['task/local/absolute-out', 400, 'invalid-path'],
    ['task/local/relative-out', 400, 'invalid-path'],
    ['task/local/root-out/etc/passwd', 400, 'invalid-path'],
    ['task/local/siblings/x', 400, 'invalid-path'],
    ['../../node.json', 400, 'invalid-path'],
    ['task/local/loop', 400, 'invalid-path'],
    ['task/local/pipe', 400, 'file-unfit'],
    ['task/local', 400, 'file-unfit'],
    ['task/secrets/key', 403, 'file-refused'],
    ['task/local/secret/key', 403, 'file-refused'],
    ['task/private/x', 403, 'file-refused'],
    ['/etc/passwd', 404, 'file-not-found'],
    ['task/local/a.txt/b', 404, 'file-not-found'],
  ])('%s: %i %s', async (path, status, told) => {
    for (const op of ['cat', 'stream']) {
      const answer = await fs(op, path, '&follow=false');
      const seen = answer.status === 200 ? textIn(answer.text, op) : answer.json.code;
      expect([op, answer.status, seen]).toEqual([op, status, told]);
    }
  });

  const textIn = (text: string, op: string) =>
    op === 'cat'
      ? text
      : text
          .trim()
          .split('\n')
          .map((line) => atob(JSON.parse(line).Data ?? ''))
          .join('');

  test('bytes that are not text arrive unchanged', async () => {
    const answer = await fetch(`${agent.address}/v1/client/fs/cat/${id}?path=task/local/binary`, {
      headers: { 'x-registry-token': agent.token },
    });
    expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([0, 255]);
  });
});

describe('statistics', () => {
  test('of an allocation cover its task and each of its processes', async () => {
    const { Tasks, ResourceUsage, Timestamp } = await agent.get(
      `/v1/client/allocation/${id}/stats`,
    );
    expect(ResourceUsage.MemoryStats.RSS).toBeGreaterThan(100_000);
    expect(ResourceUsage.CpuStats).toMatchObject({
      Percent: expect.any(Number),
      Measured: ['System Mode', 'User Mode', 'Percent', 'Total Ticks'],
    });
    expect(Timestamp / 1e6).toBeCloseTo(Date.now(), -5);
    const pids = Object.keys(Tasks.task.Pids).map(Number);
    expect(pids.length).toBeGreaterThanOrEqual(1);
    // A process that is gone has no environment, and an unreaped one has an empty one.
    const environments = pids.map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1');
      } catch {
        return '';
      }
    });
    const known = environments.filter((text) => text !== '');
    expect(known.length).toBeGreaterThanOrEqual(1);
    for (const text of known) expect(text).toContain(`ROSTER_ALLOC_ID=${id}`);
  });

  test('of a busy task show its load', async () => {
    await agent.register(job('busy', { task: shell('while :; do :; done') }));
    const ID = await idOf('busy', 'running');
    await eventually(async () => {
      const { ResourceUsage } = await agent.get(`/v1/client/allocation/${ID}/stats`);
      expect(ResourceUsage.CpuStats.Percent).toBeGreaterThan(5);
      expect(ResourceUsage.CpuStats.TotalTicks).toBeGreaterThan(5);
    });
    await agent.request('DELETE', '/v1/job/busy');
  });
});

describe('commands', () => {
  const ok = async (...words: string[]) => {
    const { code, stdout, stderr } = await agent.cli(...words);
    expect([code, stderr]).toEqual([0, '']);
    return stdout;
  };

  test('fs lists, describes and prints files', async () => {
    expect(await ok('alloc', 'fs', id)).toMatch(
      /^Mode +Size +Modified +Name\ndrwxr-xr-x .* alloc\/\n/,
    );
    expect(await ok('alloc', 'fs', '-stat', '-H', id, 'task/local/a.txt')).toMatch(
      /\n-rw-r--r-- +6 +2\S+Z +text\/plain; charset=utf-8 +a\.txt\n$/,
    );
    expect(await ok('alloc', 'fs', id, 'task/local/a.txt')).toBe('hello\n');
    expect(await ok('alloc', 'fs', '-n', '2', '-job', 'files', 'alloc/data/lines')).toBe(
      'second\nthird\n',
    );
    expect(await ok('alloc', 'fs', '-c', '4', id, 'alloc/data/lines')).toBe('ird\n');
    const { code, stderr } = await agent.cli('alloc', 'fs', id, 'task/secrets/key');
    expect([code, stderr]).toEqual([1, expect.stringContaining('is not shown')]);
  });

  test('fs and logs follow', async () => {
    for (const words of [
      ['alloc', 'fs', '-f', '-n', '1', id, 'alloc/logs/task.stdout.0'],
      ['alloc', 'logs', '-f', '-tail', '-job', 'files'],
    ]) {
      const following = agent.cliStart(...words);
      const [, first] = await following.says(/line (\d+)\n/);
      await following.says(new RegExp(`line ${Number(first) + 20}\\n`));
      following.signal('SIGINT');
      expect((await following.ended).code).toBe(130);
    }
    expect(await ok('alloc', 'logs', '-stderr', '-n', '1', '-job', 'files')).toMatch(
      /^oops \d+\n$/,
    );
  });

  test('status shows resource usage', async () => {
    expect(await ok('alloc', 'status', '-stats', id)).toMatch(
      /\nUse\nTask +CPU +MHz +Memory +Processes\ntask +\d+\.\d % +\d+ +[\d.]+ [KM]iB +\d+\n/,
    );
    const [{ Name }] = await agent.get('/v1/nodes');
    expect(await ok('node', 'status', '-stats', Name)).toMatch(
      /\nUse\nCPU +[\d.]+ % of \d+ cores?\n/,
    );
  });
});

test('a terminal allocation is removed with its files, and its readers are told', async () => {
  await agent.register(
    job('brief', { job: { Type: 'batch' }, group: once, task: shell('echo done') }),
  );
  const ID = await idOf('brief', 'complete');
  const log = `/v1/client/fs/stream/${ID}?path=alloc/logs/task.stdout.0`;
  // The answer begins when the node has found the file.
  const following = await fetch(`${agent.address}${log}`, {
    headers: { 'x-registry-token': agent.token },
  });
  expect(following.status).toBe(200);
  expect(await agent.get(`/v1/client/allocation/${ID}/gc`)).toEqual({});
  expect(await following.text()).toContain('"FileEvent":"file deleted"');
  expect((await agent.request('GET', log)).json).toMatchObject({ status: 404 });
  const running = await agent.request('GET', `/v1/client/allocation/${id}/gc`);
  expect(running.json).toMatchObject({ status: 400, code: 'not-over' });
  expect(await agent.get('/v1/client/gc')).toEqual({});
  expect((await fs('ls', '/')).status).toBe(200);
});
