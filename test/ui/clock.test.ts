/** Ages in a browser whose clock is wrong, against a real agent. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openUi, signIn } from '../support/ui.ts';
import { UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();
const hourMs = 3_600_000;
/** Half a minute more, so that the words do not depend on the time of a test. */
const wrongMs = 3 * hourMs + 30_000;

async function signedIn(path: string, aheadMs: number): Promise<Page> {
  const window = await ui.browser.window();
  await window.clock.install({ time: Date.now() + aheadMs });
  const page = await openUi(ui.browser, { address: ui.agent.address, path, window });
  await signIn(page, ui.agent.token);
  return page;
}

async function register(id: string): Promise<void> {
  const Tasks = [{ Name: 'run', Driver: 'raw_exec', Config: { command: '/bin/true' } }];
  const TaskGroups = [{ Name: 'main', Count: 1, Tasks }];
  await ui.made('jobs', { Job: { ID: id, Type: 'service', Datacenters: ['nowhere'], TaskGroups } });
}

const ageIn = (page: Page): Promise<string | null> =>
  page.getByRole('table', { name: 'Jobs' }).locator('time').first().textContent();
const notes = (page: Page): Promise<string[]> =>
  page.getByRole('link', { name: /^Clock/ }).allInnerTexts();

const about = 'Ages are by the clock of the server, times of day in the time zone of this device.';
const said = (where: string) => `The clock of this device is 3 h ${where} that of the server.`;

test.each([
  ['behind', -wrongMs, ['Clock 3 h behind'], `${said('behind')} ${about}`],
  ['ahead', wrongMs, ['Clock 3 h ahead'], `${said('ahead of')} ${about}`],
  ['right', 0, [], about],
])('with a clock that is %s, ages are right', async (name, aheadMs, note, sentences) => {
  const page = await signedIn('jobs', aheadMs);
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  await register(name);
  await expect.poll(() => ageIn(page)).toMatch(/^(now|\d+ s ago)$/);
  await expect.poll(() => notes(page)).toEqual(note);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find' }).fill('settings');
  await page
    .getByRole('option', { name: /^Settings/ })
    .first()
    .click();
  const time = page.getByRole('region', { name: 'Time' });
  await expect
    .poll(async () => (await time.locator('p').textContent())?.replace(/\s+/g, ' ').trim())
    .toBe(sentences);
});

test('after a jump of the clock of the device, ages are right within the next messages', async () => {
  const page = await signedIn('jobs', 0);
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  await register('before-the-jump');
  await expect.poll(() => ageIn(page)).toMatch(/^(now|\d+ s ago)$/);
  await page.clock.setSystemTime(Date.now() - wrongMs);
  await expect.poll(() => notes(page)).toEqual(['Clock 3 h behind']);
  expect(await ageIn(page)).toMatch(/^(now|\d+ s ago)$/);
});
