import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';
import { afterAll, expect, test } from 'vitest';

const entry = fileURLToPath(new URL('../../src/sdk/browser.ts', import.meta.url));

// Esbuild is a process of its own.
afterAll(() => stop());

test('the client of pages needs nothing of Node, and is small', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    minify: true,
    write: false,
    metafile: true,
    logLevel: 'silent',
    tsconfigRaw: {},
  });
  const inputs = Object.keys(metafile.inputs);
  expect(inputs.filter((path) => !path.startsWith('src/'))).toEqual([]);
  expect(outputFiles[0]!.contents.length).toBeLessThan(80_000);
});
