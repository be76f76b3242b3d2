/**
 * `npm run build [-- FOLDER]` makes the published package. Node does not strip types under node_modules, so
 * an installed package runs these bundles; a checkout never does.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin, stop } from 'esbuild';
import type { Build } from '../src/agent-program.ts';
import { agentOnly, mergeStart, ofCommands } from './agent-program.ts';
import { buildUi, describeSizes } from './ui/build.ts';

/** Each is a program or a thread of its own, found beside main.js by its name here. */
const entries: Readonly<Record<string, string>> = {
  main: 'src/main.ts',
  agent: 'src/main.ts',
  reader: 'src/agent-reader.ts',
  decider: 'src/agent-decider.ts',
  'sqlite-worker': 'src/state/engine/sqlite-worker.ts',
  supervisor: 'src/node/supervisor/main.ts',
  terminal: 'src/node/supervisor/terminal-main.ts',
  sdk: 'src/sdk/client.ts',
};

/** The oldest Node of each program. The client runs in that of `engines` in package.json. */
const targetOf = (names: readonly string[]): string =>
  names.includes('sdk') ? 'node20.18' : 'node22.18';

/** Packages that others load if they happen to be there. None is needed. */
const absent = ['bufferutil', 'cpu-features', 'pino-pretty', 'utf-8-validate', '*/sshcrypto.node'];

/**
 * CommonJS dependencies call `require`, which a module does not have. All that is not a module of Node is in the bundle,
 * or absent, so each of the hundred files of a start can do without `createRequire`.
 */
const banner = `const require = (name) => {
  const found = process.getBuiltinModule(name);
  if (found === undefined) throw new Error('Cannot find module ' + name);
  return found;
};`;

/**
 * `import` of a module of Node makes Node look at each of its names. One of `node:http` loads a whole HTTP client that
 * nothing here uses, one of `node:crypto` another interface, and one of `node:process` parses every flag of Node.
 * `require` looks at no name.
 */
