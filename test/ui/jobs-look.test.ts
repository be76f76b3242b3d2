/** The page of a job with texts that would harm, in every part, and on a telephone. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openUi, signIn } from '../support/ui.ts';

let browser: TestBrowser;
let agent: Agent;

const evil = '<img src=x onerror="globalThis.wasHarmed=1">\u202eevil\u0007\u001b[31m';
const shown = '<img src=x onerror="globalThis.wasHarmed=1">\\u202eevil\\u0007\\u001b[31m';
const id = 'odd/<b>&"\'';
/** Groups and their like may have no control characters. */
const called = '<img src=x onerror="globalThis.wasHarmed=1">\u202eevil';

beforeAll(async () => {
  [browser, agent] = await Promise.all([startBrowser(), startAgent()]);
  const job = (changes: object) => ({
    ID: id,
    Name: evil,
    Type: 'service',
    Meta: { [evil]: evil, long: 'l'.repeat(500) },
    UI: {
      Description: evil,
      Links: [
        { Label: evil, URL: `javascript:${evil}` },
        { Label: 'page', URL: 'https://example.com/a' },
      ],
    },
    TaskGroups: [
      {
        Name: called.replaceAll('/', ''),
        Count: 1,
        Scaling: { Min: 0, Max: 9, Policy: {} },
        Constraints: [{ LTarget: '${attr.kernel.name}', RTarget: evil, Operand: '=' }],
        Tasks: [{ Name: 'run', Driver: 'raw_exec', Config: { command: evil } }],
      },
    ],
    ...changes,
  });
  const submit = async (changes: object) => {
    const { status, text } = await agent.request('PUT', '/v1/jobs', {
      Job: job(changes),
      Submission: { Source: `{"a": "${evil}"}`, Format: 'json', Variables: evil },
    });
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  };
  await submit({});
  await submit({ Meta: { [evil]: `${evil} again` } });
  const tag = { Version: 0, Description: evil };
  const path = `/v1/job/${encodeURIComponent(id)}/tag/${encodeURIComponent('<b>tag')}`;
  expect((await agent.request('PUT', path, tag)).status).toBe(200);
});
afterAll(async () => {
  await browser?.close();
  await endAgents();
});

const path = `jobs/default/${encodeURIComponent(id)}`;
const tabs = [
  'Overview',
  'Allocations',
  'Deployments',
  'Versions',
  'Evaluations',
  'Definition',
  'Scale',
];

async function opened(query = ''): Promise<Page> {
  const page = await openUi(browser, { address: agent.address, path: `${path}${query}` });
  await signIn(page, agent.token);
  await page.getByRole('heading', { level: 1 }).getByText('evil').first().waitFor();
  return page;
}

const settled = async (page: Page): Promise<void> => {
  await expect.poll(() => page.locator('main .loading').count()).toBe(0);
};

test('no text of a job is markup, and what would turn or hide words is escaped', async () => {
  const page = await opened('?before=0&after=1');
  expect(await page.getByRole('heading', { level: 1 }).allInnerTexts()).toEqual([shown]);
  expect(await page.title()).toContain(shown);
  await page.getByText(`${shown} again`).first().waitFor();
  // The description, the label of the link, and the reason of the missing placement.
  await expect.poll(() => page.getByText(shown).count()).toBeGreaterThan(3);
  expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
  await page.getByRole('link', { name: 'page', exact: true }).waitFor();
  for (const tab of tabs) {
    await page.getByRole('tab', { name: tab }).click();
    await settled(page);
    expect(await page.locator('main img, main b').count()).toBe(0);
    const [words = ''] = await page.locator('main').allInnerTexts();
    expect(['\u202e', '\u0007', '\u001b'].filter((one) => words.includes(one))).toEqual([]);
  }
  await page.setViewportSize({ width: 360, height: 740 });
  for (const tab of tabs) {
    await page.getByRole('tab', { name: tab }).click();
    await settled(page);
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await expect.poll(async () => [tab, await overflow()]).toEqual([tab, 0]);
  }
  expect(await page.evaluate(() => 'wasHarmed' in globalThis)).toBe(false);
});
