import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';
import { afterAll, expect, test } from 'vitest';

/** The size of the client before its types came from the contract, and a fifth more. */
const bytesMax = 1.2 * 1_586_353;

// Its service would run as long as this process.
afterAll(() => stop());

test('the bundle of the client is small, and has nothing of the server nor of its validators', async () => {
  const { metafile, outputFiles } = await build({
    absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
    entryPoints: ['src/sdk/client.ts'],
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['bufferutil', 'utf-8-validate'],
    metafile: true,
    write: false,
  });
  const inputs = Object.keys(metafile.inputs);
  expect(inputs).toContain('src/sdk/client.ts');
  const foreign = /^src\/(contract|state|acl|scheduler|server|api|language)\/|typebox/;
  expect(inputs.filter((path) => foreign.test(path))).toEqual([]);
  expect(inputs).not.toContain('src/model/codec.ts');
  expect(outputFiles[0]!.contents.length).toBeLessThan(bytesMax);
});
