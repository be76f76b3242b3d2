/** Commands, usage and output of containers of a real runtime, and the next agent. */
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../eventually.test-helper.ts';
import type { DriverExec } from '../driver.ts';
import {
  directories,
  drivers,
  log,
  newDriver,
  podman,
  runToEnd,
  taskOf,
} from './docker-tasks.test-helper.ts';

describe('a command beside a task', () => {
  const start = async () => {
    const driver = newDriver();
    const task = taskOf('exec sleep 600');
    await driver.start(task);
    return (command: string, tty = false) =>
      driver.exec(task.runId, { command: ['sh', '-c', command], tty });
  };
  const outputOf = async (exec: DriverExec) => {
    const seen = { stdout: '', stderr: '' };
    for await (const { stream, data } of exec.output) seen[stream] += Buffer.from(data).toString();
    return seen;
  };

  test('has its own input, outputs and exit code', async () => {
    const exec = await (await start())('echo out; echo err >&2; cat; exit 5');
    await exec.write(Buffer.from('given\n'));
    exec.closeInput();
    expect(await outputOf(exec)).toEqual({ stdout: 'out\ngiven\n', stderr: 'err\n' });
    expect(await exec.exited).toEqual({ exitCode: 5 });
  });

  test('has a terminal that can change its size', async () => {
    // The size may arrive later than the input.
    const isSized = 'until test "$(stty size)" = "33 44"; do sleep 0.05; done';
    const script = `tty; echo e >&2; read x; ${isSized}; stty size; exit 3`;
    const exec = await (await start())(script, true);
    exec.resize({ height: 33, width: 44 });
    let said = '';
    for await (const { data } of exec.output) {
      said += Buffer.from(data).toString();
      if (said === '/dev/pts/0\r\ne\r\n') await exec.write(Buffer.from('go\n'));
    }
    expect(said).toBe('/dev/pts/0\r\ne\r\ngo\r\n33 44\r\n');
    expect(await exec.exited).toEqual({ exitCode: 3 });
  });

  test('waits for its reader, and ends when its client closes it', async () => {
    const begin = await start();
    const exec = await begin(
      'while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done',
    );
    const { heapUsed } = process.memoryUsage();
    const reader = exec.output[Symbol.asyncIterator]();
    await reader.next();
    exec.close();
    expect(process.memoryUsage().heapUsed - heapUsed).toBeLessThan(50e6);
    expect(await exec.exited).toEqual({ exitCode: 137 });
  });

  test('needs a running task', async () => {
    const driver = newDriver();
    const failure = driver.exec('a/none#1', { command: ['true'], tty: false });
    await expect(failure).rejects.toThrow('the task is not running');
    expect(await driver.usage('a/none#1')).toBeUndefined();
  });
});

test('usage is reported while the task runs', async () => {
  const driver = newDriver();
  const task = taskOf('sleep 600 & exec sleep 600');
  await driver.start(task);
  const usage = await eventually(async () => {
    const found = await driver.usage(task.runId);
    expect(found?.pids).toHaveLength(2);
    return found!;
  });
  expect(usage.memoryRssBytes).toBeGreaterThan(0);
  expect(usage.cpuUserMs + usage.cpuSystemMs).toBeGreaterThan(0);
});

describe('output', () => {
  const flood =
    'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "line $i of many that are rather long, so that files are full soon"; done; printf end';
  const lines = (text: string) => text.split('\n').map((line) => Number(line.split(' ')[1]));

  test('of a flood is complete and in order', async () => {
    const logs = {
      directory: directories.logs,
      name: 'app',
      maxFiles: 9,
      maxFileBytes: 300_000,
      disabled: false,
    };
    await runToEnd(flood, { logs });
    const text = log();
    expect(text.endsWith('\nend')).toBe(true);
    expect(lines(text.slice(0, -4))).toEqual(
      Array.from({ length: 20_000 }, (_, index) => index + 1),
    );
    expect(
      readdirSync(directories.logs).filter((name) => name.startsWith('app.stdout')).length,
    ).toBeGreaterThan(3);
  });

  test('is complete through changes of agents', async () => {
    const script =
      'i=0; while [ $i -lt 900 ]; do i=$((i+1)); echo "line $i"; [ $((i % 10)) = 0 ] && sleep 0.06; done; echo "line $((i+1))"';
    const task = taskOf(script, {
      logs: {
        directory: directories.logs,
        name: 'app',
        maxFiles: 20,
        maxFileBytes: 1500,
        disabled: false,
      },
    });
    const handle = await newDriver().start(task);
    let { exited } = handle;
    for (let agent = 0; agent < 2; agent++) {
      const seen = log().length;
      await eventually(() => expect(log().length).toBeGreaterThan(seen + 100));
      // The agent before goes on unaware, as if killed, except for its note.
      await drivers.at(-1)!.close();
      exited = (await newDriver().recover(task.runId))!.exited;
    }
    await exited;
    expect(lines(log().trimEnd())).toEqual(Array.from({ length: 901 }, (_, index) => index + 1));
  });

  test('of a terminal is collected too', async () => {
    const base = taskOf('tty; echo oh >&2').config;
    await runToEnd('', { config: { ...base, tty: true } });
    expect(log()).toMatch(/^\/dev\/.*\r\noh\r\n$/);
  });

  test('is not collected when logs are disabled', async () => {
    await runToEnd('echo hi', { logs: { ...taskOf('').logs, disabled: true } });
    expect(readdirSync(directories.logs)).toEqual([]);
  });
});

describe('the next agent', () => {
  test('learns how a task ended without an agent', async () => {
    const task = taskOf('echo begun; sleep 0.3; echo late; exit 9');
    await newDriver().start(task);
    await drivers[0]!.close();
    await eventually(() => expect(podman.run('ps', '-q')).toBe(''));
    const handle = await newDriver().recover(task.runId);
    expect(await handle!.exited).toMatchObject({ exitCode: 9 });
    expect(log()).toBe('begun\nlate\n');
    expect(await newDriver().recover('a1111111/app#none')).toBeUndefined();
  });

  test('ends unclaimed containers, but none of other nodes', async () => {
    const [kept, ended] = [taskOf('exec sleep 600'), taskOf('exec sleep 600')];
    const foreign = taskOf('exec sleep 600');
    const driver = newDriver();
    for (const task of [kept, ended]) await driver.start(task);
    const other = newDriver({ dataDirectory: '/elsewhere' });
    await other.start(foreign);
    await driver.close();
    const next = newDriver();
    await next.endUnclaimed(new Set([kept.runId]));
    expect(podman.containers()).toHaveLength(2);
    expect(await next.recover(kept.runId)).toBeDefined();
    expect(await next.recover(ended.runId)).toBeUndefined();
  });
});

test('a fingerprint names the runtime', async () => {
  expect(await newDriver().fingerprint()).toEqual({
    detected: true,
    healthy: true,
    description: 'Healthy',
    attributes: {
      version: expect.stringMatching(/^\d+\./),
      api_version: expect.stringMatching(/^1\./),
      runtime: 'podman',
      'volumes.enabled': 'false',
      'privileged.enabled': 'false',
    },
  });
});
