/** The frame of the web interface and its first two pages, in a browser against a real agent. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openUi, signIn } from '../support/ui.ts';

let browser: TestBrowser;
let agent: Agent;

beforeAll(async () => {
  [browser, agent] = await Promise.all([startBrowser(), startAgent()]);
  const names = ['ledger', 'mailer', 'router'];
  await Promise.all(names.map((name) => register(name)));
});
afterAll(async () => {
  await browser?.close();
  await endAgents();
});

/** A job that no node can run, so that nothing is started. */
async function register(id: string, name = id): Promise<void> {
  const job = {
    ID: id,
    Name: name,
    Type: 'service',
    Datacenters: ['nowhere'],
    TaskGroups: [
      {
        Name: 'main',
        Count: 1,
        Tasks: [{ Name: 'run', Driver: 'raw_exec', Config: { command: '/bin/true' } }],
      },
    ],
  };
  const answer = await ask('PUT', '/v1/jobs', { Job: job });
  expect(answer.status).toBe(200);
}

const ask = (method: string, path: string, body?: unknown): Promise<Response> =>
  fetch(`${agent.address}${path}`, {
    method,
    headers: { 'x-registry-token': agent.token },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

async function signedIn(path: string): Promise<Page> {
  const page = await openUi(browser, { address: agent.address, path });
  await signIn(page, agent.token);
  return page;
}

/** The names in the first column of the table. */
const firstCells = (page: Page): Promise<string[]> =>
  page.locator('tr.list-row td:first-child').allInnerTexts();

test('the page asks to sign in, and goes on to the page that was asked for', async () => {
  const page = await signedIn('namespaces?filter=def');
  await page.getByRole('heading', { level: 1, name: 'Namespaces' }).waitFor();
  expect(new URL(page.url()).search).toContain('filter=def');
  await expect.poll(() => firstCells(page)).toEqual(['default']);
});

test('the list of jobs follows the server, filters there, and keeps its view in the address', async () => {
  const page = await signedIn('jobs');
  await expect
    .poll(async () => (await firstCells(page)).toSorted())
    .toEqual(['ledger', 'mailer', 'router']);
  await register('arrived-later');
  await expect.poll(async () => (await firstCells(page))[0]).toBe('arrived-later');
  await page.keyboard.press('/');
  await page.keyboard.type('mail');
  await expect.poll(() => firstCells(page)).toEqual(['mailer']);
  expect(new URL(page.url()).searchParams.get('filter')).toBe('mail');
  await page.getByRole('textbox', { name: 'Filter the jobs' }).fill('Priority ==');
  await page.getByRole('textbox', { name: 'Filter the jobs' }).press('Enter');
  await page.locator('[aria-invalid=true]').waitFor();
});

test('keys move through the rows, between the pages, and into the palette', async () => {
  const page = await signedIn('jobs');
  await page.locator('tr.list-row').first().focus();
  await page.keyboard.press('ArrowDown');
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-index')))
    .toBe('1');
  await page.keyboard.press('g');
  await page.keyboard.press('m');
  const heading = page.getByRole('heading', { level: 1, name: 'Namespaces' });
  await heading.waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
  await expect.poll(() => page.title()).toContain('Namespaces');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find' }).fill('job');
  await page.getByRole('option', { name: /^Jobs/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
});

test('a namespace is created, refused with its faults, and deleted by its name', async () => {
  const page = await signedIn('namespaces');
  await page.getByRole('button', { name: 'Create a namespace' }).click();
  await page.getByLabel('Name', { exact: true }).fill('not a name');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('letters, digits and "-"').first().waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('not a name');
  await page.getByLabel('Name', { exact: true }).fill('team');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect.poll(() => firstCells(page)).toEqual(['default', 'team']);
  await page.getByRole('button', { name: 'Delete team' }).click();
  const remove = page.getByRole('button', { name: 'Delete', exact: true });
  expect(await remove.getAttribute('aria-disabled')).toBe('true');
  await page.getByLabel('Name', { exact: true }).fill('team');
  await remove.click();
  await expect.poll(() => firstCells(page)).toEqual(['default']);
});

test('an act that the token may not do names the missing permission', async () => {
  const rules = 'namespace "default" { policy = "read" }';
  await ask('PUT', '/v1/acl/policy', { Name: 'reader', Rules: rules });
  const made = await ask('PUT', '/v1/acl/token', { Policies: [{ Name: 'reader' }] });
  const { SecretID } = (await made.json()) as { SecretID: string };
  const page = await openUi(browser, { address: agent.address, path: 'namespaces' });
  await signIn(page, SecretID);
  const create = page.getByRole('button', { name: 'Create a namespace' });
  await expect.poll(() => create.getAttribute('title')).toContain('operator:write');
  expect(await create.getAttribute('aria-disabled')).toBe('true');
});

test('signing out ends the session in every tab', async () => {
  const window = await browser.window();
  const pages = [];
  for (const path of ['jobs', 'namespaces']) {
    const page = await openUi(browser, { address: agent.address, path, window });
    await signIn(page, agent.token);
    await page.getByRole('heading', { level: 1 }).waitFor();
    pages.push(page);
  }
  const [first, second] = pages as [Page, Page];
  await first.getByRole('button', { name: /^Account/ }).click();
  await first.getByRole('menuitem', { name: 'Sign out everywhere' }).click();
  await first.getByText('You have signed out.').waitFor();
  await second.getByText('You have signed out in another tab.').waitFor();
});

test('the token stays in memory, and over a reload only if the reader asks for that', async () => {
  const page = await signedIn('jobs');
  const stored = () =>
    page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  expect(await stored()).not.toContain(agent.token);
  await page.reload();
  await page.getByLabel('Keep it until this tab is closed').check();
  await signIn(page, agent.token);
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain(agent.token);
});

test('a token that the server could not delete is told when signing out', async () => {
  const link = await ask('POST', '/v1/ui/link', {});
  const { Secret } = (await link.json()) as { Secret: string };
  const path = `sign-in#link=${Secret}`;
  const page = await openUi(browser, { address: agent.address, path, endsServer: true });
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.route('**/v1/ui/sign-out', (route) => route.fulfill({ status: 503, body: '' }));
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out everywhere' }).click();
  await page.getByText('The server could not delete the token').waitFor();
});

test('texts of jobs are shown as they are, with control characters escaped', async () => {
  await register('odd', '\u202eodd\u0007<img src=x onerror=alert(1)>');
  const page = await signedIn('jobs?filter=ID%20%3D%3D%20odd');
  await expect
    .poll(() => firstCells(page))
    .toEqual(['\\u202eodd\\u0007<img src=x onerror=alert(1)>']);
});

test('pages that were left leave no node and no listener behind', async () => {
  const page = await signedIn('jobs');
  const tools = await page.context().newCDPSession(page);
  await tools.send('Performance.enable');
  const places = ['Jobs', 'Nodes', 'Events', 'Servers'];
  const walk = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      for (const name of places) {
        await page.getByRole('navigation').getByRole('link', { name, exact: true }).first().click();
        await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      }
    }
    await tools.send('HeapProfiler.collectGarbage');
    const { metrics } = await tools.send('Performance.getMetrics');
    return (name: string) => metrics.find((metric) => metric.name === name)!.value;
  };
  const rounds = 6;
  const before = await walk(1);
  const after = await walk(rounds);
  expect(after('JSEventListeners')).toBeLessThanOrEqual(before('JSEventListeners') + rounds);
  // A page or two of some hundred nodes may be collected only later, whatever the number of visits.
  const perVisit = (after('Nodes') - before('Nodes')) / (rounds * places.length);
  expect(perVisit).toBeLessThan(50);
});

test('keys reach the ends of a table that is longer than the screen', async () => {
  const number = 90;
  for (let left = number; left > 0; left--) {
    await ask('PUT', `/v1/namespace/long-${left}`, { Name: `long-${left}` });
  }
  const page = await signedIn('namespaces');
  const current = () =>
    page.evaluate(() => Number(document.activeElement?.getAttribute('data-index') ?? -1));
  await page.locator('tr.list-row').first().focus();
  await page.keyboard.press('End');
  await expect.poll(current).toBeGreaterThanOrEqual(number);
  await page.keyboard.press('Home');
  await expect.poll(current).toBe(0);
});
