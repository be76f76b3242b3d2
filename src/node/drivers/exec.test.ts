/** The view and the surroundings of isolated tasks, from the inside, with real processes. */
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../eventually.test-helper.ts';
import { findInside } from '../supervisor/inside.ts';
import { driverNamed, runTask, script, supervisor } from './driver-runs.test-helper.ts';
import { exec, printed, tryAll } from './sandboxed-tasks.test-helper.ts';

describe('a task sees', () => {
  test('the system, its own directories, and nothing else of the machine', async () => {
    const names = (await printed('ls / && echo -- && ls /etc')).split('--');
    expect(names[0]!.trim().split('\n')).toEqual(
      expect.arrayContaining(['alloc', 'bin', 'dev', 'local', 'proc', 'secrets', 'tmp', 'usr']),
    );
    for (const absent of ['home', 'root', 'var', 'run', 'opt']) {
      expect(names[0]!.split('\n')).not.toContain(absent);
    }
    expect(names[1]!.split('\n')).not.toContain('shadow');
    expect(names[1]!.split('\n')).toContain('passwd');
  });

  test.each([
    ['the root', 'touch /x'],
    ['the system', 'touch /usr/x'],
    ['its settings', 'touch /etc/x'],
    ['the kernel’s settings', 'echo 1 > /proc/sys/kernel/panic'],
  ])('%s, and cannot write there, root or not', async (_name, text) => {
    const attempt = `(${text}) 2>/dev/null && echo wrote || echo refused`;
    expect(await printed(attempt)).toBe('refused');
    expect(await printed(attempt, {}, { user: 'root' })).toBe('refused');
  });

  test('its directories, whose files are those of the host', async () => {
    const text = `
      echo a > /alloc/data/a; echo b > /local/b; echo c > /secrets/c; echo d > /tmp/d
      stat -c %a:%U /tmp /secrets
    `;
    const run = await runTask(exec(), script(text));
    expect(await run.exited).toMatchObject({ exitCode: 0 });
    const { shared, local, secrets, root } = run.directories;
    const files = [`${shared}/data/a`, `${local}/b`, `${secrets}/c`, `${root}/tmp/d`];
    expect(files.map((file) => readFileSync(file, 'utf8').trim())).toEqual(['a', 'b', 'c', 'd']);
    expect(run.log()).toBe('1777:nobody\n700:nobody\n');
  });

  test.each(['', 'root'])('its logs, which it cannot change as user "%s"', async (user) => {
    const text = `cat /alloc/logs/app.stdout.0 >/dev/null || echo unread; ${tryAll}; echo end`;
    const change = user === '' ? {} : { user };
    expect(await printed(text, {}, change)).toBe('end');
  });

  test('only its own processes', async () => {
    const seen = await printed('ls /proc | grep -c "^[0-9]"; cat /proc/1/comm; echo $$');
    const [count, first, own] = seen.split('\n');
    expect(Number(count)).toBeLessThan(6);
    expect([first, own]).toEqual(['bwrap', '2']);
  });

  test('the host’s processes if it asks for them', async () => {
    const seen = await printed('echo $$', { pid_mode: 'host' });
    expect(Number(seen)).toBeGreaterThan(10);
  });

  test.each([
    ['private', {}, false],
    ['host', { ipc_mode: 'host' }, true],
  ])('a namespace for messages that is %s', async (_name, config, isHost) => {
    const host = statSync('/proc/self/ns/ipc').ino;
    expect((await printed('stat -L -c %i /proc/self/ns/ipc', config)) === String(host)).toBe(
      isHost,
    );
  });

  test('only the places of the host that the node shows it', async () => {
    const driver = driverNamed('exec', {
      view: {
        '/usr': '/usr',
        '/bin': '/bin',
        '/lib': '/lib',
        '/lib64': '/lib64',
        '/etc/passwd': '/names',
      },
    });
    const run = await runTask(driver, script('head -c 4 /names; ls /etc 2>/dev/null || echo none'));
    expect(await run.exited).toMatchObject({ exitCode: 0 });
    expect(run.log()).toBe('rootnone\n');
  });

  test('no connection of its supervisor', async () => {
    expect(await printed('ls -l /proc/self/fd')).not.toContain('socket:');
  });
});

