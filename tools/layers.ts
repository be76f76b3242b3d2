/**
 * The layering lint: imports point down only. `layers` is the one table; change it there, and in
 * ARCHITECTURE.md, or nowhere.
 *
 * Runs dependency-cruiser, which understands TypeScript through the `typescript` package (6.x). Without a
 * version that it can use it would see nothing and find no fault, so its files are compared with those that
 * are there.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ICruiseResult, IForbiddenRuleType, IViolation } from 'dependency-cruiser';
import { cruise } from 'dependency-cruiser';
import { testCode } from './test-code.ts';
import { checkUiLayers } from './ui/layers.ts';

/** Each folder of src/, and the folders it may import from beside itself. */
const layers: Readonly<Record<string, readonly string[]>> = {
  base: [],
  language: ['base'],
  model: ['base', 'language'],
  state: ['base', 'language', 'model'],
  acl: ['base', 'language', 'model', 'state'],
  scheduler: ['base', 'language', 'model', 'state'],
  server: ['base', 'language', 'model', 'state', 'acl', 'scheduler'],
  // Types and values of what the API promises; `sdk` takes the types alone.
  contract: ['base', 'language', 'model'],
  api: ['base', 'language', 'model', 'contract', 'state', 'acl', 'scheduler', 'server'],
  sdk: ['base', 'model', 'contract'],
  // Templates are rendered where the task runs.
  node: ['base', 'language', 'model', 'sdk'],
  // It judges rules that are not stored anywhere yet (`acl policy test`), without a server.
  cli: ['base', 'language', 'model', 'contract', 'acl', 'sdk'],
};

/** The composition root, the command's and the library's: the only files that know every layer. */
const compositionRoot = [
  'src/main.ts',
  'src/library.ts',
  'src/agent.ts',
  'src/agent-api.ts',
  'src/agent-certificate.ts',
  'src/agent-client.ts',
  'src/agent-decider.ts',
  'src/agent-deciding.ts',
  'src/agent-engines.ts',
  'src/agent-files.ts',
  'src/agent-memory.ts',
  'src/agent-node.ts',
  'src/agent-program.ts',
  'src/agent-reader.ts',
  'src/agent-readers.ts',
  'src/agent-reload.ts',
  'src/agent-secrets.ts',
  'src/agent-servers.ts',
  'src/agent-telemetry.ts',
  'src/agent-thread.ts',
  'src/agent-ui.ts',
  'src/agent-virtual.ts',
];

/** Helpers that the tests of any layer may import: a state that is filled without a server. */
const testHelpers = ['src/state/state.test-helper.ts'];

/** Folders beside src/ that nothing in it may import. */
const outside = ['sim', 'bench', 'test', 'tools', 'examples', 'ui'];

/** The faults of the tree at `root`, one line each. Empty: the layers hold. */
export async function checkLayers(root: string): Promise<string[]> {
  const result = await cruiseTree(root);
  const blind = unseenFiles(root, result);
  if (blind.length > 0) return blind;
  const faults = result.summary.violations.map((violation) => describe(root, violation, result));
  return [...new Set([...strayFiles(root), ...faults, ...checkUiLayers(root)])].sort();
}

async function cruiseTree(root: string): Promise<ICruiseResult> {
  if (!existsSync(join(root, 'src'))) throw new Error(`${root} has no src folder`);
  const { output } = await cruise(
    ['src'],
    {
      baseDir: root,
      validate: true,
      ruleSet: { forbidden: rules() },
      includeOnly: { path: `^(src|${outside.join('|')})/` },
      // Type imports vanish at run time but are knowledge all the same.
      tsPreCompilationDeps: true,
    },
    { extensions: ['.ts', '.mjs', '.js'] },
  );
  if (typeof output === 'string') throw new Error('dependency-cruiser answered with text');
  return output;
}

