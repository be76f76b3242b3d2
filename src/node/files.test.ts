import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readBelow, writeBelow } from './files.ts';

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
const write = (path: string) => writeBelow(local, path, bytes);
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

  test('that is a link meanwhile is made anew', async () => {
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

  test('with permissions and owners', async () => {
    await writeBelow(local, 'a/input', bytes, {
      modeBits: 0o4751,
      gid: process.getgid!(),
    });
    expect(statSync(join(local, 'a/input')).mode & 0o7777).toBe(0o4751);
  });

  test('whose name is a directory’s is refused', async () => {
    mkdirSync(join(local, 'input'));
    await expect(write('input')).rejects.toThrow();
    expect(readdirSync(local)).toEqual(['input']);
  });
});

describe('reading below a directory', () => {
  const read = async (path: string) => {
    const found = await readBelow(local, path, 16);
    return found && Buffer.from(found).toString();
  };

  test('gives the content', async () => {
    writeFileSync(join(local, 'a'), 'text');
    symlinkSync('a', join(local, 'b'));
    expect([await read('a'), await read('b'), await read('./a')]).toEqual(['text', 'text', 'text']);
    expect([await read('c'), await read('a/b'), await read('b/c')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('follows no link that leads out', async () => {
    symlinkSync('../outside', join(local, 'a'));
    symlinkSync(root, join(local, 'b'));
    for (const path of ['a', 'b/outside', '../outside']) {
      await expect(read(path)).rejects.toThrow('is not below the directory');
    }
  });

  test('takes only plain files, and none that is too long', async () => {
    mkdirSync(join(local, 'a'));
    execFileSync('mkfifo', [join(local, 'pipe')]);
    writeFileSync(join(local, 'long'), 'x'.repeat(17));
    await expect(read('a')).rejects.toThrow('"a" is no file');
    await expect(read('pipe')).rejects.toThrow('"pipe" is no file');
    await expect(read('long')).rejects.toThrow('larger than 16 bytes');
  });
});
