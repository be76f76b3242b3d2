import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { realWorld } from '../../base/ports-real.ts';
import { LogWriter } from '../supervisor/log-writer.ts';
import { type LogQuery, readLog } from './log-reader.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roster-read-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const query = (change: Partial<LogQuery> = {}): LogQuery => ({
  directory,
  task: 'web',
  type: 'stdout',
  origin: 'start',
  offset: 0,
  follow: false,
  isOver: () => false,
  whenOver: new Promise(() => {}),
  signal: new AbortController().signal,
  timers: realWorld.timers,
  ...change,
});

async function read(wanted: LogQuery): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of readLog(wanted))
    if (chunk !== undefined) parts.push(new Uint8Array(chunk.data));
  return Buffer.concat(parts).toString();
}

test.each([
  ['all of it', {}, 'abcdefgh'],
  ['from an offset', { offset: 2 }, 'cdefgh'],
  ['from an offset in the next file', { offset: 5 }, 'fgh'],
  ['from beyond the end', { offset: 99 }, ''],
  ['the end', { origin: 'end', offset: 3 }, 'fgh'],
  ['the end, more than there is', { origin: 'end', offset: 99 }, 'abcdefgh'],
  ['nothing of the end', { origin: 'end' }, ''],
  ['another stream', { type: 'stderr' }, ''],
  ['another task with a similar name', { task: 'web.stdout' }, ''],
] as const)('reads %s', async (_name, change, expected) => {
  writeFileSync(join(directory, 'web.stdout.9'), 'abc');
  writeFileSync(join(directory, 'web.stdout.10'), 'defgh');
  writeFileSync(join(directory, 'web.stdout.x'), 'never');
  expect(await read(query(change))).toBe(expected);
});

test('follows a writer through rotation without losing or repeating a byte', async () => {
  const source = new PassThrough();
  const settings = { directory, name: 'web', maxFiles: 1000, maxFileBytes: 2000, disabled: false };
  const writer = new LogWriter(source, settings, 'stdout');
  let over = false;
  const whenOver = writer.drained.then(() => {
    over = true;
  });
  const reading = read(query({ follow: true, isOver: () => over, whenOver }));
  const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}\n`);
  for (const line of lines) {
    if (!source.write(line)) await new Promise((resolve) => source.once('drain', resolve));
  }
  source.end();
  expect(await reading).toBe(lines.join(''));
});

test('a follower sees new output, and ends when asked to', async () => {
  writeFileSync(join(directory, 'web.stdout.0'), 'first');
  const stop = new AbortController();
  const chunks = readLog(query({ follow: true, signal: stop.signal }));
  const next = async () => new TextDecoder().decode((await chunks.next()).value?.data);
  expect(await next()).toBe('first');
  appendFileSync(join(directory, 'web.stdout.0'), 'second');
  expect(await next()).toBe('second');
  const last = chunks.next();
  stop.abort();
  expect((await last).done).toBe(true);
});

test('tells a reader of a gap when rotation was faster', async () => {
  writeFileSync(join(directory, 'web.stdout.0'), 'a');
  const chunks = readLog(query());
  expect((await chunks.next()).value).toMatchObject({ file: 'web.stdout.0', gap: false });
  writeFileSync(join(directory, 'web.stdout.4'), 'b');
  expect((await chunks.next()).value).toMatchObject({ file: 'web.stdout.4', gap: true });
});
