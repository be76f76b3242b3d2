/** The page of security says only what is tried. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { attempts } from '../escape/table.ts';
import { checkout } from '../support/agent.ts';

const page = readFileSync(join(checkout, 'docs/security.md'), 'utf8');
const [, tried = ''] = page.split('| what holds | shown by |\n|---|---|\n');
const claims = tried.slice(0, tried.indexOf('\n\n')).split('\n');

test.each(claims)('%s', (line) => {
  const named = [...(line.split(' | ')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name);
  expect(named).not.toEqual([]);
  const names = new Set(attempts.map(({ name }) => name));
  expect(named.filter((name) => !names.has(name!))).toEqual([]);
});
