/** The table of contents of the documentation, and which pages are tried. */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { listedPages } from '../../tools/site/pages.ts';
import { blocksOf } from './blocks.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const pages = globSync('docs/**/*.md', { cwd: checkout }).sort();
const textOf = (path: string): string => readFileSync(join(checkout, path), 'utf8');

test('docs/README.md leads to every page, or to the index of its folder', () => {
  const listed = listedPages().map(({ link }) => `docs/${link}`);
  const folders = listed.filter((page) => page.endsWith('/README.md')).map(posix.dirname);
  const missing = pages.filter(
    (page) =>
      page !== 'docs/README.md' && !listed.includes(page) && !folders.includes(posix.dirname(page)),
  );
  expect(missing).toEqual([]);
});

test('every page with commands is run by a test', () => {
  const own = 'test/docs/contents.test.ts';
  const files = globSync('test/docs/*.test.ts', { cwd: checkout }).filter((path) => path !== own);
  const tests = files.map(textOf).join('\n');
  const withCommands = pages.filter((page) =>
    blocksOf(textOf(page)).some(({ language }) => language === 'sh'),
  );
  const untried = withCommands.filter((page) => !tests.includes(`'${page}'`));
  expect(untried).toEqual([]);
});
