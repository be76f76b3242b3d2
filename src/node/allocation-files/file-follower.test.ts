import {
  appendFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { realWorld } from '../../base/ports-real.ts';
import { type FilePiece, type FollowQuery, followFile } from './file-follower.ts';

let directory: string;
let path: string;
let stop: AbortController;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roster-follow-'));
  path = join(directory, 'log');
  stop = new AbortController();
});
afterEach(() => {
  stop.abort();
  rmSync(directory, { recursive: true });
});

async function follow(change: Partial<FollowQuery> = {}) {
  return followFile({
    open: () => open(path).catch(() => undefined),
    file: await open(path),
    origin: 'start',
    offset: 0,
    follow: true,
    signal: stop.signal,
    timers: realWorld.timers,
    ...change,
  });
}

/** The next piece with data or an event. */
async function next(pieces: AsyncGenerator<FilePiece | undefined, void>) {
  const { value } = await pieces.next();
  if (value === undefined) return 'over';
  return value.event ?? `${value.offset}: ${Buffer.from(value.data)}`;
}

test.each([
  [{}, '0: abcdef'],
  [{ offset: 2 }, '2: cdef'],
  [{ origin: 'end', offset: 2 }, '4: ef'],
  [{ origin: 'end', offset: 99 }, '0: abcdef'],
  [{ offset: 99 }, 'over'],
  [{ origin: 'end' }, 'over'],
] as const)('%j reads %s, and no more', async (change, expected) => {
  writeFileSync(path, 'abcdef');
  const pieces = await follow({ ...change, follow: false });
  expect(await next(pieces)).toBe(expected);
  expect(await next(pieces)).toBe('over');
});

test('without follow a growing file is read up to its first size', async () => {
  writeFileSync(path, 'x'.repeat(100_000));
  const pieces = await follow({ follow: false });
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece?.data.length ?? 0;
    appendFileSync(path, 'y'.repeat(100_000));
  }
  expect(bytes).toBe(100_000);
});

test('follows writes, truncation, replacement and deletion', async () => {
  writeFileSync(path, 'first');
  const pieces = await follow();
  expect(await next(pieces)).toBe('0: first');
  appendFileSync(path, 'second');
  expect(await next(pieces)).toBe('5: second');
  truncateSync(path);
  expect(await next(pieces)).toBe('file truncated');
  appendFileSync(path, 'third');
  expect(await next(pieces)).toBe('0: third');
  // As a program that rotates its own log: the rest of the old file is read first.
  const old = await open(path, 'a');
  renameSync(path, `${path}.1`);
  writeFileSync(path, 'new');
  await old.write('last');
  await old.close();
  expect(await next(pieces)).toBe('5: last');
  expect(await next(pieces)).toBe('file replaced');
  expect(await next(pieces)).toBe('0: new');
  appendFileSync(path, 'end');
  rmSync(path);
  expect(await next(pieces)).toBe('3: end');
  expect(await next(pieces)).toBe('file deleted');
  expect(await next(pieces)).toBe('over');
});

test('ends when its reader leaves', async () => {
  writeFileSync(path, '');
  const pieces = await follow();
  const last = next(pieces);
  stop.abort();
  expect(await last).toBe('over');
});
