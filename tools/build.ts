/**
 * `npm run build [-- FOLDER]` makes the published package. Node does not strip types under node_modules, so
 * an installed package runs these bundles; a checkout never does.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin, stop } from 'esbuild';

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

/**
 * `import` of `node:http` makes Node look at each of its names, and one of them loads a whole HTTP
 * client that nothing here uses: a tenth of the time that an agent takes to start. `require` does not.
 */
const requiredHttp: Plugin = {
  name: 'required-http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: 'http', namespace: 'required' } : undefined,
    );
    onLoad({ filter: /^http$/, namespace: 'required' }, () => ({
      contents: "module.exports = require('node:http');",
    }));
  },
};

/** Bundles every entry that exists below `root` into `outdir`. Returns the files that it wrote. */
export async function bundle(root: string, outdir: string): Promise<string[]> {
  const found = Object.entries(entries).filter(([, path]) => existsSync(join(root, path)));
  const written: string[] = [];
  mkdirSync(outdir, { recursive: true });
  const stale = readdirSync(outdir).filter((name) => /^part-\w+\.js$/.test(name));
  for (const name of stale) rmSync(join(outdir, name));
  for (const [name, path] of found) {
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: { [name]: path },
      outdir,
      bundle: true,
      // Modules that the program loads at first use become files of their own, so that it starts without
      // them. The other programs are one file each.
      splitting: name === 'main',
      chunkNames: 'part-[hash]',
      format: 'esm',
      platform: 'node',
      target: 'node24',
      external: absent,
      plugins: [requiredHttp],
      banner: { js: banner },
      legalComments: 'none',
      logLevel: 'warning',
      write: false,
    });
    for (const file of outputFiles) {
      writeFileSync(file.path, inAscii(file.text));
      written.push(file.path);
    }
  }
  // Its service would run as long as this process.
  await stop();
  return written.sort();
}

/**
 * A text takes as many bytes for each character as its widest character needs. The remaining wide ones are
 * in comments and in patterns, which mean the same when they are escaped.
 */
const inAscii = (text: string): string =>
  text.replace(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

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
