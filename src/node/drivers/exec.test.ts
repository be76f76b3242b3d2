/** Isolated tasks seen from the inside, with real processes. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needing, root } from '../../base/not-run.test-helper.ts';
import { allDefences } from '../defences.ts';
import type { TaskDirectories } from '../directories.ts';
import { eventually } from '../eventually.test-helper.ts';
import { noCgroups } from '../supervisor/cgroups/layout.ts';
import { descendantsOf, findInside } from '../supervisor/inside.ts';
import { isAlive, readStat } from '../supervisor/proc.ts';
import {
  dataDirectory,
  driverNamed,
  newSupervisor,
  type Run,
  runTask,
  script,
  supervisor,
} from './driver-runs.test-helper.ts';
import { execDriver } from './exec.ts';
import { entryInto } from './isolation/enter.ts';
import { keepFilter } from './isolation/filter-file.ts';
import { namespaceOptions } from './isolation/isolate.ts';
import { allowancesOf } from './isolation/settings.ts';
import { findTools } from './isolation/tools.ts';
import { defaultHostView, viewOptions } from './isolation/view.ts';

/** The driver of a node that allows all extensions of sandboxes. */
const exec = () =>
  driverNamed('exec', {
    allowsRoot: true,
    allowsHostPid: true,
    allowsHostIpc: true,
    allowedCapabilities: ['chown', 'kill', 'net_bind_service'],
  });

/** The output of a script that succeeds. */
async function printed(
  text: string,
  ...[config, change]: [object?, Parameters<typeof runTask>[2]?]
) {
  const run = await runTask(exec(), script(text, { ...config }), change);
  expect([await run.exited, run.log('stderr')]).toMatchObject([{ exitCode: 0, signal: 0 }, '']);
  return run.log().trim();
}

