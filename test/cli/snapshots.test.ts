/** `roster operator snapshot`, against a server. */
import { beforeEach, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { type CliSetting, cliOf } from '../support/cli.ts';
import { Fleet } from '../support/fleet.ts';

let api: TestApi;
let written: Map<string, Uint8Array>;
const cli = (words: string, setting: CliSetting = {}) =>
  api.worked(cliOf(api)(words.split(' '), { written, ...setting }));

beforeEach(async () => {
  api = await startApi();
  written = new Map();
  await new Fleet(api).join(1);
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
});

test('save writes a file that inspect can read', async () => {
  const { index } = api.state.read();
  const saved = await cli('operator snapshot save backup.snapshot');
  expect(saved).toMatchObject({ exitCode: 0, stderr: '' });
  expect(saved.stdout).toMatch(
    new RegExp(`^Saved the state at index ${index} to backup.snapshot \\([0-9.]+ KiB\\)\\.\n$`),
  );
  const shown = await cli('operator snapshot inspect backup.snapshot');
  expect(shown.exitCode).toBe(0);
  expect(shown.stdout).toMatch(new RegExp(`^Index +${index}\n`));
  expect(shown.stdout).toMatch(/^Checksum +[0-9a-f]{64} \(right\)$/m);
  expect(shown.stdout).toMatch(/^jobs +3 +1 +[0-9.]+ KiB$/m);
});

test('without a name the file is called after its time and index', async () => {
  const { index } = api.state.read();
  const saved = await cli('operator snapshot save -json');
  const name = `roster-20260101T000000Z-${index}.snapshot`;
  expect(JSON.parse(saved.stdout)).toMatchObject({ File: name, Index: index, Format: 1 });
  expect([...written.keys()]).toEqual([name]);
  const inspected = JSON.parse((await cli(`operator snapshot inspect -json ${name}`)).stdout);
  expect(inspected).toMatchObject({ Index: index, Checksum: JSON.parse(saved.stdout).Checksum });
  expect(inspected.Effect).toBeUndefined();
});

test('a caller without the permission saves nothing', async () => {
  const refused = await cli('operator snapshot save a.snapshot', { token: 'none' });
  expect(refused.exitCode).toBe(1);
  expect(written.size).toBe(0);
});

test('inspect refuses a damaged file by name', async () => {
  await cli('operator snapshot save a.snapshot');
  const bytes = written.get('a.snapshot')!;
  written.set('cut', bytes.subarray(0, bytes.byteLength - 1));
  written.set('other', Buffer.from('something else'));
  for (const [name, reason] of [
    ['cut', 'it is cut off'],
    ['other', 'it does not begin as a snapshot does'],
  ]) {
    const { exitCode, stderr } = await cli(`operator snapshot inspect ${name}`);
    expect([exitCode, stderr]).toEqual([
      1,
      `Error: "${name}": The snapshot cannot be used: ${reason}.\n`,
    ]);
  }
});

test('inspect tells the effect of a restore on jobs and allocations', async () => {
  await cli('operator snapshot save a.snapshot');
  const same = await cli('operator snapshot inspect -against a.snapshot');
  expect(same.stdout).toContain('A restore would change no job and no allocation.');
  await api.call('DELETE', '/v1/job/web');
  await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'later' }) });
  await api.settle();
  const [later] = (await api.call('GET', '/v1/job/later/allocations')).json;
  const [web] = (await api.call('GET', '/v1/job/web/allocations')).json;
  const { stdout } = await cli('operator snapshot inspect -against a.snapshot');
  expect(stdout.slice(stdout.indexOf('Jobs that'))).toBe(`Jobs that would run again
  web

Jobs that would no longer run
  later

Allocations that would run again
  ${web.ID.slice(0, 8)} of web

Allocations that the snapshot does not know
  ${later.ID.slice(0, 8)} of later
`);
});

test('inspect reads standard input, and restore refuses to read it twice', async () => {
  const inspected = await cli('operator snapshot inspect -', { stdin: 'no snapshot' });
  expect([inspected.exitCode, inspected.stderr]).toEqual([1, expect.stringContaining('"-": ')]);
  const restored = await cli('operator snapshot restore -', { stdin: 'no snapshot' });
  expect([restored.exitCode, restored.stderr]).toEqual([
    1,
    'Error: A restore reads its file twice: give its path.\n',
  ]);
});