function rules(): IForbiddenRuleType[] {
  return [
    ...Object.entries(layers).flatMap(([layer, below]) => rulesOfLayer(layer, [layer, ...below])),
    {
      name: 'product imports test code',
      from: { path: '^src/', pathNot: testCode },
      to: { path: testCode },
    },
    {
      name: 'src imports what is outside',
      from: { path: '^src/' },
      to: { path: `^(${outside.join('|')})/` },
    },
    { name: 'circular', from: { path: '^src/' }, to: { circular: true } },
  ];
}

function rulesOfLayer(layer: string, allowed: readonly string[]): IForbiddenRuleType[] {
  const folders = allowed.map((name) => `^src/${name}/`);
  const files = testHelpers.map((path) => `^${path.replaceAll('.', String.raw`\.`)}$`);
  return [
    {
      name: layer,
      from: { path: `^src/${layer}/`, pathNot: testCode },
      to: { path: '^src/', pathNot: folders },
    },
    {
      name: `${layer} (tests)`,
      from: { path: `^(?=src/${layer}/).*(${testCode})` },
      to: { path: '^src/', pathNot: [...folders, ...files] },
    },
  ];
}

function describe(root: string, violation: IViolation, result: ICruiseResult): string {
  const { from, to, rule } = violation;
  if (rule.name === 'circular') return describeCycle(from, violation);
  const where = `${from}:${lineOfImport(root, from, to, result)} imports ${to}`;
  if (rule.name === 'product imports test code') {
    return `${where}: this is test code, for tests only`;
  }
  if (rule.name === 'src imports what is outside') {
    return `${where}: nothing in src may import from ${outside.join(', ')}`;
  }
  const layer = from.split('/')[1] ?? '';
  const allowed = [...(layers[layer] ?? []), `${layer} itself`];
  const helpers = rule.name.endsWith('(tests)') ? `; its tests also ${testHelpers.join(', ')}` : '';
  return `${where}: the layer "${layer}" may import ${allowed.join(', ')}${helpers}`;
}

/** Every member of a cycle reports it: the same text, from the first of them, for all. */
function describeCycle(from: string, { cycle = [] }: IViolation): string {
  const members = [from, ...cycle.map(({ name }) => name).slice(0, -1)];
  const first = members.indexOf([...members].sort()[0] ?? from);
  const round = [...members.slice(first), ...members.slice(0, first), members[first]];
  return `circular import: ${round.join(' -> ')}`;
}

function lineOfImport(root: string, from: string, to: string, result: ICruiseResult): number {
  const source = result.modules.find((module) => module.source === from);
  const written = source?.dependencies.find(({ resolved }) => resolved === to)?.module ?? to;
  const lines = readFileSync(join(root, from), 'utf8').split('\n');
  const quoted = [`'${written}'`, `"${written}"`];
  return lines.findIndex((line) => quoted.some((text) => line.includes(text))) + 1;
}

/** Files that belong to no layer: in a folder that the table does not name, or in none. */
function strayFiles(root: string): string[] {
  return sourceFiles(root)
    .filter(
      (file) => !compositionRoot.includes(file) && !Object.hasOwn(layers, file.split('/')[1] ?? ''),
    )
    .map((file) => `${file} is in no layer: the layers are ${Object.keys(layers).join(', ')}`);
}

function unseenFiles(root: string, result: ICruiseResult): string[] {
  const files = sourceFiles(root);
  const seen = new Set(result.modules.map(({ source }) => source));
  const unseen = files.filter((file) => !seen.has(file));
  if (files.length > 0 && unseen.length === 0) return [];
  return [
    `dependency-cruiser saw ${files.length - unseen.length} of ${files.length} TypeScript files ` +
      `under src${unseen.length > 0 ? `, not ${unseen[0]}` : ''}: is "typescript" a version it can use?`,
  ];
}

function sourceFiles(root: string): string[] {
  return globSync('src/**/*.ts', { cwd: root }).sort();
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const faults = await checkLayers(root);
  for (const fault of faults) console.error(fault);
  console.log(`${sourceFiles(root).length} files, ${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
