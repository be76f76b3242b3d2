import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { realWorld } from '../../../base/ports-real.ts';
import type { TaskDirectories } from '../../directories.ts';
import { eventually } from '../../eventually.test-helper.ts';
import type { DriverExec, DriverTask, DriverVolume } from '../driver.ts';
import { DockerDriver, type DockerDriverOptions } from './docker-driver.ts';
import { Podman, testImage } from './podman.test-helper.ts';

let podman: Podman;
beforeAll(async () => {
  podman = new Podman();
  await podman.start();
});
afterAll(() => podman.close());

let directory: string;
let directories: TaskDirectories;
let drivers: DockerDriver[];
let told: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roster-docker-'));
  const root = join(directory, 'app');
  const shared = join(directory, 'alloc');
  directories = {
    root,
    shared,
    logs: join(shared, 'logs'),
    local: join(root, 'local'),
    secrets: join(root, 'secrets'),
  };
  for (const path of [...Object.values(directories), join(root, 'private')]) {
    mkdirSync(path, { recursive: true });
  }
  drivers = [];
  told = [];
});
afterEach(async () => {
  for (const driver of drivers) {
    await driver.killAll();
    await driver.close();
  }
  rmSync(directory, { recursive: true });
});

function newDriver(options: Partial<DockerDriverOptions> = {}): DockerDriver {
  const driver = new DockerDriver({
    clock: realWorld.clock,
    timers: realWorld.timers,
    settings: { socket: podman.socket },
    dataDirectory: directory,
    endWithAgent: false,
    environment: {},
    processor: { cores: 2, totalMhz: 4000 },
    ...options,
  });
  drivers.push(driver);
  return driver;
}

let runs = 0;
function taskOf(script: string, fields: Partial<DriverTask> = {}): DriverTask {
  const { config, ...rest } = fields;
  return {
    runId: `a1111111/app#${++runs}`,
    allocId: 'a1111111',
    namespace: 'default',
    jobId: 'web',
    groupName: 'servers',
    taskName: 'app',
    variables: { GREETING: 'hello there', ROSTER_TASK_DIR: '/local' },
    directories,
    resources: { cpuMhz: 500, cores: [], memoryMb: 64, memoryMaxMb: 0 },
    ports: [],
    user: '',
    logs: {
      directory: directories.logs,
      name: 'app',
      maxFiles: 3,
      maxFileBytes: 2 ** 20,
      disabled: false,
    },
    tell: (sentence) => told.push(sentence),
    config: {
      image: testImage,
      command: 'sh',
      args: ['-c', script],
      network_mode: 'none',
      ...config,
    },
    ...rest,
  };
}

const log = (stream = 'stdout'): string =>
  readdirSync(directories.logs)
    .filter((name) => name.startsWith(`app.${stream}.`))
    .sort((left, right) => Number(left.split('.')[2]) - Number(right.split('.')[2]))
    .map((name) => readFileSync(join(directories.logs, name), 'utf8'))
    .join('');

async function runToEnd(script: string, fields: Partial<DriverTask> = {}) {
  const handle = await newDriver().start(taskOf(script, fields));
  return handle.exited;
}

describe('a task', () => {
  test('runs with its variables and directories, and ends with its own exit code', async () => {
    const script = 'echo $GREETING; echo oops >&2; touch /alloc/a /local/b /secrets/c; exit 7';
    const exit = await runToEnd(script);
    expect(exit).toMatchObject({ exitCode: 7, signal: 0, oomKilled: false });
    expect(Math.abs(exit.timeMs - Date.now())).toBeLessThan(20_000);
    expect([log('stdout'), log('stderr')]).toEqual(['hello there\n', 'oops\n']);
    const { shared, local, secrets } = directories;
    for (const path of [join(shared, 'a'), join(local, 'b'), join(secrets, 'c')]) statSync(path);
  });

  test('reads its logs and cannot change them, however it mounts them', async () => {
    writeFileSync(join(directories.logs, 'kept'), 'kept');
    const volumes = ['../alloc:/shared', '../alloc/logs:/printed'];
    const places = ['/alloc/logs', '/shared/logs', '/printed'];
    const attempts = places.flatMap((place) => [
      `echo x > ${place}/forged`,
      `mknod ${place}/device b 7 0`,
      `rm -f ${place}/kept`,
      `mv ${place} ${place}-gone`,
    ]);
    const script = [
      `cat ${places.map((place) => `${place}/kept`).join(' ')}; echo`,
      ...attempts.map((attempt) => `(${attempt}) 2>/dev/null && echo "${attempt}"`),
      'touch /alloc/mine /shared/mine; true',
    ].join('\n');
    const exit = await runToEnd(script, { config: { ...taskOf(script).config, volumes } });
    expect(exit).toMatchObject({ exitCode: 0 });
    expect(log()).toBe('keptkeptkept\n');
    expect(readFileSync(join(directories.logs, 'kept'), 'utf8')).toBe('kept');
  });

  test('cannot mount its own directory, in which the agent keeps private files', async () => {
    const config = { ...taskOf('true').config, volumes: ['.:/task'] };
    await expect(runToEnd('true', { config })).rejects.toThrow(/agent keeps files of its own/);
  });

  test('may run as another user of its image, and owns its directories', async () => {
    await runToEnd('id -u; touch /local/mine /secrets/mine', { user: 'app' });
    expect(log()).toBe('1234\n');
    expect(statSync(join(directories.local, 'mine')).uid).toBe(1234);
    expect(statSync(directories.secrets).gid).toBe(1235);
  });

  test('has the limits of its resources', async () => {
    const driver = newDriver();
    const resources = { cpuMhz: 1000, cores: [1], memoryMb: 64, memoryMaxMb: 96 };
    const config = { pids_limit: 50, cpu_hard_limit: true };
    const task = taskOf('exec sleep 600', {
      resources,
      config: { ...taskOf('').config, ...config, args: ['-c', 'exec sleep 600'] },
    });
    await driver.start(task);
    const { HostConfig } = JSON.parse(podman.run('inspect', podman.containers()[0]!))[0];
    expect(HostConfig).toMatchObject({
      CpuShares: 1000,
      CpusetCpus: '1',
      CpuPeriod: 100_000,
      CpuQuota: 50_000,
      PidsLimit: 50,
      Memory: 96 * 2 ** 20,
      MemoryReservation: 64 * 2 ** 20,
    });
  });

  test('that uses too much memory is killed, with the reason', async () => {
    const resources = { cpuMhz: 500, cores: [], memoryMb: 24, memoryMaxMb: 0 };
    const exit = await runToEnd('x=a; while :; do x=$x$x; done', { resources });
    expect(exit).toMatchObject({ exitCode: 137, oomKilled: true });
  });

  test('that does not end when asked is killed after its timeout', async () => {
    const driver = newDriver();
    const handle = await driver.start(
      taskOf("trap 'echo asked' TERM; echo up; while :; do sleep 0.1; done"),
    );
    await eventually(() => expect(log()).toBe('up\n'));
    await handle.signal('SIGTERM');
    await eventually(() => expect(log()).toBe('up\nasked\n'));
    await handle.stop('SIGTERM', 3000);
    expect(await handle.exited).toMatchObject({ exitCode: 137, oomKilled: false });
    expect(log()).toBe('up\nasked\nasked\n');
    await expect(handle.signal('SIGHUP')).rejects.toThrow('the task is not running');
    await handle.forget();
    expect(podman.containers()).toEqual([]);
  });

  test('is started once, however many starts there are', async () => {
    const driver = newDriver();
    const task = taskOf('echo once; exec sleep 600');
    const first = await driver.start(task);
    expect(await driver.start(task)).toBe(first);
    expect((await newDriver().start(task)).runId).toBe(first.runId);
    expect(podman.containers()).toHaveLength(1);
  });
});

