import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { functionFiles } from './function-files.ts';

const root = mkdtempSync(join(tmpdir(), 'function-files-'));
const files = functionFiles(root, '/home/somebody');
beforeAll(() => {
  mkdirSync(join(root, 'inner/more'), { recursive: true });
  writeFileSync(join(root, 'a.txt'), 'text');
  writeFileSync(join(root, 'inner/b.txt'), 'b');
  writeFileSync(join(root, 'inner/more/c.txt'), 'c');
  symlinkSync('.', join(root, 'inner/circle'));
});
afterAll(() => rmSync(root, { recursive: true }));

test('paths are relative to the directory', () => {
  expect(Buffer.from(files.read('inner/../a.txt', 10)).toString()).toBe('text');
  expect(Buffer.from(files.read(join(root, 'a.txt'), 10)).toString()).toBe('text');
  expect(files.absolute('inner/x')).toBe(join(root, 'inner/x'));
  expect(files.home()).toBe('/home/somebody');
});

test('exists and list find files', () => {
  expect(['a.txt', 'inner', 'none'].map((path) => files.exists(path))).toEqual([
    true,
    false,
    false,
  ]);
  expect([...files.list('inner', 10)].sort()).toEqual(['b.txt', 'circle', 'more/c.txt']);
});

test.each([
  ['a file that is not there', () => files.read('none', 10), 'there is no such file'],
  ['a directory', () => files.read('inner', 10), 'it is a directory'],
  ['a device', () => files.read('/dev/zero', 10), 'it is no ordinary file'],
  ['a file that is too large', () => files.read('a.txt', 3), 'it is larger than 3 bytes'],
  ['a file in place of a directory', () => files.list('a.txt', 10), 'it is no directory'],
  ['too many files', () => files.list('.', 2), 'there are more than 2 files'],
  ['no home', () => functionFiles(root, undefined).home(), 'HOME is not set'],
])('%s is refused', (_, run, message) => {
  expect(run).toThrow(message);
});
