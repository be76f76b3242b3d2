/** Refusals, signals, agents and commands beside isolated tasks, with real processes. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
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
import { exec, tryAll } from './sandboxed-tasks.test-helper.ts';

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
      /"\/root\/x" is not visible to the task/,
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
      /work_dir "\/home" is not visible/,
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

  test('if its command is a link that leads out, with the same error for every target', async () => {
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
  ])('sees the same files, as the same user with no more rights: %s', async (_name, config) => {
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
