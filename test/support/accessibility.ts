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

/** `all`: WCAG 2.2 AA and what axe advises. `colors`: the rules that a theme can break. */
type Rules = 'all' | 'colors';

const rulesOf = {
  // axe leaves the rules of WCAG 2.2 out until they are asked for.
  all: { rules: { 'target-size': { enabled: true } } },
  colors: { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } },
} as const;

/** The broken rules of the page, or of a part of it, each with the markup that breaks it. */
export async function violations(
  page: Page,
  part = 'html',
  rules: Rules = 'all',
): Promise<readonly string[]> {
  // A page that is still being loaded has no heading yet.
  await page.locator('h1').first().waitFor({ state: 'attached' });
  // As a string, since the content security policy forbids elements of scripts.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  return page.evaluate(
    async ([selector, options]) => {
      const { run } = (
        globalThis as unknown as {
          axe: { run(part: string, options: unknown): Promise<AxeResults> };
        }
      ).axe;
      const { violations } = await run(selector, { ...options, resultTypes: ['violations'] });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    },
    [part, rulesOf[rules]] as const,
  );
}
