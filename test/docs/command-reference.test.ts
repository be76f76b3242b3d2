/** The list of commands is that of the program. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandReference, page } from '../../tools/command-reference.ts';

test('the page is current: npm run docs writes it', async () => {
  const markdown = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  expect(markdown).toBe(await commandReference());
});