/** Attempts to get at the pipes and logs of tasks. Successful ones are printed. */
const intoLogs = [
  'echo forged >> /alloc/logs/app.stdout.0',
  'rm -f /alloc/logs/app.stdout.0',
  'ln -s /etc/passwd /alloc/logs/app.stdout.1',
  'mkfifo /alloc/logs/app.stdout.1',
  'mv /alloc/logs /alloc/old',
  'rmdir /alloc/logs',
  'mount -o remount,rw /alloc/logs',
  'umount /alloc/logs',
  'unshare -Urm sh -c "umount /alloc/logs || mount -o remount,bind,rw /alloc/logs"',
  'mkdir /alloc/data/m; unshare -Urm sh -c "mount --bind /alloc /alloc/data/m; touch /alloc/data/m/logs/x"',
  'for root in /proc/[0-9]*/root; do touch $root/alloc/logs/x && exit; done; false',
];
const tryAll = intoLogs
  .map((attempt) => `(${attempt}) 2>/dev/null && echo '${attempt.replaceAll("'", '')}'`)
  .join('\n');

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
    ['nobody has what it asks for', { cap_add: ['CAP_CHOWN'] }, 'nobody', ['1', '1', '1']],
    ['root has the default', {}, 'root', ['default', 'default', '0']],
    ['root has none without any', { cap_drop: ['all'] }, 'root', ['0', '0', '0']],
    [
      'root has what is left',
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

describe('a task is refused', () => {
  test.each([
    ['no command', {}, ['Config.command is required']],
    [
      'all wrong',
      {
        command: 3,
        pid_mode: 'shared',
        ipc_mode: 1,
        cap_add: ['fly'],
        cap_drop: 'all',
        pids_limit: 0,
      },
      [
        'Config.command must be a text that is not empty',
        'Config.pid_mode must be "private" or "host"',
        'Config.ipc_mode must be "private" or "host"',
        'Config.cap_add names "fly", which is no capability',
        'Config.cap_drop must be a list of texts',
        'Config.pids_limit must be an integer from 1 to 4096',
      ],
    ],
    [
      'what widens its sandbox',
      { command: 'x', pid_mode: 'host', ipc_mode: 'host', cap_add: ['net_raw', 'setuid'] },
      [
        'Config.pid_mode is "host", and isolation.allow_host_pid of this node forbids that',
        'Config.ipc_mode is "host", and isolation.allow_host_ipc of this node forbids that',
        'Config.cap_add names "net_raw", and isolation.allow_capabilities of this node allows net_bind_service',
      ],
    ],
  ])('with %s', (_name, config, messages) => {
    expect(
      driverNamed('exec')
        .validate(config)
        .map(({ message }) => message),
    ).toEqual(messages);
  });

  test.each([
    [
      'a command that it does not see',
      { command: '/root/x' },
      {},
      /"\/root\/x" does not exist among what the task sees/,
    ],
    [
      'a name that is nowhere',
      { command: 'nowhere' },
      {},
      /"nowhere" was not found in \/local:\/usr\/bin:\/bin/,
    ],
    ['no program', { command: '/etc/passwd' }, {}, /\/etc\/passwd is not executable/],
    [
      'a directory that it does not see',
      { command: 'true', work_dir: '/home' },
      {},
      /work_dir "\/home" does not exist/,
    ],
    [
      'a user that there is not',
      { command: 'true' },
      { user: 'nobody-knows' },
      /no user "nobody-knows"/,
    ],
  ])('for %s', async (_name, config, change, message) => {
    await expect(runTask(exec(), config, change)).rejects.toMatchObject({
      name: 'DriverFailure',
      recoverable: false,
      message: expect.stringMatching(message),
    });
  });

  test('as a link that leads out of what it sees, whatever is there', async () => {
    const kept = join(dataDirectory, 'kept');
    writeFileSync(kept, 'x', { mode: 0o600 });
    const ends = [kept, dataDirectory, join(dataDirectory, 'absent')].map(async (target) => {
      const prepare = ({ local }: TaskDirectories) => symlinkSync(target, join(local, 'link'));
      const run = await runTask(exec(), { command: '/local/link' }, { prepare });
      const { exitCode } = await run.exited;
      return [exitCode, run.log('stderr')];
    });
    const [file, ...others] = await Promise.all(ends);
    expect(file).toEqual([expect.any(Number), expect.stringContaining('/local/link')]);
    expect(others).toEqual([file, file]);
  });

  test('if its sandbox cannot be made, and nothing is left', async () => {
    const settings = {
      view: { ...defaultHostView, '/etc/hostname': '/etc/hosts/inside-of-a-file' },
    };
    await expect(runTask(driverNamed('exec', settings), script('true'))).rejects.toMatchObject({
      message: expect.stringMatching(/a sandbox cannot be made here/),
    });
  });

  test('if its sandbox fails late', async () => {
    const prepare = ({ local }: TaskDirectories) => {
      rmdirSync(local);
      symlinkSync('/nowhere', local);
    };
    await expect(runTask(exec(), script('true'), { prepare })).rejects.toMatchObject({
      message: 'the sandbox could not be made; the error output of the task says why',
    });
  });
});

describe('a signal', () => {
  const waiting = 'trap "echo got; exit 3" USR1; echo ready; while :; do sleep 0.02; done';

  test('reaches the command, whose exit is reported', async () => {
    const run = await runTask(exec(), script(waiting));
    await eventually(() => expect(run.log()).toBe('ready\n'));
    await run.signal('SIGUSR1');
    expect(await run.exited).toMatchObject({ exitCode: 3, signal: 0 });
    expect(run.log()).toBe('ready\ngot\n');
  });

  test('that ends the command is reported as by a shell, with its number', async () => {
    const run = await runTask(exec(), { command: 'sleep', args: ['600'] });
    await run.stop('SIGINT', 5000);
    expect(await run.exited).toMatchObject({ exitCode: 130, signal: 2 });
  });

  test('to an ended task is refused', async () => {
    const run = await runTask(exec(), script('exit 0'));
    await run.exited;
    await expect(run.signal('SIGUSR1')).rejects.toThrow('the task is not running');
  });
});

describe('an agent that is replaced', () => {
  test('finds the unchanged task, signals it and learns its exit', async () => {
    const before = await runTask(
      exec(),
      script('trap "exit 5" TERM; echo ready; while :; do sleep 0.02; done'),
    );
    await eventually(() => expect(before.log()).toBe('ready\n'));
    const { pid, startTime } = supervisor.status(before.runId)!;
    await supervisor.close();
    newSupervisor();
    const handle = (await exec().recover(before.runId))!;
    expect(isAlive(pid, startTime)).toBe(true);
    await handle.stop('SIGTERM', 5000);
    expect(await handle.exited).toMatchObject({ exitCode: 5 });
  });

  test('finds its isolated tasks ended if the supervisor was killed', async () => {
    const run = await runTask(exec(), script('echo ready; sleep 600 & wait'));
    await eventually(() => expect(run.log()).toBe('ready\n'));
    const { command } = findInside(supervisor.status(run.runId)!.pid)!;
    process.kill(supervisor.pid, 'SIGKILL');
    await eventually(() => expect(readStat(command)?.state ?? 'Z').toBe('Z'));
    expect(await run.exited).toMatchObject({
      lost: 'the supervisor of the task ended unexpectedly',
    });
  });
});

describe('an agent that is not root', () => {
  /** The driver of such an agent. Fewer demands of the kernel are not visible here. */
  const driver = () => {
    const input = { settings: {}, cgroups: noCgroups, path: '/usr/bin:/bin', isRoot: false };
    const tools = findTools({ ...input, defences: allDefences });
    return execDriver({
      supervisor,
      isRoot: false,
      path: '/usr/bin',
      allowances: allowancesOf({ allowedCapabilities: ['chown'] }),
      tools: () => tools,
    });
  };

  test('runs tasks as its own user, with the same view and the necessary devices', async () => {
    const text =
      'echo x > /dev/null; head -c 3 /dev/zero | wc -c > /dev/stdout; ls / /dev; touch /x';
    const run = await runTask(driver(), script(text));
    expect(await run.exited).toMatchObject({ exitCode: 1 });
    expect(run.log()).toMatch(/^3\n.*local.*fd\nfull\nnull\nrandom\nshm\nstderr\n/s);
    expect(run.log('stderr')).toMatch(/^touch: .*Read-only file system\n$/);
  });

  test('lets no task write its logs', needing(root), async () => {
    const { directories } = await runTask(exec(), script('true'));
    const { root, local, secrets, shared, logs } = directories;
    writeFileSync(join(logs, 'app.stdout.0'), '');
    const own = [root, `${root}/tmp`, local, secrets, shared, `${shared}/data`, logs];
    for (const path of [...own, join(logs, 'app.stdout.0')]) chownSync(path, 65534, 65534);
    const kind = { isRoot: false, hasOwnProcesses: true };
    const view = viewOptions(defaultHostView, directories, kind);
    const sandbox = ['bwrap', ...namespaceOptions({}, allDefences), ...view, '/bin/sh', '-c'];
    const agent = ['--reuid=65534', '--regid=65534', '--clear-groups', '--', ...sandbox];
    chmodSync(dataDirectory, 0o711);
    const said = execFileSync('setpriv', [...agent, `touch /alloc/own; ${tryAll}; echo end`]);
    expect(said.toString().trim()).toBe('end');
    expect(existsSync(join(shared, 'own'))).toBe(true);
  });

  test.each([
    ['cap_add', { cap_add: ['chown'] }, {}, /cap_add needs an agent that runs as root/],
    ['another user', {}, { user: 'daemon' }, /can run a task as "daemon"/],
    ['pids_limit', { pids_limit: 5 }, {}, /pids_limit needs control groups/],
    [
      'cores',
      {},
      { resources: { cpuMhz: 1, cores: [0], memoryMb: 10, memoryMaxMb: 0 } },
      /cores need/,
    ],
  ])('refuses %s, which it cannot give', async (_name, config, change, message) => {
    await expect(runTask(driver(), script('true', config), change)).rejects.toThrow(message);
  });
});

describe('a command beside a task', () => {
  const tools = {
    nsenter: '/usr/bin/nsenter',
    setpriv: '/usr/bin/setpriv',
    bubblewrap: '/usr/bin/bwrap',
    filterFile: (capabilities: readonly string[]) => keepFilter(dataDirectory, capabilities),
    defences: allDefences,
  };

  /** The output of a command that is spawned as the entry says. */
  const beside = (run: Run, ...command: readonly string[]) => {
    const { command: words, variables } = entryInto(supervisor.status(run.runId)!, command, tools);
    const [program, ...args] = words;
    return execFileSync(program!, args, { env: { ...variables }, encoding: 'utf8' }).trim();
  };

  test.each([
    ['private', {}],
    ['host', { pid_mode: 'host', ipc_mode: 'host' }],
    ['with capabilities', { cap_add: ['chown'] }],
  ])('sees what it sees, as the same user with no more rights: %s', async (_name, config) => {
    const about = `
      ls /; id -u; id -g; grep -E "^(Cap|NoNewPrivs|Seccomp)" /proc/self/status; echo $SECRET-$LD_X
      for kind in pid ipc uts user; do readlink /proc/self/ns/$kind; done; pwd
    `;
    const variables = { SECRET: 'hidden', LD_X: 'heeded' };
    const run = await runTask(exec(), script(`${about}\nsleep 600`, config), { variables });
    await eventually(() => expect(run.log()).toMatch(/user:.*\n\/\n$/));
    expect(beside(run, '/bin/sh', '-c', about)).toBe(run.log().trim());
    await run.stop('SIGKILL', 0);
    await run.exited;
    expect(() => beside(run, 'true')).toThrow('the task is not running');
  });

  test('gets the task’s control groups, and ends with the task', async () => {
    const run = await runTask(exec(), { command: 'sleep', args: ['600'] });
    const status = supervisor.status(run.runId)!;
    const enter = () => entryInto(status, ['sleep', '600'], tools);
    await eventually(() => expect(enter).not.toThrow());
    const { command, variables, cgroups } = enter();
    expect(cgroups.every(existsSync)).toBe(true);
    const child = spawn(command[0]!, command.slice(1), { env: { ...variables } });
    const ended = once(child, 'exit');
    await eventually(() => expect(descendantsOf(child.pid!)).toHaveLength(3));
    await run.stop('SIGKILL', 0);
    await run.exited;
    expect(await ended).toEqual([null, 'SIGKILL']);
  });
});
