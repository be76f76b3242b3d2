/**
 * What one process alone knows, and what becomes of it when another server leads or is asked: a test for each line
 * of the table in ARCHITECTURE.md#several-servers.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { access } from './support/local-things/access.ts';
import { asked } from './support/local-things/asked.ts';
import { filesThatKeep, ofNoConcern } from './support/local-things/census.ts';
import { connections } from './support/local-things/connections.ts';
import { scheduling } from './support/local-things/scheduling.ts';

const things = { ...scheduling, ...access, ...asked, ...connections };

test.for(Object.entries(things))('%s', ([, run]) => run());

const lines = (() => {
  const page = readFileSync(join(import.meta.dirname, '../ARCHITECTURE.md'), 'utf8');
  const [, table = ''] = page.split('| knowledge | owner |');
  return table.slice(0, table.indexOf('\n\n')).split('\n').slice(2);
})();

test('each line of the table has a test', () => {
  // The name of a thing comes before the files that are its owner's.
  const named = lines.map((line) =>
    line
      .split('|')[1]!
      .replace(/ \(`[^)]*`\)/, '')
      .trim(),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.sort()).toEqual(Object.keys(things).sort());
});

test('each file of a server that keeps something is in the table, or of no concern', () => {
  const source = join(import.meta.dirname, '../src');
  const named = lines.flatMap((line) =>
    [...line.matchAll(/`([^`]+(?:\.ts|\/))`/g)].map(([, path]) => path!),
  );
  const isNamed = (file: string) =>
    named.some((path) => file.startsWith(path) || file.startsWith(`server/${path}`));
  const found = filesThatKeep(source, ['server', 'api']).filter((file) => !isNamed(file));
  expect(found).toEqual(Object.keys(ofNoConcern).toSorted());
});
