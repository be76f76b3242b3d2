/** The first page in a browser: what needs attention, the numbers, the palette, and a server that goes away. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../support/accessibility.ts';
import { type Agent, endAgents, newDirectory, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openUi, signIn } from '../support/ui.ts';

let browser: TestBrowser;
let agent: Agent;

beforeAll(async () => {
  [browser, agent] = await Promise.all([startBrowser(), startAgent()]);
});
afterAll(async () => {
  await browser?.close();
  await endAgents();
});

async function open(path = ''): Promise<Page> {
  const page = await openUi(browser, { address: agent.address, path });
  await signIn(page, agent.token);
  return page;
}

const job = (ID: string, changes: object = {}, task: object = {}) => ({
  ID,
  Type: 'service',
  TaskGroups: [
    {
      Name: 'main',
      Count: 1,
      Tasks: [
        {
          Name: 'run',
          Driver: 'raw_exec',
          Config: { command: '/bin/sleep', args: ['3600'] },
          Resources: { CPU: 20, MemoryMB: 10 },
          ...task,
        },
      ],
    },
  ],
  ...changes,
});
const tooLarge = { Resources: { CPU: 20, MemoryMB: 90_000_000 } };
const odd = '\u202eodd\u0007<img src=x onerror=alert(1)>';

test('without jobs it says how to begin, then what needs attention and why, and then that all is well', async () => {
  const page = await open();
  await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
  await page.getByText('roster job run examples/web.json').waitFor();
  await agent.register(job('odd', { Name: odd }, tooLarge));
  await page.getByText(/things? needs? attention/).waitFor();
  const critical = page.getByRole('region', { name: /^Critical/ });
  await critical.getByText('Fewer allocations run than are wanted').waitFor();
  const shown = await critical.getByRole('listitem').innerText();
  expect(shown).toContain('\\u202eodd\\u0007<img src=x onerror=alert(1)>');
  const warnings = page.getByRole('region', { name: /^Warnings/ });
  await warnings.getByText(/1 node has too little memory left/).waitFor();
  // Only a kind, which stands in the address.
  await page.getByRole('button', { name: 'Waits for room 1' }).click();
  await critical.waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('kind')).toBe('evaluation-blocked');
  await agent.register(job('odd', { Name: odd }));
  await page.getByText('All is well').waitFor();
  await page.getByText('1 job, 1 allocation running, 1 node ready').waitFor();
  expect(await violations(page)).toEqual([]);
});

test('numbers of another namespace are not counted in', async () => {
  await agent.request('PUT', '/v1/namespace/team', { Name: 'team' });
  await agent.register(job('large', { Namespace: 'team' }, tooLarge));
  const page = await open();
  await page.locator('[data-count=jobs]').getByText('2', { exact: true }).waitFor();
  await page.goto(`${agent.address}/ui/?namespace=default`);
  await signIn(page, agent.token);
  await page.getByText('All is well in the namespace default').waitFor();
  await page.locator('[data-count=jobs]').getByText('1', { exact: true }).waitFor();
  await agent.request('DELETE', '/v1/job/large?namespace=team&purge=true');
});

test.each(['light', 'dark'] as const)(
  'the overview breaks no rule of accessibility in the theme %s',
  async (colorScheme) => {
    await agent.register(job('large', {}, tooLarge));
    const page = await open();
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.getByRole('region', { name: /^Critical/ }).waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await violations(page)).toEqual([]);
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(await overflow()).toBe(0);
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl';
    });
    expect(await overflow()).toBe(0);
  },
);

test('the palette finds by name what the server has, and the keys go there', async () => {
  await agent.register(job('findable'));
  const page = await open('namespaces');
  await page.getByRole('heading', { level: 1, name: 'Namespaces' }).waitFor();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Find' });
  await field.fill('defau');
  const found = page.getByRole('option', { name: /^default/ });
  await found.waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).search).toContain('filter=default');
  // An act of the page, without the mouse.
  await page.keyboard.press('Control+k');
  await field.fill('create');
  await page.getByRole('option', { name: /^Create a namespace/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Create a namespace' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await field.fill('nothing has this');
  await page.getByText('Nothing has this name.').waitFor();
});

test('the server sorts the list, and the page tells how many rows there are', async () => {
  const names = Array.from({ length: 130 }, (_, at) => `many-${String(at).padStart(3, '0')}`);
  const nowhere = { Datacenters: ['nowhere'], Type: 'batch' };
  for (const name of names) await agent.register(job(name, nowhere));
  const page = await open('jobs?type=batch');
  const first = () => page.locator('tr.list-row td:first-child').first().innerText();
  await page.getByText('100 of 130 rows').waitFor();
  expect(await first()).toBe('many-129');
  const head = page.getByRole('columnheader', { name: 'Job', exact: true });
  await head.getByRole('button').click();
  await expect.poll(first).toBe('many-000');
  await head.getByRole('button').click();
  await expect.poll(first).toBe('many-129');
  await page.getByText('100 of 130 rows, sorted', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Load 100 more' }).click();
  await page.getByText('130 rows, sorted', { exact: true }).waitFor();
  // Rows far below are not drawn until the reader gets there.
  expect(await page.locator('tr.list-row').count()).toBeLessThan(130);
  await page.locator('tr.list-row').first().focus();
  await page.keyboard.press('End');
  await expect
    .poll(() => page.evaluate(() => (document.activeElement as HTMLElement).innerText))
    .toContain('many-000');
  await page.emulateMedia({ media: 'print' });
  await expect.poll(() => page.locator('tr.list-row').count()).toBe(130);
});

test('a server that goes away: the page keeps what it shows, tells its age, and goes on when the server is back', async () => {
  const dataDirectory = newDirectory();
  const words = { dataDirectory, args: ['--server-only'] };
  const first = await startAgent(words);
  await first.register(job('kept', { Datacenters: ['nowhere'] }));
  const page = await openUi(browser, { address: first.address, path: 'namespaces' });
  await signIn(page, first.token);
  await page.getByRole('button', { name: 'Create a namespace' }).click();
  await page.getByLabel('Name', { exact: true }).fill('typed-before');
  await first.stop('SIGKILL');
  await page.getByText(/The server is away. What you see is as of/).waitFor();
  await page
    .getByText(/^as of/)
    .first()
    .waitFor();
  expect(await page.locator('tr.list-row').count()).toBe(1);
  const args = ['--server-only', '--http', new URL(first.address).host];
  const second = await startAgent({ dataDirectory, args });
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByText(/The server is away/).waitFor({ state: 'detached' });
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('typed-before');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect.poll(() => page.locator('tr.list-row').count()).toBe(2);
  await second.stop();
});
