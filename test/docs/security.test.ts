/** The page of security says only what is tried. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { attempts } from '../escape/table.ts';
import { checkout } from '../support/agent.ts';

const textOf = (path: string): string => readFileSync(join(checkout, path), 'utf8');
const page = textOf('docs/security.md');

/** The lines of the tables whose last column is what they are shown by. */
const claims = [...page.matchAll(/^\|.*\| shown by \|\n\|[-|]+\n((?:\|.*\n)+)/gm)].flatMap(
  ([, lines]) => lines!.trimEnd().split('\n'),
);

test('two tables have claims', () => expect(claims.length).toBeGreaterThan(20));

test.each(claims)('%s', (line) => {
  const shown = [
    ...line
      .split(' | ')
      .at(-1)!
      .matchAll(/`([^`]+)`(?: \(`([^`]+)`\))?/g),
  ];
  expect(shown).not.toEqual([]);
  const names = new Set(attempts.map(({ name }) => name));
  const isThere = (name: string, file: string | undefined): boolean =>
    file === undefined ? names.has(name) : textOf(file).includes(`'${name}`);
  expect(shown.filter(([, name, file]) => !isThere(name!, file))).toEqual([]);
});
