/**
 * The program of `roster agent` alone. Every file costs a start a third of a millisecond, and code that commands share is cut
 * into a file for each set of commands that use it. Without the other commands, and with all that every agent loads in
 * two files instead of 150, an agent starts in nine tenths of the processor time.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { inFunction } from './top-level.ts';

/** Modules that every agent loads, by the module that would load them at their first use. */
const alwaysLoaded: Readonly<Record<string, readonly string[]>> = {
  'src/main.ts': [
    'pino',
    './model/monitor/log-lines.ts',
    './agent-reload.ts',
    './agent-secrets.ts',
    './agent.ts',
    './cli/agent/first-jobs.ts',
    './state/engine/sqlite.ts',
  ],
  'src/agent.ts': ['./agent-node.ts'],
  'src/library.ts': ['./agent.ts'],
  'src/model/monitor/log-lines.ts': ['pino'],
  'src/cli/commands.generated.ts': ['./agent/agent.ts'],
  'src/cli/run-cli.ts': ['./program.ts', './given-files.ts', './errors.ts'],
};

/** All commands. A tree without this file has no agent. */
export const ofCommands = 'src/cli/commands.generated.ts';

export const agentOnly: Plugin = {
  name: 'agent-only',
  setup({ initialOptions, onLoad }) {
    const root = initialOptions.absWorkingDir!;
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const name = relative(root, path);
      const always = alwaysLoaded[name];
      if (always === undefined) return undefined;
      const text = withStaticImports(readFileSync(path, 'utf8'), always);
      return { loader: 'ts', contents: name === ofCommands ? withoutOthers(text) : text };
    });
  },
};

/** The module with `import(name)` as an import of the whole module. */
function withStaticImports(text: string, names: readonly string[]): string {
  let imports = '';
  let found = text;
  for (const [at, name] of names.entries()) {
    const call = `await import('${name}')`;
    if (!found.includes(call)) throw new Error(`no module calls ${call} any more`);
    imports += `import * as always${at} from '${name}'; `;
    found = found.replaceAll(call, `always${at}`);
  }
  return imports + found;
}

/** `bin/roster` runs this program only for words that begin with `agent`. */
const withoutOthers = (text: string): string =>
  text.replace(
    /await import\('(?!\.\/agent\/)[^']*'\)/g,
    `await Promise.reject(new Error('this is another program'))`,
  );

/** Not in limits: the names of the files that hold what every agent loads, and lead other files of the program to it. */
const [together, shared] = ['agent-start', 'agent-shared'];

/**
 * Makes one file of all files that an agent loads as it starts. Each of them stays as a list of names in this file, for
 * the files that are loaded later. Returns the new files.
 */
export async function mergeStart(outdir: string, { outputs }: Metafile, options: BuildOptions) {
  const named = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]));
  const start = new Set<string>();
  const add = (name: string): void => {
    for (const { path, kind } of named.get(name)!.imports) {
      const next = basename(path);
      if (kind !== 'import-statement' || !named.has(next) || start.has(next)) continue;
      start.add(next);
      add(next);
    }
  };
  add('agent.js');
  const parts = [...start].map((name, at) => {
    const names = named.get(name)!.exports.map((own) => ({ own, given: `p${at}_${own}` }));
    return { name, names };
  });
  const lines = parts.map(({ name, names }) => {
    const listed = names.map(({ own, given }) => `${own} as ${given}`);
    return `export { ${listed.join(', ')} } from './${name}';`;
  });
  writeFileSync(join(outdir, `${shared}.js`), lines.join('\n'));
  const { outputFiles } = await build({
    ...options,
    absWorkingDir: outdir,
    entryPoints: { agent: join(outdir, 'agent.js'), [shared]: join(outdir, `${shared}.js`) },
    outdir,
    chunkNames: together,
    allowOverwrite: true,
    plugins: [later],
    banner: {},
    metafile: false,
    write: false,
  });
  const lists = parts.map(({ name, names }) => {
    const listed = names.map(({ own, given }) => `${given} as ${own}`);
    return { path: join(outdir, name), text: `export{${listed.join(',')}}from"./${shared}.js";\n` };
  });
  const merged = (outputFiles ?? []).map(({ path, text }) => ({
    path,
    text: basename(path) === `${together}.js` ? inFunction(text) : text,
  }));
  return [...merged, ...lists];
}

/** Files that are loaded later stay files of their own. */
const later: Plugin = {
  name: 'later',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\// }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};
