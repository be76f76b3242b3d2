/**
 * The lint of the house's own rules, one file a rule in `tools/tidy/`.
 *
 * `node tools/run.mjs tools/tidy.ts` holds the tree against `tools/tidy/known.json`, which lists how many
 * faults a file still has: more than that fails, and fewer is told. `… tools/tidy.ts src/cli` prints every fault below
 * a path; `… tools/tidy.ts --fix src/cli` repairs the spread literals there, as far as formatting. `…
 * tools/tidy.ts --shrink` writes the list anew, which never grows.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareMethods } from './tidy/bare-methods.ts';
import { bounds } from './tidy/bounds.ts';
import { fileLength } from './tidy/file-length.ts';
import { functionLength } from './tidy/function-length.ts';
import { oneWord } from './tidy/glossary.ts';
import { parameters } from './tidy/parameters.ts';
import { type Fault, parseSource, type Rule } from './tidy/rule.ts';
import { sentences } from './tidy/sentences.ts';
import { spreadLiterals, withoutSpreadLiterals } from './tidy/spread-literals.ts';
import { testSupport } from './tidy/test-support.ts';

const rules: readonly Rule[] = [
  fileLength,
  functionLength,
  parameters,
  bounds,
  spreadLiterals,
  testSupport,
  bareMethods,
  oneWord,
  sentences,
];

const knownPath = 'tools/tidy/known.json';

export interface Finding extends Fault {
  readonly path: string;
  readonly rule: string;
}

/** How many faults each file still has, by rule. */
export type Known = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Every fault of the tree at `root`, below the folder or file that is named. */
export function findFaults(root: string, below = ''): readonly Finding[] {
  const texts = readTexts(root);
  const checks = rules.map(({ name, prepare }) => ({ rule: name, check: prepare({ texts }) }));
  return [...texts]
    .filter(([path]) => isBelow(path, below))
    .flatMap(([path, text]) => {
      const source = parseSource(path, text);
      return checks.flatMap(({ rule, check }) =>
        check(source).map((fault) => ({ ...fault, path, rule })),
      );
    });
}

function readTexts(root: string): ReadonlyMap<string, string> {
  const files = globSync('{src,sim,test,bench,tools}/**/*.{ts,mjs}', { cwd: root }).toSorted();
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

const isBelow = (path: string, folder: string): boolean =>
  folder === '' || `${path}/`.startsWith(`${folder.replace(/\/$/, '')}/`);

function fixSpreads(root: string, below: string): void {
  for (const [path, text] of readTexts(root)) {
    if (!isBelow(path, below)) continue;
    const fixed = withoutSpreadLiterals(path, text);
    if (fixed !== text) writeFileSync(join(root, path), fixed);
  }
}

export function countFaults(faults: readonly Finding[]): Known {
  const counts: Record<string, Record<string, number>> = {};
  for (const { path, rule } of faults) {
    counts[path] ??= {};
    counts[path][rule] = (counts[path][rule] ?? 0) + 1;
  }
  return counts;
}

/** The faults of each file that has more of a rule than the list allows, a line each. */
export function findGrowth(faults: readonly Finding[], known: Known): readonly string[] {
  const found = countFaults(faults);
  return faults
    .filter(({ path, rule }) => (found[path]?.[rule] ?? 0) > (known[path]?.[rule] ?? 0))
    .map(sentenceOf);
}

/** Entries of the list that allow more faults than the file has, a line each. */
export function findStale(faults: readonly Finding[], known: Known): readonly string[] {
  const found = countFaults(faults);
  return Object.entries(known).flatMap(([path, counts]) =>
    Object.entries(counts).flatMap(([rule, allowed]) => {
      const count = found[path]?.[rule] ?? 0;
      if (count >= allowed) return [];
      return [`${path} has ${count} faults of ${rule}, the list says ${allowed}: tidy --shrink`];
    }),
  );
}

/** The list for a tree with these faults, or the rules that more is broken of than the list allows. */
export function shrink(faults: readonly Finding[], known: Known): Known | readonly string[] {
  const found = countFaults(faults);
  const grown = rules.filter(({ name }) => totalOf(found, name) > totalOf(known, name));
  return grown.length === 0 ? found : grown.map(({ name }) => name);
}

const totalOf = (known: Known, rule: string): number =>
  Object.values(known).reduce((sum, counts) => sum + (counts[rule] ?? 0), 0);

const sentenceOf = ({ path, line, rule, message }: Finding): string =>
  `${path}:${line} ${rule}: ${message}`;

function main(root: string, words: readonly string[]): readonly string[] {
  const [word, path = ''] = words;
  const known = JSON.parse(readFileSync(join(root, knownPath), 'utf8')) as Known;
  if (word === undefined) {
    const faults = findFaults(root);
    for (const line of findStale(faults, known)) console.log(line);
    return findGrowth(faults, known);
  }
  if (word === '--fix') {
    fixSpreads(root, path);
    return findFaults(root, path).map(sentenceOf);
  }
  if (word !== '--shrink') return findFaults(root, word).map(sentenceOf);
  const list = shrink(findFaults(root), known);
  if (Array.isArray(list)) return list.map((rule) => `${rule}: there are more faults than before`);
  writeFileSync(join(root, knownPath), `${JSON.stringify(list, null, 2)}\n`);
  return [];
}

if (import.meta.main) {
  const faults = main(fileURLToPath(new URL('..', import.meta.url)), process.argv.slice(2));
  for (const fault of faults) console.error(fault);
  console.log(`${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
