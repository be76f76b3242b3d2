import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../model/limits.ts';
import { openToRead, WalkFailure, walk } from './path-walk.ts';

let outside: string;
let root: string;
beforeEach(() => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'roster-walk-')));
  root = join(outside, 'root');
  mkdirSync(root);
});
afterEach(() => rmSync(outside, { recursive: true }));

/** The path of the found file, or the fault. */
async function outcome(path: string): Promise<string> {
  try {
    const { handle, names } = await walk(root, path);
    await handle.close();
    return `/${names.join('/')}`;
  } catch (error) {
    if (error instanceof WalkFailure) return error.fault;
    throw error;
  }
}

/** The content that a reader would get. */
async function read(path: string): Promise<string> {
  const found = await walk(root, path);
  try {
    const file = await openToRead(found);
    try {
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } finally {
    await found.handle.close();
  }
}

describe('of a tree with links', () => {
  beforeEach(() => {
    for (const directory of ['alloc/data', 'web/local', 'web/secrets', 'web/private', 'secrets']) {
      mkdirSync(join(root, directory), { recursive: true });
    }
    writeFileSync(join(outside, 'passwords'), 'never');
    writeFileSync(join(root, 'alloc/data/a'), 'a');
    writeFileSync(join(root, 'web/secrets/key'), 'never');
    writeFileSync(join(root, 'secrets/open'), 'open');
    const links: Readonly<Record<string, string>> = {
      'web/local/data': '../../alloc/data',
      'web/local/absolute': `${root}/alloc/data/a`,
      'web/local/root': root,
      'web/local/chain': 'data/a',
      'web/local/out': '../../../passwords',
      'web/local/absolute-out': `${outside}/passwords`,
      'web/local/up': '../../..',
      'web/local/there-and-back': '../../../root/alloc/data/a',
      'web/local/similar': `${root}-other`,
      'web/local/etc': '/etc/passwd',
      'web/local/proc': '/proc/self/root',
      'web/local/key': '../secrets/key',
      'web/local/secret-directory': '../secrets',
      'web/local/loop': 'loop',
      'web/local/broken': 'nothing',
    };
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(root, path));
  });

  test.each([
    ['', '/'],
    ['/', '/'],
    ['.', '/'],
    ['alloc/data/a', '/alloc/data/a'],
    ['//alloc/./data//a', '/alloc/data/a'],
    ['web/local/../../alloc', '/alloc'],
    ['alloc/data/', '/alloc/data'],
    ['web/local/data/a', '/alloc/data/a'],
    ['web/local/data/../data', '/alloc/data'],
    ['web/local/absolute', '/alloc/data/a'],
    ['web/local/root/alloc', '/alloc'],
    ['web/local/chain', '/alloc/data/a'],
    ['alloc/none', 'missing'],
    ['alloc/data/a/b', 'missing'],
    ['alloc/data/a/..', 'missing'],
    ['/etc/passwd', 'missing'],
    [`alloc/${'x'.repeat(300)}`, 'missing'],
    ['web/local/broken', 'missing'],
    ['..', 'escapes'],
    ['../root/alloc', 'escapes'],
    ['alloc/../../passwords', 'escapes'],
    ['web/local/data/../../..', 'escapes'],
    ['web/local/out', 'escapes'],
    ['web/local/absolute-out', 'escapes'],
    ['web/local/up/passwords', 'escapes'],
    ['web/local/there-and-back', 'escapes'],
    ['web/local/similar', 'escapes'],
    ['web/local/etc', 'escapes'],
    ['web/local/proc/etc/passwd', 'escapes'],
    ['web/secrets', 'secret'],
    ['web/secrets/key', 'secret'],
    ['web/secrets/none', 'secret'],
    ['web/private', 'secret'],
    ['web/./local/../secrets/key', 'secret'],
    ['web/local/key', 'secret'],
    ['web/local/secret-directory/key', 'secret'],
    ['web/local/root/web/secrets/key', 'secret'],
    ['secrets/open', '/secrets/open'],
    ['web/local/loop', 'too-many-links'],
  ])('%j is %s', async (path, expected) => {
    expect(await outcome(path)).toBe(expected);
  });

  test('a directory that is too deep is refused', async () => {
    const path = Array(limits.files.depthMax + 1)
      .fill('d')
      .join('/');
    mkdirSync(join(root, path), { recursive: true });
    expect(await outcome(path)).toBe('too-deep');
    expect(await outcome(path.slice(2))).toBe(`/${path.slice(2)}`);
  });
});

