/** Tasks as containers of a real runtime: their start, their view and their end. */
import { mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../eventually.test-helper.ts';
import type { DriverVolume } from '../driver.ts';
import {
  directories,
  directory,
  log,
  newDriver,
  podman,
  runToEnd,
  taskOf,
} from './docker-tasks.test-helper.ts';

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
