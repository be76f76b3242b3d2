import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild';
import { afterAll, expect, test } from 'vitest';
import { inFunction } from './top-level.ts';

const folder = mkdtempSync(join(tmpdir(), 'roster-top-level-'));
afterAll(async () => {
  // Its service would run as long as this process.
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The module as it is bundled, with its top level in a function. */
async function bundled(name: string, contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    format: 'esm',
    platform: 'node',
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 40,
    write: false,
  });
  const text = inFunction(outputFiles[0]!.text);
  writeFileSync(join(folder, name), text);
  return text;
}

test('a module imports and exports as before, and its top level is a function', async () => {
  const text = await bundled(
    'all.mjs',
    `import { join as joined } from 'node:path';
    import * as os from 'node:os';
    import events from 'node:events';
    let count = 0;
    export const text = 'import{a}from"node:fs";';
    export const here = import.meta.url;
    export const next = () => ++count;
    const inner = class Inner { static at = joined('a', 'b'); };
    export { inner as default, inner as delete };
    export const others = [typeof os.tmpdir, typeof events.once];`,
  );
  const found = await import(pathToFileURL(join(folder, 'all.mjs')).href);
  expect(found).toMatchObject({
    here: pathToFileURL(join(folder, 'all.mjs')).href,
    others: ['function', 'function'],
    text: 'import{a}from"node:fs";',
  });
  expect(found.default.at).toBe(join('a', 'b'));
  expect(found.delete).toBe(found.default);
  expect([found.next(), found.next()]).toEqual([1, 2]);
  expect(text).toMatch(/^const \[|^import.*\nconst \[/m);
});

test('a program without exports runs', async () => {
  await bundled('program.mjs', `import { env } from 'node:process'; env.ROSTER_TOP = 'ran';`);
  await import(pathToFileURL(join(folder, 'program.mjs')).href);
  expect(process.env.ROSTER_TOP).toBe('ran');
  delete process.env.ROSTER_TOP;
});