describe('a start fails for', () => {
  test.each([
    [
      'an image that is not there',
      { image: '127.0.0.1:1/none:1' },
      /127\.0\.0\.1:1\/none:1 could not be downloaded: .*connection refused/,
      true,
    ],
    [
      'a program that is not there',
      { command: '/no/such', args: [] },
      /\/no\/such: no such file/,
      false,
    ],
    [
      'a port that is not there',
      { ports: ['http'] },
      /Config.ports names http, which the group does not have; it has none/,
      false,
    ],
    [
      'a mount of the host',
      { volumes: ['/etc:/host'] },
      /"\/etc" is outside the task's part of allocation a1111111/,
      false,
    ],
    [
      'a link out of the task',
      { volumes: ['local/link:/host'] },
      /"local\/link" is outside the task's part/,
      false,
    ],
    [
      'a named volume',
      { mounts: [{ type: 'volume', source: 'x', target: '/x' }] },
      /the volume at \/x can be mounted only/,
      false,
    ],
    [
      'a mount of nothing',
      { volumes: ['local/none:/x'] },
      /"local\/none" cannot be mounted: it does not exist/,
      false,
    ],
  ])('%s', async (_name, config, message, recoverable) => {
    symlinkSync('/etc', join(directories.local, 'link'));
    const task = taskOf('true', { config: { ...taskOf('true').config, ...config } });
    const failure = newDriver().start(task);
    await expect(failure).rejects.toMatchObject({
      message: expect.stringMatching(message),
      recoverable,
    });
    expect(podman.containers()).toEqual([]);
  });

  test('a user that the image does not have', async () => {
    const failure = newDriver().start(taskOf('true', { user: 'nobody-knows' }));
    await expect(failure).rejects.toMatchObject({ recoverable: false });
    expect(podman.containers()).toEqual([]);
  });
});

test('a task can mount its own directories and memory elsewhere', async () => {
  const volumes = ['local:/data:ro'];
  const mount = { type: 'tmpfs', target: '/scratch', tmpfs_options: { size: 65_536 } };
  const base = taskOf('echo hi > /scratch/x; cat /scratch/x; echo no > /data/x', {});
  await runToEnd('', { config: { ...base.config, volumes, mount } });
  expect([log('stdout'), log('stderr')]).toEqual([
    'hi\n',
    expect.stringMatching(/Read-only file system/),
  ]);
});

test('a task has the volumes of the node, whatever it may mount itself', async () => {
  const volume = (name: string, changes: Partial<DriverVolume> = {}): DriverVolume => ({
    name,
    source: mkdtempSync(join(directory, 'volume-')),
    destination: `/${name}`,
    isReadOnly: false,
    propagation: 'private',
    seLinuxLabel: '',
    ...changes,
  });
  const one = volume('one', { propagation: 'host-to-task' });
  const volumes = [
    one,
    volume('fixed', { isReadOnly: true }),
    volume('labelled', { isReadOnly: true, seLinuxLabel: 'z' }),
  ];
  await runToEnd('echo hi > /one/x; cat /one/x; echo > /fixed/x; echo > /labelled/x', { volumes });
  expect(readFileSync(join(one.source, 'x'), 'utf8')).toBe('hi\n');
  expect(log('stdout')).toBe('hi\n');
  expect(log('stderr').match(/Read-only file system/g)).toHaveLength(2);
  const gone = newDriver().start(
    taskOf('true', { volumes: [volume('x', { source: '/no/such' })] }),
  );
  await expect(gone).rejects.toMatchObject({
    message: 'the directory of the host volume "x" is not there',
    recoverable: true,
  });
});

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
