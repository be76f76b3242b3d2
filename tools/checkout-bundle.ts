/** Makes the bundle of a checkout, from which `bin/roster` and the next `npm start` run (`fresh-bundle.cjs`). */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { bundle } from './build.ts';
import { manifestOf, stampOf } from './fresh-bundle.cjs';
import { root } from './setup.mjs';

/** What the bundle depends on beside its modules. The last tells which packages are installed. */
const alwaysRead = [
  'bin/compile-cache.cjs',
  'bin/roster',
  'package.json',
  'tools/build.ts',
  'tools/checkout-bundle.ts',
  'tsconfig.json',
  'node_modules/.installed-from',
];

/** A bundle is found by the program that started from it, even after others have been made. */
const keptMax = 3;

/** The coarsest time of change that a file system may tell. */
const coarsestMs = 2_000;

/**
 * Bundles the checkout in `folder`, unless one of its files changes meanwhile: nobody could tell whether the bundle has the
 * change.
 */
export async function bundleCheckout(folder: string, beganMs = Date.now()): Promise<void> {
  const cache = dirname(manifestOf(folder));
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, 'checkout-'));
  // Every user of the checkout runs it.
  chmodSync(made, 0o755);
  const read = new Set(alwaysRead);
  await bundle(folder, join(made, 'dist'), { note: (path) => read.add(path) });
  cpSync(join(folder, 'bin'), join(made, 'bin'), { recursive: true });
  cpSync(join(folder, 'package.json'), join(made, 'package.json'));
  const stamps = [...read].map((path) => [path, stampOf(join(folder, path))]);
  if ([...read].some((path) => statSync(join(folder, path)).ctimeMs > beganMs - coarsestMs)) {
    rmSync(made, { recursive: true });
    return;
  }
  const text = JSON.stringify({ bundle: made, stamps: Object.fromEntries(stamps) });
  writeFileSync(join(made, 'checkout.json'), text);
  renameSync(join(made, 'checkout.json'), manifestOf(folder));
  removeOld(cache);
}

function removeOld(cache: string): void {
  const folders = readdirSync(cache)
    .filter((name) => name.startsWith('checkout-'))
    .map((name) => join(cache, name))
    .sort((left, right) => statSync(right).ctimeMs - statSync(left).ctimeMs);
  for (const old of folders.slice(keptMax)) rmSync(old, { recursive: true, force: true });
}

if (import.meta.main) {
  await bundleCheckout(root);
  // The first request for the web interface would wait for it.
  const { cachedUi } = await import('./ui/cached.ts');
  await cachedUi(root);
}
