import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeBelow } from './files.ts';

let root: string;
let local: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'roster-files-'));
  local = join(root, 'local');
  mkdirSync(local);
  writeFileSync(join(root, 'outside'), 'untouched');
});
afterEach(() => rmSync(root, { recursive: true }));

const bytes = Buffer.from([0, 255, 7]);
const write = (path: string) => writeBelow(local, path, bytes, '');
const inLocal = (path: string) => readFileSync(join(local, path));

describe('a file below a directory', () => {
  test.each(['input', 'a/b/input', './input', 'a//input'])('%s', async (path) => {
    await write(path);
    await write(path);
    expect(inLocal(path)).toEqual(bytes);
    expect(statSync(join(local, path)).mode & 0o777).toBe(0o600);
  });

  test.each(['..', '../outside', 'a/../input', '', '/', 'a/..'])('not %j', async (path) => {
    await expect(write(path)).rejects.toThrow('is no file below the directory');
  });

  test('that is a link by now is made anew', async () => {
    symlinkSync(join(root, 'outside'), join(local, 'input'));
    symlinkSync(join(root, 'outside'), join(local, '.input.new'));
    await write('input');
    expect(inLocal('input')).toEqual(bytes);
    expect(readFileSync(join(root, 'outside'), 'utf8')).toBe('untouched');
  });

  test('through a link is refused', async () => {
    symlinkSync(root, join(local, 'a'));
    await expect(write('a/outside')).rejects.toThrow('"a" of "a/outside" is no directory');
    expect(readFileSync(join(root, 'outside'), 'utf8')).toBe('untouched');
  });
});
