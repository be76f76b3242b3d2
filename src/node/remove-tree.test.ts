import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeTree } from './remove-tree.ts';

let root: string;
let tree: string;
let outside: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'roster-remove-'));
  [tree, outside] = [join(root, 'tree'), join(root, 'outside')];
  for (const path of [tree, outside]) mkdirSync(path);
  writeFileSync(join(outside, 'kept'), '');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const remove = () => removeTree(`${root}/`, 'tree');

/** Each makes an entry in a directory. */
const contents: Readonly<Record<string, (path: string) => void>> = {
  'a link to a directory': (path) => symlinkSync(outside, join(path, 'link')),
  'a link to itself': (path) => symlinkSync('.', join(path, 'link')),
  'another name of a file': (path) => linkSync(join(outside, 'kept'), join(path, 'file')),
  'a named pipe': (path) => execFileSync('mkfifo', [join(path, 'pipe')]),
  'names that are no text': (path) => {
    const name = Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0x61, 0xff, 0x0a])]);
    writeFileSync(name, '');
    mkdirSync(Buffer.concat([name, Buffer.from('d')]));
  },
  'a directory that is closed': (path) => {
    mkdirSync(join(path, 'closed/inner'), { recursive: true });
    for (const name of ['closed/inner', 'closed']) chmodSync(join(path, name), 0);
  },
  'a name like that of the moved directory': (path) => {
    mkdirSync(join(path, '.removed-1/.removed-2/.removed-1'), { recursive: true });
    writeFileSync(join(path, '.removed-1/.removed-1'), '');
    writeFileSync(join(path, '.removed-3'), '');
  },
};

test.each(Object.entries(contents))('removes %s, and nothing else', async (_name, make) => {
  mkdirSync(join(tree, 'a/b'), { recursive: true });
  for (const path of [tree, join(tree, 'a'), join(tree, 'a/b')]) make(path);
  await remove();
  expect(readdirSync(root)).toEqual(['outside']);
  expect(readdirSync(outside)).toEqual(['kept']);
});

test('removes a file or a link, and ignores a missing name', async () => {
  rmSync(tree, { recursive: true });
  symlinkSync(outside, tree);
  await remove();
  await remove();
  expect(readdirSync(root)).toEqual(['outside']);
  expect(readdirSync(outside)).toEqual(['kept']);
});

test('removes a deep tree', async () => {
  mkdirSync(join(tree, 'd/'.repeat(200)), { recursive: true });
  await remove();
  expect(existsSync(tree)).toBe(false);
});

test('removes nothing elsewhere while directories are replaced by links', async () => {
  for (let index = 0; index < 60; index++) {
    mkdirSync(join(tree, `${index}`));
    writeFileSync(join(tree, `${index}/kept`), '');
  }
  let removed = false;
  const removing = remove().finally(() => {
    removed = true;
  });
  for (let index = 59; !removed && index >= 0; index--) {
    try {
      renameSync(join(tree, `${index}`), join(root, `moved-${index}`));
      symlinkSync(outside, join(tree, `${index}`));
    } catch {
      // The removal was quicker.
    }
    await new Promise(setImmediate);
  }
  await removing.catch(() => {});
  expect(readdirSync(outside)).toEqual(['kept']);
});
