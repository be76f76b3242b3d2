import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../eventually.test-helper.ts';
import { logFileIndex } from './log-files.ts';
import { LogWriter } from './log-writer.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'roster-log-'));
});
afterEach(() => rm(directory, { recursive: true }));

const settings = (maxFiles: number, maxFileBytes: number) => ({
  directory,
  name: 'web',
  maxFiles,
  maxFileBytes,
  disabled: false,
});

async function readFiles(): Promise<Record<string, string>> {
  const names = (await readdir(directory)).sort(
    (left, right) => logFileIndex(left, 'web.stdout.') - logFileIndex(right, 'web.stdout.'),
  );
  const entries = names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')]);
  return Object.fromEntries(await Promise.all(entries));
}

test('rotation keeps the newest files, which are the end of the output', async () => {
  const lines = Array.from({ length: 4000 }, (_, index) => `line number ${index}\n`);
  const writer = new LogWriter(
    Readable.from(lines.map(Buffer.from)),
    settings(3, 10_000),
    'stdout',
  );
  await writer.drained;
  const files = Object.entries(await readFiles());
  const kept = files.map(([, text]) => text).join('');
  expect(files.map(([name]) => name)).toHaveLength(3);
  expect(lines.join('').endsWith(kept)).toBe(true);
  expect(kept.startsWith('line number ')).toBe(true);
  expect(kept.length).toBeGreaterThan(15_000);
});

test('a later run of the task goes on in the newest file', async () => {
  await writeFile(join(directory, 'web.stdout.3'), 'before\n');
  await new LogWriter(Readable.from([Buffer.from('after\n')]), settings(5, 1000), 'stdout').drained;
  expect(await readFiles()).toEqual({ 'web.stdout.3': 'before\nafter\n' });
});

test('output is there soon, even without a newline', async () => {
  const source = new PassThrough();
  const writer = new LogWriter(source, settings(2, 100_000), 'stdout');
  source.write('prompt> ');
  await eventually(async () => expect((await readFiles())['web.stdout.0']).toBe('prompt> '));
  source.write('more');
  await eventually(async () => expect((await readFiles())['web.stdout.0']).toBe('prompt> more'));
  source.end();
  await writer.drained;
});

test('a missing directory blocks nothing', async () => {
  const writer = new LogWriter(
    Readable.from([Buffer.alloc(300_000, 'x')]),
    { ...settings(2, 1000), directory: join(directory, 'gone') },
    'stdout',
  );
  await writer.drained;
  expect(await readdir(directory)).toEqual([]);
});
