/** Forbidden actions, tried by real tasks in sandboxes, with all defences and without one. */
import { describe, expect, test } from 'vitest';
import { type Need, needing } from '../../../base/not-run.test-helper.ts';
import { defencesWithout } from '../../defences.ts';
import type { Driver } from '../driver.ts';
import { driverNamed, runTask, script, supervisor } from '../driver-runs.test-helper.ts';
import { processDrivers } from '../processes.ts';
import type { IsolationSettings } from './settings.ts';

const strict = () => driverNamed('exec');

const without = (defence: Parameters<typeof defencesWithout>[0][number], settings = {}): Driver =>
  processDrivers(supervisor, settings, '/usr/bin:/bin', defencesWithout([defence])).find(
    ({ name }) => name === 'exec',
  )!;

async function printed(driver: Driver, text: string, change: object = {}): Promise<string> {
  const run = await runTask(driver, script(text), change);
  await run.exited;
  return run.log().trim();
}

/** Makes system calls by number, and prints each result: 0, or the number of the error. */
const calling = (...calls: readonly string[]) =>
  calls.map((call) => `perl -e '$! = 0; syscall(${call}); print $! + 0, "\n"'`).join('\n');

const numbersOfCalls: Need = {
  isMet: process.arch === 'x64',
  otherwise: `they make calls by the numbers of x64, and this machine is ${process.arch}`,
};

const refusedCalls: readonly (readonly [string, string, number])[] = [
  ['mount', '165, 0, 0, 0, 0, 0', 1],
  ['unshare', '272, 0x10000000', 1],
  ['setns', '308, 0, 0', 1],
  ['clone into a user namespace', '56, 0x10000011, 0, 0, 0, 0', 1],
  ['clone3', '435, 0, 0', 38],
  ['keyctl', '250, 0, 0, 0', 1],
  ['add_key', '248, 0, 0, 0, 0, 0', 1],
  ['bpf', '321, 0, 0, 0', 1],
  ['perf_event_open', '298, 0, 0, 0, 0, 0', 1],
  ['userfaultfd', '323, 0', 1],
  ['io_uring_setup', '425, 1, 0', 1],
  ['open_by_handle_at', '304, 0, 0, 0', 1],
  ['a personality without randomness', '135, 0x0040000', 1],
  ['a socket of virtual machines', '41, 40, 1, 0', 97],
  ['a socket of ciphers', '41, 38, 5, 0', 97],
  ['a call of the other ABI for 64 bits', '0x40000027', 38],
];

describe('system calls', needing(numbersOfCalls), () => {
  test('are refused to a task of nobody and to a task of root', async () => {
    const text = calling(...refusedCalls.map(([, call]) => call));
    const expected = refusedCalls.map(([name, , error]) => `${name}: ${error}`);
    const named = (output: string) =>
      output.split('\n').map((error, index) => `${refusedCalls[index]?.[0]}: ${error}`);
    expect(named(await printed(strict(), text))).toEqual(expected);
    const rooted = driverNamed('exec', { allowsRoot: true });
    expect(named(await printed(rooted, text, { user: 'root' }))).toEqual(expected);
  });

  test('are allowed without the filter, as far as the kernel allows them', async () => {
    const text = calling('272, 0x10000000', '250, 0, -3, 1', '425, 1, 0');
    expect((await printed(without('systemCalls'), text)).split('\n')).not.toContain('1');
  });

  test('that programs need are allowed', async () => {
    const text = `
      perl -e 'use Socket; socket(S, AF_INET, SOCK_STREAM, 0) or die; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die; print fork() ? "parent\n" : ""; wait'
      sh -c 'sleep 0.01 & wait; echo waited'; ls / > /dev/null && echo listed; date > /dev/null && echo dated`;
    expect(await printed(strict(), text)).toBe('parent\nwaited\nlisted\ndated');
  });
});

describe('root in its sandbox', () => {
  const open: IsolationSettings = { allowsRoot: true, allowsHostPid: true };
  const seen = 'grep -q . /proc/[0-9]*/root/etc/shadow 2>/dev/null && echo out || echo in';
  const config = { pid_mode: 'host' };
  const attempt = async (driver: Driver) => {
    const run = await runTask(driver, script(seen, config), { user: 'root' });
    await run.exited;
    return run.log().trim();
  };

  test('reaches no file of the machine through a visible process', async () => {
    expect(await attempt(driverNamed('exec', open))).toBe('in');
  });

  test('reaches them if it is root in the machine’s own namespace', async () => {
    expect(await attempt(without('userNamespaces', open))).toBe('out');
  });

  test('owns its files as the machine’s root, without power over the machine', async () => {
    const text = `
      echo x > /local/x && stat -c %u /local/x; chown 1:1 /local/x && stat -c %u /local/x
      mount -t tmpfs none /tmp 2>/dev/null || echo no mount; mknod /local/m b 7 0 2>/dev/null || echo no device
      cat /proc/self/uid_map | tr -s ' '`;
    const rooted = driverNamed('exec', { allowsRoot: true });
    expect(await printed(rooted, text, { user: 'root' })).toMatch(
      /^0\n1\nno mount\nno device\n 0 0 \d+$/,
    );
  });
});

describe('the user and rights of a task', () => {
  test.each([
    ['root', 'the user "root" is root on this machine'],
    ['0', 'the user "0" is root on this machine'],
  ])('not %s, unless the node allows it', async (user, message) => {
    await expect(runTask(strict(), script('true'), { user })).rejects.toMatchObject({
      message: `${message}, and isolation.allow_root of this node allows no task that`,
      recoverable: false,
    });
  });

  test('capabilities over the machine exclude a view of its processes', async () => {
    const driver = driverNamed('exec', { allowsHostPid: true });
    const config = { cap_add: ['net_bind_service'], pid_mode: 'host' };
    await expect(runTask(driver, script('true', config))).rejects.toThrow(
      'cap_add cannot be had together with pid_mode = "host"',
    );
  });

  test('a task with the capability listens on a low port', async () => {
    const listens = `perl -e 'use Socket; socket(S, AF_INET, SOCK_STREAM, 0); print bind(S, sockaddr_in(81, inet_aton("127.0.0.9"))) ? "bound" : $!'`;
    const run = await runTask(strict(), script(listens, { cap_add: ['net_bind_service'] }));
    await run.exited;
    expect(run.log()).toBe('bound');
    expect(await printed(strict(), listens)).toBe('Permission denied');
  });
});

test('a task has no descriptors besides input, output and errors', async () => {
  // The listing program itself has the directory open.
  for (const [driver, config] of [
    [strict(), {}],
    [strict(), { cap_add: ['net_bind_service'] }],
    [driverNamed('raw_exec'), {}],
  ] as const) {
    const run = await runTask(driver, script('exec ls /proc/self/fd', config));
    await run.exited;
    expect(run.log().trim().split('\n')).toEqual(['0', '1', '2', '3']);
  }
});
