/** Two real clusters that peer by their pages, and a service that one of them exports. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../support/accessibility.ts';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { httpPort, job, node } from '../support/jobs.ts';
import { openUi, signIn } from '../support/ui.ts';

let browser: TestBrowser;
let east: Agent;
let west: Agent;

/** The answer to its check is not to be trusted. */
const hostile = '<img src=x onerror="throw 1">';
const shop = job('shop', {
  group: {
    Networks: httpPort,
    ShutdownDelay: '0s',
    Services: [
      {
        Name: 'shop',
        PortLabel: 'http',
        Tags: [hostile],
        Checks: [{ Name: 'alive', Type: 'http', Path: '/', Interval: '1s', Timeout: '20s' }],
      },
    ],
  },
  task: {
    ...node(`
      require('node:http')
        .createServer((request, response) => response.writeHead(500).end(${JSON.stringify(hostile)}))
        .listen(Number(process.env.ROSTER_PORT_http), '127.0.0.1');
    `),
    KillTimeout: '1s',
  },
});

beforeAll(async () => {
  [browser, east, west] = await Promise.all([startBrowser(), startAgent(), startAgent()]);
  await east.register(shop);
});
afterAll(async () => {
  await browser?.close();
  await endAgents();
});

async function signedIn(agent: Agent, path: string): Promise<Page> {
  const page = await openUi(browser, { address: agent.address, path });
  await signIn(page, agent.token);
  return page;
}

async function expectSound(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  expect(await violations(page)).toEqual([]);
  expect(await page.locator('img[src=x]').count()).toBe(0);
}

test('a service with a failing check is listed, and its instance tells the last output', async () => {
  const page = await signedIn(east, 'services');
  const row = page.getByRole('row', { name: /shop/ });
  await expect.poll(() => row.textContent()).toContain('1 critical of 1');
  await expectSound(page);
  await row.getByRole('link', { name: 'shop', exact: true }).first().click();
  const instance = page.getByRole('row', { name: /Critical/ });
  await instance.focus();
  await page.keyboard.press('Enter');
  const checks = page.getByRole('region', { name: 'Checks of the instance' });
  await expect.poll(() => checks.textContent()).toContain('alive');
  await expect.poll(() => checks.textContent()).toContain('onerror');
  await page.getByText('No intention is about it').first().waitFor();
  await expectSound(page);
});

test('two clusters peer by a token that is shown once, and tell why a service is there or not', async () => {
  const [here, there] = await Promise.all([signedIn(east, 'peerings'), signedIn(west, 'peerings')]);
  await here.getByRole('button', { name: 'Generate a token' }).click();
  await here.getByLabel('Name of the other cluster, here').fill('west');
  await here.getByRole('button', { name: 'Generate', exact: true }).click();
  const shown = here.getByRole('dialog', { name: 'The token is shown once' });
  const token = (await shown.locator('code').textContent()) ?? '';
  expect(token.length).toBeGreaterThan(100);
  expect(await violations(here)).toEqual([]);
  await here.getByRole('button', { name: 'I have it' }).click();
  expect(await here.content()).not.toContain(token);

  await there.getByRole('button', { name: 'Establish a peering' }).click();
  await there.getByLabel('Name of the other cluster, here').fill('east');
  await there.getByLabel('Token from the other cluster').fill('nonsense');
  const establish = there.getByRole('button', { name: 'Establish', exact: true });
  await establish.click();
  await there.getByRole('dialog').locator('[aria-invalid=true], [role=alert]').first().waitFor();
  await there.getByLabel('Token from the other cluster').fill(token);
  await establish.click();
  await there.getByRole('heading', { level: 1, name: 'east' }).waitFor();
  await there.getByText('Active', { exact: true }).waitFor();
  await expect
    .poll(() => here.getByRole('row', { name: /west/ }).textContent())
    .toContain('Active');
  await expectSound(here);

  await here.getByRole('link', { name: 'west', exact: true }).click();
  await here.getByText('Lag of the other cluster').waitFor();
  await here.getByText('less than 30 seconds').waitFor();
  await here.getByRole('tab', { name: /^Exported/ }).click();
  const row = here.getByRole('row', { name: /shop/ });
  await expect.poll(() => row.textContent()).toContain('Not exported');
  await row.getByRole('link', { name: /^Why/ }).click();
  await here.getByText('There is no exported-services entry with rules').waitFor();
  const entry = { Kind: 'exported-services', Name: 'default' };
  const Services = [{ Name: 'shop', Consumers: [{ Peer: 'west' }] }];
  await east.request('PUT', '/v1/config', { ...entry, Services });
  await here.getByText('"west" has "shop"; last acknowledged').waitFor();
  await expect.poll(() => row.textContent()).not.toContain('Not exported');
  await expectSound(here);

  await there.getByRole('tab', { name: /^Imported/ }).click();
  await there
    .getByRole('row', { name: /shop/ })
    .getByRole('link', { name: 'shop' })
    .first()
    .click();
  await there.getByRole('row', { name: /Critical/ }).waitFor();
  await expectSound(there);
});

test('a peering is deleted by its name, and the other side tells that it has ended', async () => {
  const [here, there] = await Promise.all([
    signedIn(east, 'peerings/west'),
    signedIn(west, 'peerings/east'),
  ]);
  await there.getByText('Active', { exact: true }).waitFor();
  await expectSound(here);
  await here.getByRole('button', { name: 'Delete', exact: true }).click();
  await here.getByLabel('Name', { exact: true }).fill('west');
  await here.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await there.getByText('Terminated', { exact: true }).waitFor();
});
