/** Volumes in sandboxes, with real processes. */
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TaskDirectories } from '../../directories.ts';
import type { DriverVolume } from '../driver.ts';
import { dataDirectory, driverNamed, runTask, script } from '../driver-runs.test-helper.ts';

const volume = (changes: Partial<DriverVolume> = {}): DriverVolume => ({
  name: 'data',
  source: mkdtempSync(join(dataDirectory, 'volume-')),
  destination: '/data',
  isReadOnly: false,
  propagation: 'private',
  seLinuxLabel: '',
  ...changes,
});

const rooted = () => driverNamed('exec', { allowsRoot: true });

test('the command and the working directory may be in a volume', async () => {
  const one = volume();
  writeFileSync(join(one.source, 'hello'), '#!/bin/sh\npwd\n', { mode: 0o755 });
  mkdirSync(join(one.source, 'sub'));
  const config = { command: '/data/hello', work_dir: '/data/sub' };
  const run = await runTask(rooted(), config, { volumes: [one], user: 'root' });
  expect([await run.exited, run.log()]).toMatchObject([{ exitCode: 0 }, '/data/sub\n']);
});

test('a volume may be in the task’s directory, or cover a directory of the system', async () => {
  const user = 'root';
  const own = volume({ destination: '/local/a/b' });
  const over = volume({ name: 'over', destination: '/usr/share' });
  const text = 'echo x > /local/a/b/x && cat /local/a/b/x && ls /usr/share | wc -l';
  const run = await runTask(rooted(), script(text), { volumes: [own, over], user });
  expect([await run.exited, run.log()]).toMatchObject([{ exitCode: 0 }, 'x\n0\n']);
});

const link = ({ local }: TaskDirectories) => symlinkSync('/etc', join(local, 'way'));

test.each<[string, Partial<DriverVolume>, (at: TaskDirectories) => void, string, boolean]>([
  ['whose directory has gone', { source: '/no/such' }, () => {}, 'is not there', true],
  [
    'through a link',
    { destination: '/local/way/in' },
    link,
    'a file or a link is in the way',
    false,
  ],
  ['at a link', { destination: '/local/way' }, link, 'a file or a link is in the way', false],
  ['where nothing can be made', { destination: '/usr/none' }, () => {}, 'no such directory', false],
  ['that mounts go out of', { propagation: 'bidirectional' }, () => {}, 'bidirectional', false],
  ['with a label', { seLinuxLabel: 'z' }, () => {}, 'only containers have labels', false],
])('no volume %s', async (_, changes, prepare, message, recoverable) => {
  const volumes = [volume(changes)];
  const starting = runTask(driverNamed('exec'), script('true'), { volumes, prepare });
  await expect(starting).rejects.toMatchObject({
    message: expect.stringContaining(message),
    recoverable,
  });
});
