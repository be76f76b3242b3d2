/**
 * The lint of the house's own rules, with a file for each rule in `tools/tidy/`.
 *
 * `node tools/run.mjs tools/tidy.ts` prints every fault of the tree, and `… tools/tidy.ts src/cli` every fault below a
 * path. `… tools/tidy.ts --fix src/cli` first repairs the spread literals there, apart from their formatting.
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
import { faultsOfPage, sentences } from './tidy/sentences.ts';
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

export interface Finding extends Fault {
  readonly path: string;
  readonly rule: string;
}

/** Every fault of the tree at `root`, below the folder or file that is named. */
export function findFaults(root: string, below = ''): readonly Finding[] {
  const texts = readTexts(root);
  const checks = rules.map(({ name, prepare }) => ({ rule: name, check: prepare({ texts }) }));
  const ofCode = [...texts]
    .filter(([path]) => isBelow(path, below))
    .flatMap(([path, text]) => {
      const source = parseSource(path, text);
      return checks.flatMap(({ rule, check }) =>
        check(source).map((fault) => ({ ...fault, path, rule })),
      );
    });
  const ofPages = [...readFiles(root, '{*,{docs,src,sim,test,bench,ui}/**/*}.md')]
    .filter(([path]) => isBelow(path, below))
    .flatMap(([path, text]) =>
      faultsOfPage(text).map((fault) => ({ ...fault, path, rule: sentences.name })),
    );
  return [...ofCode, ...ofPages];
}

const readTexts = (root: string): ReadonlyMap<string, string> =>
  readFiles(root, '{src,sim,test,bench,tools,docs/.vitepress,ui}/**/*.{ts,mjs,svelte}');

function readFiles(root: string, pattern: string): ReadonlyMap<string, string> {
  const files = globSync(pattern, { cwd: root }).toSorted();
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

const isBelow = (path: string, folder: string): boolean =>
  folder === '' || `${path}/`.startsWith(`${folder.replace(/\/$/, '')}/`);

function fixSpreads(root: string, below: string): void {
  for (const [path, text] of readTexts(root)) {
    if (!isBelow(path, below) || path.endsWith('.svelte')) continue;
    const fixed = withoutSpreadLiterals(path, text);
    if (fixed !== text) writeFileSync(join(root, path), fixed);
  }
}

const sentenceOf = ({ path, line, rule, message }: Finding): string =>
  `${path}:${line} ${rule}: ${message}`;

function main(root: string, words: readonly string[]): readonly string[] {
  const isToFix = words[0] === '--fix';
  const [path = ''] = isToFix ? words.slice(1) : words;
  if (isToFix) fixSpreads(root, path);
  return findFaults(root, path).map(sentenceOf);
}

if (import.meta.main) {
  const faults = main(fileURLToPath(new URL('..', import.meta.url)), process.argv.slice(2));
  for (const fault of faults) console.error(fault);
  console.log(`${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
