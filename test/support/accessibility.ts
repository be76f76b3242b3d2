/** The rules of accessibility, checked by axe in the page itself. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const axe = readFileSync(
  new URL('../../node_modules/axe-core/axe.min.js', import.meta.url),
  'utf8',
);

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** The broken rules of the page, or of a part of it, each with the markup that breaks it. */
export async function violations(page: Page, part = 'html'): Promise<readonly string[]> {
  // As a string, since the content security policy forbids elements of scripts.
  await page.evaluate(axe);
  return page.evaluate(async (selector) => {
    const run = (globalThis as unknown as { axe: { run(part: string): Promise<AxeResults> } }).axe
      .run;
    const { violations } = await run(selector);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  }, part);
}
