import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { makeTree } from '../tree.test-helper.ts';
import { buildUi, describeSizes } from './build.ts';
import { cachedUi } from './cached.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const outdir = () => mkdtempSync(join(tmpdir(), 'roster-ui-'));

/** A checkout with a small interface, whose page loads `first`, and `later` on demand. */
function checkout({ first = '', later = '' } = {}): string {
  const made = makeTree({
    'package.json': '{"type":"module"}',
    'package-lock.json': '{}',
    'ui/index.html':
      '<!doctype html><base href="./"><script type="module" src="./src/main.ts"></script>',
    'ui/src/main.ts': `document.title = ${JSON.stringify(first)};\nvoid import('./later.ts').then(({ text }) => document.body.append(text));\n`,
    'ui/src/later.ts': `export const text = ${JSON.stringify(later)};\n`,
  });
  for (const name of ['vite.config.ts', 'svelte.config.js']) {
    cpSync(join(root, 'ui', name), join(made, 'ui', name));
  }
  symlinkSync(join(root, 'node_modules'), join(made, 'node_modules'));
  return made;
}

/** A text that cannot be compressed much. */
function noise(length: number): string {
  let text = '';
  while (text.length < length) {
    text += createHash('sha512').update(String(text.length)).digest('base64');
  }
  return text;
}

const contents = (folder: string): ReadonlyMap<string, Buffer> =>
  new Map(
    globSync('**/*.*', { cwd: folder })
      .sort()
      .map((path) => [path, readFileSync(join(folder, path))]),
  );

test('the interface is built to the same bytes again, and each packed form is that of its file', async () => {
  const [first, second] = [outdir(), outdir()];
  const sizes = await buildUi(root, first);
  await buildUi(root, second);
  const files = contents(first);
  expect(contents(second)).toEqual(files);
  let packed = 0;
  for (const [path, bytes] of files) {
    const unpacked = path.endsWith('.br')
      ? brotliDecompressSync(bytes)
      : path.endsWith('.gz')
        ? gunzipSync(bytes)
        : undefined;
    if (unpacked === undefined) continue;
    packed += 1;
    expect(unpacked.equals(files.get(path.slice(0, -3))!)).toBe(true);
  }
  expect(packed).toBeGreaterThan(0);
  expect(files.get('notices.md')!.toString()).toContain('## svelte - ');
  expect(files.get('index.html')!.toString()).toContain('<base href="./">');
  expect(describeSizes(sizes)).toMatch(/^the first page: +[\d.]+ KB of 250\.0 KB, compressed$/m);
});

test('code that is loaded on demand does not count for the first page', async () => {
  const { firstPageBytes } = await buildUi(checkout({ later: noise(500_000) }), outdir());
  expect(firstPageBytes).toBeLessThan(10_000);
  await expect(buildUi(checkout({ first: noise(500_000) }), outdir())).rejects.toThrow(
    /the first page of the web interface needs \d{6} bytes .* load more of it on demand/,
  );
});

test('a checkout builds again only after a change', async () => {
  const made = checkout();
  // A folder of its own, as the packages are those of this checkout.
  const places = { cache: join(made, 'cache') };
  const first = await cachedUi(made, places);
  expect(await cachedUi(made, places)).toBe(first);
  cpSync(join(root, 'ui/src/base.ts'), join(made, 'ui/src/later.ts'));
  const second = await cachedUi(made, places);
  expect(second).not.toBe(first);
  expect(contents(second).has('index.html')).toBe(true);
  expect(contents(first).has('index.html')).toBe(true);
});
