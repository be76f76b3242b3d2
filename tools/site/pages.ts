/** The pages of the site: their table of contents, and their addresses. */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));

interface Entry {
  readonly text: string;
  readonly link: string;
}

interface Section {
  readonly text: string;
  readonly groups: readonly Group[];
}

/** The list below a third heading, which is '' for a list right below the second. */
interface Group {
  readonly text: string;
  readonly items: readonly Entry[];
}

/** The address of a page: a README is the index of its folder. */
export const shownPath = (page: string): string => page.replace(/(^|\/)README\.md$/, '$1index.md');

const addressOf = (page: string): string =>
  `/${shownPath(page)
    .replace(/(^|\/)index\.md$/, '$1')
    .replace(/\.md$/, '')}`;

/** The sections of `docs/README.md`, each with the pages of its lists. */
function contents(): readonly Section[] {
  const text = readFileSync(join(docs, 'README.md'), 'utf8');
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...rest] = section.split('\n');
      const groups = rest
        .join('\n')
        .split(/^### /m)
        .map((group, at) => {
          const [title = '', ...lines] = group.split('\n');
          return { text: at === 0 ? '' : title, items: linksOf(lines) };
        });
      return { text: heading, groups: groups.filter(({ items }) => items.length > 0) };
    });
}

const linksOf = (lines: readonly string[]): readonly Entry[] =>
  lines
    .map((line) => /^- \[([^\]]+)\]\(([^)]+)\)/.exec(line))
    .flatMap((link) => (link ? [{ text: link[1]!, link: link[2]! }] : []));

/** Every page that `docs/README.md` lists. */
export const listedPages = (): readonly Entry[] =>
  contents().flatMap(({ groups }) => groups.flatMap(({ items }) => items));

/** The pages in the folder of a page that `docs/README.md` names as the index of that folder. */
function below(page: string): readonly Entry[] {
  if (!page.endsWith('/README.md')) return [];
  const found = globSync(`${posix.dirname(page)}/*.md`, { cwd: docs }).sort();
  const others = found.filter((path) => !path.endsWith('README.md'));
  return others.map((path) => ({ text: titleOf(path), link: addressOf(path) }));
}

const titleOf = (page: string): string =>
  /^# (.*)$/m.exec(readFileSync(join(docs, page), 'utf8'))?.[1]?.replaceAll('`', '') ?? page;

/** The bars above and beside the pages. The bar beside a page has the pages of its section. */
export function navigation() {
  const sections = contents();
  const nav = sections.map((section) => ({
    text: section.text,
    link: addressOf(section.groups[0]!.items[0]!.link),
    activeMatch: `^(${foldersOf(section).join('|')})`,
  }));
  const bars = sections.flatMap((section) => {
    const bar = section.groups.map(({ text, items }) => ({
      text: text || section.text,
      items: items.map(itemOf),
    }));
    return foldersOf(section).map((folder) => [folder, bar] as const);
  });
  // The first page is in no section. Its address is the beginning of all others, so it comes last.
  return { nav, sidebar: Object.fromEntries([...bars, ['/', bars[0]![1]]]) };
}

/** The beginnings of the addresses of a section: its folders, and its pages outside of them. */
function foldersOf({ groups }: Section): readonly string[] {
  const addresses = groups.flatMap(({ items }) => items.map(({ link }) => addressOf(link)));
  return [...new Set(addresses.map((address) => address.replace(/(?<=.\/)[^/]*$/, '')))];
}

function itemOf(entry: Entry) {
  const pages = below(entry.link);
  const own = { text: entry.text, link: addressOf(entry.link) };
  return pages.length === 0 ? own : { ...own, items: [...pages], collapsed: true };
}
