/** Every link within the documentation leads somewhere. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: checkout }).sort();
const textOf = (page: string): string => readFileSync(join(checkout, page), 'utf8');
const withoutCode = (text: string): string =>
  text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '``');

/** As they are made of headings: lower case, no punctuation, dashes for spaces. */
const anchorsOf = (page: string): readonly string[] =>
  [
    ...textOf(page)
      .replace(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/^#+ (.*)$/gm),
  ].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test('there is documentation', () => {
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/guides/access-control.md']));
});

test.each(pages)('the links of %s', (page) => {
  const links = [...withoutCode(textOf(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to!);
  const inside = links.filter((to) => !/^https?:/.test(to));
  const broken = inside.filter((to) => {
    const [path = '', anchor] = to.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(checkout, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(broken).toEqual([]);
});
