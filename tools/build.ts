/**
 * `npm run build [-- FOLDER]`: what is published. Node does not strip types under node_modules, so
 * an installed package runs these bundles; a checkout never does.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

/** Each is a program or a thread of its own, found beside main.js by its name here. */
const entries: Readonly<Record<string, string>> = {
  main: 'src/main.ts',
  'sqlite-worker': 'src/state/engine/sqlite-worker.ts',
  supervisor: 'src/node/supervisor/main.ts',
  terminal: 'src/node/supervisor/terminal-main.ts',
  sdk: 'src/sdk/client.ts',
};

/** Packages that others load if they happen to be there. None is needed. */
const absent = ['bufferutil', 'cpu-features', 'pino-pretty', 'utf-8-validate', '*/sshcrypto.node'];

/** CommonJS dependencies call `require`, which a module does not have. */
const banner =
  "import { createRequire as createRequire_ } from 'node:module';\n" +
  'const require = createRequire_(import.meta.url);';

/** Bundles every entry that exists below `root` into `outdir`. Returns the files that it wrote. */
export async function bundle(root: string, outdir: string): Promise<string[]> {
  const found = Object.entries(entries).filter(([, path]) => existsSync(join(root, path)));
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(found),
    outdir,
    bundle: true,
    // Each alone: no shared chunks, so that a program is one file.
    splitting: false,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: absent,
    banner: { js: banner },
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
  // Its service would run as long as this process.
  await stop();
  return Object.keys(metafile.outputs)
    .map((path) => resolve(root, path))
    .sort();
}

/** Writes the type declarations of what the package exports. Throws when types are wrong. */
export function declareTypes(root: string, outdir: string): void {
  const tsc = join(root, 'node_modules/ts7/bin/tsc');
  const project = join(root, 'tsconfig.published.json');
  execFileSync(process.execPath, [tsc, '-p', project, '--outDir', join(outdir, 'types')], {
    cwd: root,
    stdio: 'inherit',
  });
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const outdir = resolve(process.argv[2] ?? join(root, 'dist'));
  if (!existsSync(join(root, 'src/main.ts'))) throw new Error('there is no src/main.ts to bundle');
  for (const file of await bundle(root, outdir)) console.log(file);
  declareTypes(root, outdir);
  console.log(join(outdir, 'types'));
}
