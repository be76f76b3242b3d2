/** Variables, partitions, and namespaces that never see each other, in a browser against a real agent. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../support/accessibility.ts';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
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

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(`${agent.address}/v1/${path}`, {
    method,
    headers: { 'x-registry-token': agent.token },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as T;
}

async function signedIn(path: string, token = agent.token): Promise<Page> {
  const page = await openUi(browser, { address: agent.address, path });
  await signIn(page, token);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
}

const rowTexts = (page: Page): Promise<string[]> =>
  page.locator('tr.list-row td:first-child').allInnerTexts();

const evil = '</script><img src=x onerror=alert(1)>\u202eodd\u0007';
const shownEvil = '</script><img src=x onerror=alert(1)>\\u202eodd\\u0007';

test('values of a variable are read only when they are asked for, and are in no address', async () => {
  const secret = 'correct horse battery';
  await ask('PUT', 'var/shop/database', { Items: { password: secret, note: evil } });
  const page = await signedIn('variables');
  await page.getByRole('link', { name: 'database', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'shop/database' }).waitFor();
  await page.getByText('The page has not read them').waitFor();
  expect(await page.content()).not.toContain(secret);
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Read the items' }).click();
  await page.getByRole('rowheader', { name: 'password' }).waitFor();
  expect(await page.content()).not.toContain(secret);
  await page.getByRole('button', { name: 'Show the value of password' }).click();
  await page.getByText(secret).waitFor();
  await page.getByRole('button', { name: 'Show the value of note' }).click();
  await page.getByText(shownEvil).waitFor();
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  expect(await violations(page)).toEqual([]);
  expect(page.url()).not.toContain('correct');
  await page.getByRole('button', { name: 'Forget them' }).click();
  expect(await page.content()).not.toContain(secret);
});

test('a variable is created, and a change that somebody else has made is not overwritten', async () => {
  const page = await signedIn('variables');
  await page.getByRole('button', { name: 'Create a variable' }).click();
  await page.getByLabel('Path').fill('team/mail.relay');
  await page.getByLabel('Name', { exact: true }).fill('host');
  await page.getByLabel('Value', { exact: true }).fill('mail-1');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'team/mail.relay' }).waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Value', { exact: true }).fill('mail-2');
  await ask('PUT', 'var/team/mail.relay', { Items: { host: 'mail-3' } });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').getByText('Something else has changed meanwhile').waitFor();
  expect(await page.getByLabel('Value', { exact: true }).inputValue()).toBe('mail-2');
  const kept = await ask<{ Items: unknown }>('GET', 'var/team/mail.relay');
  expect(kept.Items).toEqual({ host: 'mail-3' });
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('The variable has changed since these were read.').waitFor();
});

test('two namespaces never see each other', async () => {
  const teams = ['red', 'blue'] as const;
  const pages = [];
  for (const team of teams) {
    await ask('PUT', 'namespace', { Name: team });
    await ask('PUT', `var/${team}/key?namespace=${team}`, { Items: { a: team } });
    const variables = 'variables { path "*" { capabilities = ["list", "read", "write"] } }';
    const Rules = `namespace "${team}" { policy = "write" ${variables} }`;
    await ask('PUT', 'acl/policy', { Name: team, Rules });
    const token = { Policies: [{ Name: team }] };
    const { SecretID } = await ask<{ SecretID: string }>('PUT', 'acl/token', token);
    pages.push(await signedIn('variables', SecretID));
  }
  const [red, blue] = pages as [Page, Page];
  await expect.poll(() => rowTexts(red)).toEqual(['red/key']);
  await expect.poll(() => rowTexts(blue)).toEqual(['blue/key']);
  await ask('PUT', 'var/blue/later?namespace=blue', { Items: { a: 'b' } });
  await expect.poll(() => rowTexts(blue)).toEqual(['blue/key', 'blue/later']);
  await ask('PUT', 'var/red/last?namespace=red', { Items: { a: 'b' } });
  await expect.poll(() => rowTexts(red)).toEqual(['red/key', 'red/last']);

  await red.getByRole('button', { name: /^Namespace:/ }).click();
  const choices = red.getByRole('menuitemradio').or(red.getByRole('menuitem'));
  await expect.poll(() => choices.allInnerTexts()).toEqual(['All namespaces', 'red']);
  await red.keyboard.press('Escape');
  for (const key of ['j', 'm'] as const) {
    await red.keyboard.press('g');
    await red.keyboard.press(key);
    await red
      .getByRole('heading', { level: 1, name: key === 'j' ? 'Jobs' : 'Namespaces' })
      .waitFor();
    await red.locator('.foot, .empty').first().waitFor();
    expect(await red.locator('main').textContent()).not.toContain('blue');
  }
  await expect.poll(() => rowTexts(red)).toEqual(['red']);

  const spy = await signedInAs(red, 'variables/item?namespace=blue&path=blue%2Fkey');
  await spy.getByText('No variable that you may list').or(spy.getByRole('alert')).first().waitFor();
  expect(await spy.getByRole('button', { name: 'Read the items' }).count()).toBe(0);
});

/** The same tab, gone to another address of the interface by a link. */
async function signedInAs(page: Page, path: string): Promise<Page> {
  await page.evaluate((to) => {
    const link = document.createElement('a');
    link.href = to;
    document.body.append(link);
    link.click();
    link.remove();
  }, path);
  await page.getByRole('heading', { level: 1, name: 'blue/key' }).waitFor();
  return page;
}

test('a partition is created beside the namespaces, and deleted by its name', async () => {
  const page = await signedIn('namespaces');
  await page
    .getByRole('navigation', { name: 'Namespaces and partitions' })
    .getByRole('link', { name: 'Partitions' })
    .click();
  await page.getByRole('heading', { level: 1, name: 'Partitions' }).waitFor();
  await page.getByRole('button', { name: 'Create a partition' }).click();
  await page.getByLabel('Name', { exact: true }).fill('west');
  await page.getByLabel('Description').fill(evil);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText(shownEvil).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Delete west' }).click();
  await page.getByLabel('Name', { exact: true }).fill('west');
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect.poll(() => rowTexts(page)).toEqual(['default']);
});