const required: Plugin = {
  name: 'required',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?(crypto|http|process)$/ }, ({ kind, path }) =>
      kind === 'import-statement'
        ? { path: path.replace('node:', ''), namespace: 'required' }
        : undefined,
    );
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require('node:${path}');`,
    }));
  },
};

/**
 * Modules that few agents use, each loaded when a name of it is used first. YAML takes 3 ms. Once TLS is loaded, Node reads
 * the certificates of all authorities that it brings along, in a thread that takes time from a start and keeps megabytes.
 * A name can be given another value, also in an object that inherits from the module, as `docker-modem` does.
 */
const unhurried: Plugin = {
  name: 'unhurried',
  setup({ initialOptions, onResolve, onLoad }) {
    const load = createRequire(join(initialOptions.absWorkingDir!, 'package.json'));
    onResolve({ filter: /^((node:)?(https|tls)|yaml)$/ }, ({ path, namespace }) =>
      namespace === 'unhurried'
        ? undefined
        : { path: path.replace('node:', ''), namespace: 'unhurried' },
    );
    onLoad({ filter: /./, namespace: 'unhurried' }, ({ path }) => {
      const found = path === 'yaml' ? load.resolve(path) : `node:${path}`;
      const accessors = Object.keys(load(found)).map(
        (name) =>
          `get ${name}() { return load().${name}; }, set ${name}(value) { put(this, '${name}', value); }`,
      );
      const contents = `
        const load = () => require('${found}');
        const property = { writable: true, enumerable: true, configurable: true };
        const put = (target, name, value) => Object.defineProperty(target, name, { ...property, value });
        module.exports = { ${accessors.join(', ')} };`;
      return { contents, resolveDir: initialOptions.absWorkingDir! };
    });
  },
};

/**
 * Docker's client can also speak SSH, which nothing here does. The library for it looks for files beside itself when it is
 * loaded, which it has not in a bundle. The others are parts of undici: HTTP/2, forms, and a parser for processors
 * that lack instructions which every processor has that Node supports.
 */
const unused: Plugin = {
  name: 'unused',
  setup({ onResolve, onLoad }) {
    onResolve(
      { filter: /^ssh2$|\/(client-h2|llhttp-wasm|fetch\/body)\.js$/ },
      ({ path, importer }) =>
        path === 'ssh2' || importer.includes('/node_modules/undici/')
          ? { path, namespace: 'unused' }
          : undefined,
    );
    onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/**
 * Libraries that only call `assert(value)` get a function that loads Node's module when a value is false: the module brings
 * along all that compares objects and colors the differences.
 */
const assertion: Plugin = {
  name: 'assertion',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?assert$/ }, ({ path, importer }) =>
      /\/node_modules\/(undici|sonic-boom|thread-stream)\//.test(importer)
        ? { path, namespace: 'assertion' }
        : undefined,
    );
    onLoad({ filter: /./, namespace: 'assertion' }, () => ({
      contents: `module.exports = (value, message) => {
        if (!value) process.getBuiltinModule('node:assert')(value, message);
      };`,
    }));
  },
};

/**
 * The parts of undici that are used: 200 of 740 KB. The others also make Node load the HTTP client that it brings along.
 */
const client: Plugin = {
  name: 'client',
  setup({ initialOptions, onResolve, onLoad }) {
    const resolveDir = initialOptions.absWorkingDir!;
    onResolve({ filter: /^undici$/ }, ({ path }) => ({ path, namespace: 'client' }));
    onLoad({ filter: /./, namespace: 'client' }, () => ({
      resolveDir,
      contents: `
        import Agent from 'undici/lib/dispatcher/agent.js';
        import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
        import sendRequest from 'undici/lib/api/api-request.js';
        Dispatcher.prototype.request = sendRequest;
        function request(url, { dispatcher, ...options }) {
          const { origin, pathname, search } = new URL(url);
          return dispatcher.request({ ...options, origin, path: pathname + search });
        }
        export { Agent, request };
        export default { Agent, request };
      `,
    }));
  },
};

const plugins = [required, unhurried, unused, assertion, client];

interface BundleOptions {
  /** Is told of each file that is read. */
  readonly note?: (path: string) => void;
  /** The build that the bundle names; without it, its version is that of its package.json, as in a checkout. */
  readonly build?: Build;
}

/** The options of every program. */
const shared = {
  bundle: true,
  chunkNames: 'part-[hash]',
  format: 'esm',
  platform: 'node',
  external: absent,
  banner: { js: banner },
  legalComments: 'none',
  // The text of a program stays in memory while it runs. Names stay as they are, for stack traces.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 160,
  logLevel: 'warning',
  write: false,
  metafile: true,
} as const satisfies BuildOptions;

/** Bundles every entry that exists below `root` into `outdir`. Returns the files that it wrote. */
export async function bundle(
  root: string,
  outdir: string,
  { note = () => {}, build: facts }: BundleOptions = {},
): Promise<string[]> {
  const found = Object.entries(entries).filter(
    ([name, path]) =>
      existsSync(join(root, path)) && (name !== 'agent' || existsSync(join(root, ofCommands))),
  );
  // Threads run most of the code of the main thread, so they share files.
  const isShared = ([name]: readonly [string, string]) =>
    name === 'main' || name === 'reader' || name === 'decider';
  const programs = [
    found.filter(isShared),
    ...found.filter((one) => !isShared(one)).map((one) => [one]),
  ];
  const written = new Set<string>();
  const write = ({ path, text }: { readonly path: string; readonly text: string }): void => {
    writeFileSync(path, inAscii(text));
    written.add(path);
  };
  mkdirSync(outdir, { recursive: true });
  const stale = readdirSync(outdir).filter((name) =>
    /^(part|agent|agent-part)-\w+\.js$/.test(name),
  );
  for (const name of stale) rmSync(join(outdir, name));
  for (const program of programs) {
    const isAgent = program.some(([name]) => name === 'agent');
    const options = {
      absWorkingDir: root,
      entryPoints: Object.fromEntries(program),
      outdir,
      // The start of an agent takes the place of some of its files, which other programs must not have in common with it.
      ...(isAgent && { chunkNames: 'agent-part-[hash]' }),
      target: targetOf(program.map(([name]) => name)),
      ...(facts && { define: { bundledBuild: JSON.stringify(JSON.stringify(facts)) } }),
      // Modules that the program loads at first use become files of their own, so that it starts without
      // them. The other programs are one file each.
      splitting: program.some(isShared) || isAgent,
      plugins: [...plugins, ...(isAgent ? [agentOnly] : [])],
    };
    const { outputFiles, metafile } = await build({ ...shared, ...options });
    // Modules of the plugins have a name of their own instead of a path.
    for (const path of Object.keys(metafile.inputs)) {
      if (!/^(required|unhurried|unused|assertion|client):/.test(path)) note(path);
    }
    for (const file of outputFiles) write(file);
    if (!isAgent) continue;
    for (const file of await mergeStart(outdir, metafile, { ...shared, ...options })) write(file);
  }
  // Its service would run as long as this process.
  await stop();
  return [...written].sort();
}

/**
 * Bundles modules of `root` as the programs are bundled, together with those that share their files, so that tests can run in
 * them. Returns the file of each module.
 */
export async function bundleModules(
  root: string,
  outdir: string,
  modules: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const programs = ['main', 'reader', 'decider'].map((name) => entries[name]!);
  const paths = [...new Set([...programs, ...modules])];
  // All are in the same folder, as a program looks for others beside itself.
  const nameOf = (path: string) => path.replaceAll('/', '--').replace(/\.ts$/, '');
  const { outputFiles } = await build({
    ...shared,
    absWorkingDir: root,
    entryPoints: Object.fromEntries(paths.map((path) => [nameOf(path), path])),
    outdir,
    target: targetOf([]),
    splitting: true,
    plugins,
  });
  mkdirSync(outdir, { recursive: true });
  for (const { path, text } of outputFiles) writeFileSync(path, inAscii(text));
  writeFileSync(join(outdir, 'package.json'), '{"type":"module"}');
  await stop();
  return new Map(paths.map((path) => [path, join(outdir, `${nameOf(path)}.js`)]));
}

/**
 * A text takes as many bytes for each character as its widest character needs. The remaining wide ones are
 * in comments and in patterns, which mean the same when they are escaped.
 */
const inAscii = (text: string): string =>
  text.replace(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Writes the type declarations of what the package exports. Throws when types are wrong. Several threads would do most twice. */
export function declareTypes(root: string, outdir: string): void {
  const tsc = join(root, 'node_modules/ts7/bin/tsc');
  const project = join(root, 'tsconfig.published.json');
  const words = ['--singleThreaded', '-p', project, '--outDir', join(outdir, 'types')];
  execFileSync(process.execPath, [tsc, ...words], { cwd: root, stdio: 'inherit' });
}

/** The version of the checkout, and its commit if nothing was changed since then. */
export function buildOf(root: string): Build {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Build;
  const git = (...words: readonly string[]) =>
    spawnSync('git', words, { cwd: root, encoding: 'utf8' });
  const { status, stdout } = git('log', '-1', '--format=%H %cI');
  const isChanged = git('status', '--porcelain', '--untracked-files=no').stdout !== '';
  if (status !== 0 || isChanged) return { version };
  const [commit = '', date = ''] = stdout.trim().split(' ');
  return { version, commit, commitDate: new Date(date).toISOString() };
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const outdir = resolve(process.argv[2] ?? join(root, 'dist'));
  if (!existsSync(join(root, 'src/main.ts'))) throw new Error('there is no src/main.ts to bundle');
  for (const file of await bundle(root, outdir, { build: buildOf(root) })) console.log(file);
  declareTypes(root, outdir);
  console.log(join(outdir, 'types'));
  console.log(describeSizes(await buildUi(root, join(outdir, 'ui'))));
}
