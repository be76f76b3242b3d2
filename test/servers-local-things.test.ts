/**
 * What one process alone knows, and what becomes of it when another server leads or is asked: a test for each line
 * of the table in ARCHITECTURE.md#several-servers.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { access } from './support/local-things/access.ts';
import { connections } from './support/local-things/connections.ts';
import { scheduling } from './support/local-things/scheduling.ts';

const things = { ...scheduling, ...access, ...connections };

test.for(Object.entries(things))('%s', ([, run]) => run());

test('each line of the table has a test', () => {
  const page = readFileSync(join(import.meta.dirname, '../ARCHITECTURE.md'), 'utf8');
  const [, table = ''] = page.split('| knowledge | owner |');
  const lines = table.slice(0, table.indexOf('\n\n')).split('\n').slice(2);
  // The name of a thing comes before the file that is its owner's.
  const named = lines.map((line) =>
    line
      .split('|')[1]!
      .replace(/ \(`[^`]*`\)/, '')
      .trim(),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.sort()).toEqual(Object.keys(things).sort());
});