/** Random entries with few names, so that paths and links often hit one. */
const name = fc.constantFrom('a', 'b', 'c', 'secrets');
const part = fc.oneof({ weight: 4, arbitrary: name }, fc.constantFrom('..', '.', ''));
const relative = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'));
const entry = fc.record({
  at: fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/')),
  kind: fc.oneof(
    fc.constant('directory' as const),
    fc.constant('file' as const),
    fc.record({ target: relative, isAbsolute: fc.boolean() }),
  ),
});
type Entry = typeof entry extends fc.Arbitrary<infer T> ? T : never;

function make({ at, kind }: Entry): void {
  const path = join(root, at);
  try {
    if (kind === 'directory') mkdirSync(path, { recursive: true });
    else if (kind === 'file') writeFileSync(path, at, { flag: 'wx' });
    else symlinkSync(kind.isAbsolute ? `${root}/${kind.target}` : kind.target, path);
  } catch {
    // The name is taken, or the parent directory is missing.
  }
}

/**
 * Resolves the path with the kernel, step by step: where it leads, `null` if nowhere, and
 * `undefined` if a step leaves the root.
 */
function kernelSays(path: string): string | null | undefined {
  let at = root;
  // Extra slashes mean nothing here, even after a file.
  for (const step of path.split('/').filter((part) => part !== '')) {
    try {
      at = realpathSync.native(`${at}/${step}`);
    } catch {
      return null;
    }
    if (at !== root && !at.startsWith(`${root}/`)) return undefined;
  }
  return at.slice(root.length) || '/';
}

test('finds what the kernel finds, and nothing outside', { timeout: 60_000 }, async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry, { maxLength: 12 }),
      fc.array(relative, { minLength: 1, maxLength: 6 }),
      async (entries, paths) => {
        rmSync(root, { recursive: true });
        mkdirSync(root);
        for (const one of entries) make(one);
        for (const path of paths) {
          const ours = await outcome(path);
          seen.set(ours.startsWith('/') ? 'found' : ours, (seen.get(ours) ?? 0) + 1);
          const kernel = kernelSays(path);
          const context = `${path}: ours ${ours}, the kernel's ${kernel}`;
          if (ours.startsWith('/')) {
            expect(kernel, context).toBe(ours);
            expect(ours, context).not.toMatch(/^\/[^/]+\/secrets(\/|$)/);
          } else if (ours === 'missing' || ours === 'too-many-links') {
            expect(kernel ?? null, context).toBeNull();
          } else if (ours === 'escapes') {
            // A link may leave the root within one step: then the kernel finds nothing inside.
            expect(typeof kernel, context).not.toBe('string');
          } else {
            expect(ours, context).toBe('secret');
          }
        }
      },
    ),
    { numRuns: 300 },
  );
  expect([...seen.keys()].sort()).toEqual([
    'escapes',
    'found',
    'missing',
    'secret',
    'too-many-links',
  ]);
});

test('a directory that is replaced by a link meanwhile leads nowhere else', async () => {
  mkdirSync(join(outside, 'elsewhere'));
  writeFileSync(join(outside, 'elsewhere/file'), 'never');
  mkdirSync(join(root, 'mine'));
  writeFileSync(join(root, 'mine/file'), 'mine');
  symlinkSync(join(outside, 'elsewhere'), join(root, 'link'));
  let isOver = false;
  const swapping = (async () => {
    while (!isOver) {
      renameSync(join(root, 'mine'), join(root, 'spare'));
      renameSync(join(root, 'link'), join(root, 'mine'));
      await new Promise((resolve) => setImmediate(resolve));
      renameSync(join(root, 'mine'), join(root, 'link'));
      renameSync(join(root, 'spare'), join(root, 'mine'));
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const found = new Set<string>();
  for (let round = 0; round < 2000; round++) {
    found.add(await read('mine/file').catch((error: WalkFailure) => error.fault));
  }
  isOver = true;
  await swapping;
  expect(found).toContain('mine');
  expect(
    [...found].filter((text) => !['mine', 'escapes', 'missing', 'changed'].includes(text)),
  ).toEqual([]);
});
