/**
 * The lint of citations: the pages that comments and documents cite are in this repository. A
 * citation is the path of a page, from the root or beside the file, and may name headings: by their
 * slugs (`#bodies, #lists`, the latter of the same page), or by `§` and their words.
 * Notes that only the authors have are refused by name, in texts of code as well.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const code = ['src', 'sim', 'test', 'bench', 'tools'].map((folder) => `${folder}/**/*.{ts,mjs}`);
const documents = ['*.md', '{docs,src,sim,test,bench,tools,examples}/**/*.md'];

/** They name what they refuse. */
const exempt = new Set(['tools/citations.ts', 'tools/citations.test.ts']);

/** A page, and the headings of it that are named: slugs, or a whole heading after `§`. */
const citation =
  /((?:[\w.-]+\/|\.\.?\/)*[\w-]+\.md)(?:((?:#[\p{L}\p{N}_-]+)(?:, #[\p{L}\p{N}_-]+)*)| §\s*"?([^".,;:)]*))?/gu;

const refused =
  /\bfacts\/[\w-]*\.md|\bfacts §|\bspec\/[1-3][\w.-]*|(?<![\w/])DESIGN §|\b(?:SERVERS|PROOFS)\.md/gu;

/** The faults of the tree at `root`, one line each. Empty: every citation leads somewhere. */
export function checkCitations(root: string): string[] {
  const headings = new Map<string, ReadonlySet<string>>();
  const slugsOf = (page: string): ReadonlySet<string> => {
    let slugs = headings.get(page);
    if (slugs === undefined) {
      slugs = slugsIn(readFileSync(join(root, page), 'utf8'));
      headings.set(page, slugs);
    }
    return slugs;
  };
  return citingFiles(root).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const cited = file.endsWith('.md') ? withoutBlocks(text) : comments(text);
    return [...refusedIn(file, text), ...unresolvedIn(root, file, cited, slugsOf)];
  });
}

function citingFiles(root: string): string[] {
  const exclude = (path: string): boolean => /(^|\/)node_modules$/.test(path);
  const found = globSync([...code, ...documents], { cwd: root, exclude });
  return [...new Set(found)].filter((file) => !exempt.has(file)).sort();
}

const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length;

function refusedIn(file: string, text: string): string[] {
  return [...text.matchAll(refused)].map(
    ({ 0: found, index }) =>
      `${file}:${lineAt(text, index)} cites "${found}": cite a page of this repository`,
  );
}

function unresolvedIn(
  root: string,
  file: string,
  text: string,
  slugsOf: (page: string) => ReadonlySet<string>,
): string[] {
  return [...text.matchAll(citation)].flatMap(
    ({ 0: found, 1: path = '', 2: slugs, 3: words, index }) => {
      if (found.search(refused) >= 0) return [];
      const where = `${file}:${lineAt(text, index)} cites`;
      const named = namedHeadings(slugs, words);
      const page = pageOf(root, file, path);
      if (page !== undefined) {
        const lacking = named.filter((slug) => !slugsOf(page).has(slug));
        return lacking.map((slug) => `${where} ${page}#${slug}: the page has no such heading`);
      }
      // Without a heading, or a folder, it may be the name of any file.
      const isCitation = named.length > 0 || path.startsWith('docs/');
      return isCitation ? [`${where} ${path}: there is no such page`] : [];
    },
  );
}

const namedHeadings = (slugs: string | undefined, words: string | undefined): readonly string[] => [
  ...(slugs?.split(', ').map((slug) => slug.slice(1)) ?? []),
  ...(words ? [slugOf(words.trim())] : []),
];

/** From the root of the repository, or from the folder of the file that cites. */
const pageOf = (root: string, file: string, path: string): string | undefined =>
  [path, join(dirname(file), path)].map(normalize).find((page) => existsSync(join(root, page)));

/** As GitHub makes the anchors of headings. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

function slugsIn(text: string): ReadonlySet<string> {
  const slugs = new Set<string>();
  for (const [, heading = ''] of withoutBlocks(text).matchAll(/^#+ (.*)$/gm)) {
    const slug = slugOf(heading);
    let free = slug;
    for (let count = 1; slugs.has(free); count++) free = `${slug}-${count}`;
    slugs.add(free);
  }
  return slugs;
}

/** Every character but those of line ends becomes a space, so that places stay what they are. */
const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

const withoutBlocks = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, blank);

/** Comments, in their places. Texts of code may look like a comment, and are none. */
function comments(text: string): string {
  const parts = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;
  let result = '';
  let last = 0;
  for (const { 0: part, index } of text.matchAll(parts)) {
    const isComment = part.startsWith('/*') || part.startsWith('//');
    // A citation may go over the end of a line of a comment.
    result += blank(text.slice(last, index)) + (isComment ? part : blank(part));
    last = index + part.length;
  }
  return result + blank(text.slice(last));
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const faults = checkCitations(root);
  for (const fault of faults) console.error(fault);
  console.log(`${citingFiles(root).length} files, ${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
