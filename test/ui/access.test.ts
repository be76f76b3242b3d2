import { expect, test } from 'vitest';
import { type MadeToken, UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();

const reading = 'namespace "default" {\n  policy = "read"\n}\n';

test('a token is created with an expiry, its secret is shown once, and it is deleted', async () => {
  await ui.made('acl/policy', { Name: 'builders', Rules: reading });
  const page = await ui.signedIn('access/tokens');
  await page.getByRole('button', { name: 'Create a token' }).click();
  await page.getByLabel('Description').fill('The build');
  await page.getByLabel('Policies').fill('builders');
  await page.getByLabel('Policies').press('Enter');
  await page.getByLabel('Expires after').fill('eight hours');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.locator('[aria-invalid=true]').waitFor();
  await page.getByLabel('Expires after').fill('8h');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const secret = await page.getByLabel('Secret', { exact: true }).inputValue();
  const self = await ui.ask('GET', 'acl/token/self', undefined, secret);
  expect(self.status).toBe(200);
  await page.getByRole('link', { name: 'Show the token' }).click();
  await page.getByRole('heading', { level: 1, name: 'The build' }).waitFor();
  await page.getByText('in 7 h').or(page.getByText('in 8 h')).waitFor();
  const region = page.getByRole('region', { name: 'Rules of builders' });
  expect(await region.textContent()).toContain('policy = "read"');
  expect(await page.content()).not.toContain(secret);
  expect(page.url()).not.toContain(secret);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const { AccessorID } = (await self.json()) as MadeToken;
  await page.getByLabel('Name', { exact: true }).fill(AccessorID.slice(0, 8));
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor();
  expect((await ui.ask('GET', 'acl/token/self', undefined, secret)).status).toBe(403);
});

test('rules are checked while they are typed, and tried for a token before they are stored', async () => {
  const stored = await ui.made<{ ID: string }>('acl/policy', { Name: 'tried', Rules: reading });
  const token = await ui.made('acl/token', { Policies: [{ Name: 'tried' }] });
  const page = await ui.signedIn(`access/policies/${stored.ID}/edit?namespace=default`);
  const rules = page.getByLabel('Rules', { exact: true });
  await expect.poll(() => rules.inputValue()).toBe(reading);
  await rules.fill(`${reading}node_prefix "" {\n  policy = "wri\n`);
  await page.getByText('line 5, column 12').waitFor();
  expect(await page.locator('.numbers .faulty').textContent()).toBe('5');
  const next = `${reading}node_prefix "" {\n  policy = "write"\n}\n`;
  await rules.fill(next);
  await page.getByText('The server understands these rules.').waitFor();
  await page.getByLabel('Accessor of a token').fill(token.AccessorID);
  await page.getByLabel('Resource').selectOption('node');
  await page.getByLabel('Access', { exact: true }).selectOption('write');
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await page.getByText('It is denied now, and would be allowed.').waitFor();
  const before = (await (await ui.ask('GET', `acl/policy/${stored.ID}`)).json()) as {
    Rules: string;
  };
  expect(before.Rules).toBe(reading);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'tried' }).waitFor();
  const after = (await (await ui.ask('GET', `acl/policy/${stored.ID}`)).json()) as {
    Rules: string;
  };
  expect(after.Rules).toBe(next);
});
