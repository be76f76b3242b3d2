/** The list of requests is that of the contract. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { apiReference, page } from '../../tools/api-reference.ts';

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the page is current: npm run docs writes it', async () => {
  expect(textOf(page)).toBe(await apiReference());
});

test('it has every route that is in the table of permissions', () => {
  const routes = textOf('test/golden/permissions.txt').matchAll(/^[A-Z]+ (\/\S+)/gm);
  const listed = textOf(page);
  const missing = [...routes]
    .map(([, path]) => path!)
    .filter((path) => !listed.includes(`\`${path}\``));
  expect(missing).toEqual([]);
});
