/** The page of security says only what is tried. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { attempts, openings } from '../escape/table.ts';
import { checkout } from '../support/agent.ts';

const textOf = (path: string): string => readFileSync(join(checkout, path), 'utf8');
const page = textOf('docs/security.md');

/** The lines of the tables whose last column is what they are shown by. */
const claims = [...page.matchAll(/^\|.*\| shown by \|\n\|[-|]+\n((?:\|.*\n)+)/gm)].flatMap(
  ([, lines]) => lines!.trimEnd().split('\n'),
);

const names = new Set([...attempts, ...openings].map(({ name }) => name));

const isThere = (name: string, file?: string): boolean =>
  file === undefined ? names.has(name) : textOf(file).includes(`'${name}`);

test('the tables have claims', () => expect(claims.length).toBeGreaterThan(30));

test.each(claims)('%s', (line) => {
  const shown = [
    ...line
      .split(' | ')
      .at(-1)!
      .matchAll(/`([^`]+)`(?: \(`([^`]+)`\))?/g),
  ];
  expect(shown).not.toEqual([]);
  expect(shown.filter(([, name, file]) => !isThere(name!, file))).toEqual([]);
});

/** Where nothing is promised. */
const otherSections = ['Not shown', 'How to report a hole'];

/** Paragraphs and points of lists, each on one line. */
const prose = page
  .split(/^#+ /m)
  .slice(1)
  .filter((section) => !otherSections.some((title) => section.startsWith(title)))
  .flatMap((section) => section.split(/\n\n|\n(?=- )/).slice(1))
  .map((text) => text.trim().replaceAll(/\s+/g, ' '))
  .filter((text) => text !== '' && !text.startsWith('|'));

test('there is prose', () => expect(prose.length).toBeGreaterThan(5));

test.each(prose)('%s', (text) => {
  const links = [...text.matchAll(/\[([\w./-]+): ([^\]]+)\]/g)];
  expect(links).not.toEqual([]);
  const isShown = (file: string, name: string): boolean =>
    file === 'test/escape' ? isThere(name) : isThere(name, file);
  expect(links.filter(([, file, name]) => !isShown(file!, name!))).toEqual([]);
});
