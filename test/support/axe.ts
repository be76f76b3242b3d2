/** The faults that `axe` finds on a page, in the light and in the dark theme. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axe = readFileSync(
  new URL('../../node_modules/axe-core/axe.min.js', import.meta.url),
  'utf8',
);

interface Found {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly Node[] }[];
}
interface Node {
  readonly target: readonly string[];
}

export async function expectAccessible(page: Page): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.evaluate(axe);
    const found = (await page.evaluate('axe.run()')) as Found;
    const faults = found.violations.map(({ id, nodes }) => [
      id,
      nodes.map(({ target }) => target.join(' ')),
    ]);
    expect([theme, faults]).toEqual([theme, []]);
  }
}
