/** Variables, partitions, and namespaces that never see each other, in a browser against a real agent. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { violations } from '../support/accessibility.ts';
import { UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();

const rowTexts = (page: Page): Promise<string[]> =>
  page.locator('tr.list-row td:first-child').allInnerTexts();

const evil = '</script><img src=x onerror=alert(1)>\u202eodd\u0007';
const shownEvil = '</script><img src=x onerror=alert(1)>\\u202eodd\\u0007';

test('values of a variable are read only when they are asked for, and are in no address', async () => {
  const secret = 'correct horse battery';
  await ui.answer('PUT', 'var/shop/database', { Items: { password: secret, note: evil } });
  const page = await ui.signedIn('variables');
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
  expect(page.url()).not.toContain('correct');
  await page.getByRole('button', { name: 'Forget them' }).click();
  expect(await page.content()).not.toContain(secret);
});

test('a variable is created, and a change that somebody else has made is not overwritten', async () => {
  const page = await ui.signedIn('variables');
  await page.getByRole('button', { name: 'Create a variable' }).click();
  await page.getByLabel('Path').fill('team/mail.relay');
  await page.getByLabel('Name', { exact: true }).fill('host');
  await page.getByLabel('Value', { exact: true }).fill('mail-1');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'team/mail.relay' }).waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Value', { exact: true }).fill('mail-2');
  await ui.answer('PUT', 'var/team/mail.relay', { Items: { host: 'mail-3' } });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').getByText('Something else has changed meanwhile').waitFor();
  expect(await page.getByLabel('Value', { exact: true }).inputValue()).toBe('mail-2');
  const kept = await ui.answer<{ Items: unknown }>('GET', 'var/team/mail.relay');
  expect(kept.Items).toEqual({ host: 'mail-3' });
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('The variable has changed since these were read.').waitFor();
});

test('two namespaces never see each other', async () => {
  const teams = ['red', 'blue'] as const;
  const pages = [];
  for (const team of teams) {
    await ui.answer('PUT', 'namespace', { Name: team });
    await ui.answer('PUT', `var/${team}/key?namespace=${team}`, { Items: { a: team } });
    const variables = 'variables { path "*" { capabilities = ["list", "read", "write"] } }';
    const Rules = `namespace "${team}" { policy = "write" ${variables} }`;
    await ui.answer('PUT', 'acl/policy', { Name: team, Rules });
    const token = { Policies: [{ Name: team }] };
    const { SecretID } = await ui.answer<{ SecretID: string }>('PUT', 'acl/token', token);
    pages.push(await ui.signedIn('variables', SecretID));
  }
  const [red, blue] = pages as [Page, Page];
  await expect.poll(() => rowTexts(red)).toEqual(['red/key']);
  await expect.poll(() => rowTexts(blue)).toEqual(['blue/key']);
  await ui.answer('PUT', 'var/blue/later?namespace=blue', { Items: { a: 'b' } });
  await expect.poll(() => rowTexts(blue)).toEqual(['blue/key', 'blue/later']);
  await ui.answer('PUT', 'var/red/last?namespace=red', { Items: { a: 'b' } });
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
  await spy.getByText('No variable that you may see').or(spy.getByRole('alert')).first().waitFor();
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
  const page = await ui.signedIn('namespaces');
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
  await page.getByRole('button', { name: 'Delete west' }).click();
  await page.getByLabel('Name', { exact: true }).fill('west');
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect.poll(() => rowTexts(page)).toEqual(['default']);
});

test('the partition is switched at the top of every page, and shows its own records', async () => {
  await ui.answer('PUT', 'partition', { Name: 'south' });
  await ui.answer('PUT', 'namespace?partition=south', { Name: 'only-south' });
  const page = await ui.signedIn('namespaces');
  await expect.poll(() => rowTexts(page)).not.toContain('only-south');
  await page.getByRole('button', { name: /^Partition/ }).click();
  await page.getByRole('menuitemradio', { name: 'south' }).click();
  await expect.poll(() => rowTexts(page)).toEqual(['default', 'only-south']);
  expect(new URL(page.url()).searchParams.get('partition')).toBe('south');
  await page.getByRole('button', { name: /^Namespace:/ }).click();
  await page.getByRole('menuitemradio', { name: 'only-south' }).waitFor();
});