describe('a task runs', () => {
  test.each([
    ['as nobody unless it says otherwise', {}, '65534:65534'],
    ['as a user by name', { user: 'daemon' }, '1:1'],
    ['as a user by number', { user: '2' }, '2:2'],
    ['as root when it asks for that', { user: 'root' }, '0:0'],
  ])('%s', async (_name, change, ids) => {
    expect(await printed('echo $(id -u):$(id -g)', {}, change)).toBe(ids);
  });

  const capabilities = 'grep -E "Cap(Eff|Bnd|Amb)|NoNewPrivs" /proc/self/status | cut -f2';

  test.each([
    ['nobody has none, and cannot get any', {}, 'nobody', ['0', '0', '0']],
    [
      'nobody has the capabilities that it asks for',
      { cap_add: ['CAP_CHOWN'] },
      'nobody',
      ['1', '1', '1'],
    ],
    ['root has the default', {}, 'root', ['default', 'default', '0']],
    ['root has none without any', { cap_drop: ['all'] }, 'root', ['0', '0', '0']],
    [
      'root has the remaining capabilities',
      { cap_drop: ['all'], cap_add: ['chown', 'kill'] },
      'root',
      ['21', '21', '0'],
    ],
  ])('%s', async (_name, config, user, [effective, bounding, ambient]) => {
    const seen = await printed(capabilities, config, { user });
    // audit_write, chown, dac_override, fowner, fsetid, kill, net_bind_service, setfcap, set*id, …
    const bits = [29, 0, 1, 3, 4, 5, 10, 31, 6, 8, 7, 18];
    const byDefault = bits.reduce((sum, bit) => sum + 2n ** BigInt(bit), 0n).toString(16);
    const expected = [effective, bounding, ambient].map((set) =>
      set === 'default' ? byDefault : set,
    );
    const sets = seen.split('\n').map((set) => set.replace(/^0+(?=.)/, ''));
    expect(sets).toEqual([...expected, '1']);
  });

  test('in its own root, or in its work_dir', async () => {
    expect(await printed('pwd')).toBe('/');
    expect(await printed('pwd', { work_dir: 'local' })).toBe('/local');
    expect(await printed('pwd', { work_dir: '/usr/lib' })).toBe('/usr/lib');
  });

  test.each([
    ['a name in PATH', 'true', 0],
    ['a name in its local directory', 'tool', 7],
    ['a path from its root', 'local/tool', 7],
    ['an absolute path', '/local/tool', 7],
  ])('%s', async (_name, command, exitCode) => {
    const prepare = ({ local }: { local: string }) => {
      writeFileSync(join(local, 'tool'), '#!/bin/sh\nexit 7\n');
      chmodSync(join(local, 'tool'), 0o755);
    };
    const run = await runTask(exec(), { command }, { prepare });
    expect(await run.exited).toMatchObject({ exitCode });
  });

  test('with its variables, whatever their values, and shows them to nobody', async () => {
    const variables = {
      'a.b': 'x',
      TEXT: 'one\ntwo "three" $four',
      EMPTY: '',
      SECRET: 'hidden-in-here',
    };
    const print =
      "const { TEXT, EMPTY, PWD, TMPDIR } = process.env; console.log(JSON.stringify({ ab: process.env['a.b'], TEXT, EMPTY, PWD, TMPDIR }))";
    const view = { [process.execPath]: '/node' };
    const driver = driverNamed('exec', {
      view: { '/usr': '/usr', '/bin': '/bin', '/lib': '/lib', '/lib64': '/lib64', ...view },
    });
    const run = await runTask(
      driver,
      { command: '/node', args: ['-e', `${print}; setInterval(() => {}, 1e9)`] },
      { variables, resources: { cpuMhz: 100, cores: [], memoryMb: 512, memoryMaxMb: 0 } },
    );
    await eventually(() => expect(run.log()).not.toBe(''));
    const { 'a.b': ab, SECRET, ...plain } = variables;
    expect(JSON.parse(run.log())).toEqual({ ab, ...plain, PWD: '/', TMPDIR: '/tmp' });
    const { pid } = supervisor.status(run.runId)!;
    const { first, command } = findInside(pid)!;
    for (const one of [pid, first, command]) {
      expect(readFileSync(`/proc/${one}/cmdline`, 'latin1')).not.toContain(SECRET);
    }
    await run.stop('SIGKILL', 0);
    expect(await run.exited).toMatchObject({ signal: 9 });
  });

  test('with a library of its variables, which is loaded only after all further rights are dropped', async () => {
    const seen = await printed(
      'echo ${LD_PRELOAD:-none}; env | grep -c LD_PRELOAD',
      {},
      {
        // The loader reports a file that it cannot load on each program's error output.
        variables: { LD_LIBRARY_PATH: '/local', LD_PRELOAD: '' },
      },
    );
    expect(seen).toBe('none\n1');
  });
});
