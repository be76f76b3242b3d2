import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TaskDirectories } from '../directories.ts';
import { type CgroupLayout, noCgroups } from '../supervisor/cgroups/layout.ts';
import type { SupervisorClient } from '../supervisor/client.ts';
import type { StartRequest } from '../supervisor/protocol.ts';
import { SupervisorRefusal } from '../supervisor/protocol.ts';
import type { DriverTask } from './driver.ts';
import { rawExecDriver } from './raw-exec.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roster-raw-'));
  mkdirSync(join(directory, 'local'));
  for (const name of ['local/tool', 'other']) {
    writeFileSync(join(directory, name), '#!/bin/sh\n');
    chmodSync(join(directory, name), 0o755);
  }
  writeFileSync(join(directory, 'plain'), 'no program');
});
afterEach(() => rmSync(directory, { recursive: true }));

const taskDirectories = (root: string): TaskDirectories => ({
  root,
  shared: join(root, 'alloc'),
  logs: root,
  local: join(root, 'local'),
  secrets: join(root, 'secrets'),
});

const taskOf = (config: Record<string, unknown>): DriverTask => ({
  runId: 'a/app#1',
  allocId: 'a',
  namespace: 'default',
  jobId: 'web',
  groupName: 'servers',
  taskName: 'app',
  config,
  variables: { PATH: '/usr/bin:/bin:relative' },
  directories: taskDirectories(directory),
  resources: { cpuMhz: 100, cores: [], memoryMb: 64, memoryMaxMb: 0 },
  ports: [],
  user: '',
  logs: { directory, name: 'app', maxFiles: 1, maxFileBytes: 1, disabled: true },
});

/** Only `start` is used here; the real supervisor is tested in `supervisor.test.ts`. */
function supervisorThat(start: (request: StartRequest) => Promise<unknown>): SupervisorClient {
  return { start, exitOf: () => new Promise(() => {}) } as unknown as SupervisorClient;
}

test.each([
  ['a name in PATH', { command: 'sh' }, /^\/(usr\/)?bin\/sh$/],
  ['a name in local', { command: 'tool' }, /\/local\/tool$/],
  ['a name in the task’s directory', { command: 'other' }, /roster-raw-\w+\/other$/],
  ['an absolute path', { command: '/bin/sh' }, /^\/bin\/sh$/],
  ['a path in the task’s directory', { command: './local/tool' }, /\/local\/tool$/],
])('the command may be %s', async (_name, config, expected) => {
  let started: StartRequest | undefined;
  const driver = rawExecDriver(
    supervisorThat(async (request) => {
      started = request;
    }),
  );
  await driver.start(taskOf(config));
  expect(started?.command).toMatch(expected);
});

test.each([
  [
    'a name that is nowhere',
    'no-such-thing',
    /"no-such-thing" was not found in .*:\/usr\/bin:\/bin$/,
  ],
  ['a path that is not there', '/no/such', /"\/no\/such" does not exist/],
  ['no program', './plain', /plain is not executable/],
  ['a directory', '/bin', /"\/bin" does not exist/],
])('%s fails for good', async (_name, command, message) => {
  const driver = rawExecDriver(supervisorThat(async () => {}));
  const failure = driver.start(taskOf({ command }));
  await expect(failure).rejects.toMatchObject({
    message: expect.stringMatching(message),
    recoverable: false,
  });
});

test.each([
  ['EACCES', false],
  ['EAGAIN', true],
])('a start that fails with %s may be tried again: %s', async (code, recoverable) => {
  const driver = rawExecDriver(
    supervisorThat(async () => {
      throw new SupervisorRefusal(code, 'refused');
    }),
  );
  await expect(driver.start(taskOf({ command: 'sh' }))).rejects.toMatchObject({ recoverable });
});

test.each([
  ['a good one', { command: 'sh', args: ['-c', 'x'], work_dir: 'local' }, []],
  ['an empty one', {}, ['Config.command is required']],
  [
    'all wrong',
    { command: 3, args: 'x', work_dir: '', image: 'y' },
    [
      'Config.command must be a text that is not empty',
      'Config.args must be a list of texts',
      'Config.work_dir must be a text that is not empty',
      'Config.image is not known here; known are command, args, work_dir, pids_limit',
    ],
  ],
  ['a number in args', { command: 'x', args: [1] }, ['Config.args must be a list of texts']],
])('%s has these faults', (_name, config, messages) => {
  const faults = rawExecDriver(supervisorThat(async () => {})).validate(config);
  expect(faults.map(({ message }) => message)).toEqual(messages);
});

test.each([
  ['has to be moved into its groups', { separate: [], unified: '/v2' }, true],
  ['begins in its groups', { separate: ['pids', 'freezer'], unified: '/v2' }, false],
  ['has no groups', { separate: [], unified: undefined }, false],
] as const)(
  'a start is expected of a task that %s: %o',
  (_name, { separate, unified }, isExpected) => {
    const layout: CgroupLayout = {
      ...noCgroups,
      separate: new Map(separate.map((name) => [name, `/v1/${name}`])),
      unified: unified && { directory: unified, controllers: new Set() },
    };
    let expected = 0;
    const expectStart = () => void expected++;
    rawExecDriver({ expectStart } as unknown as SupervisorClient, layout).expectStart?.();
    expect(expected).toBe(isExpected ? 1 : 0);
  },
);
