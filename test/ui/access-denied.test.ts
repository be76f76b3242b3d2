import { expect, test } from 'vitest';
import { signIn } from '../support/ui.ts';
import { UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();

const reading = 'namespace "default" {\n  policy = "read"\n}\n';

test('a refused request is explained by its rule and line, and the page follows when it is put right', async () => {
  const rules = `${reading}service_prefix "pay" {\n  policy = "read"\n}\n`;
  const policy = await ui.made<{ ID: string }>('acl/policy', { Name: 'payers', Rules: rules });
  const token = await ui.made('acl/token', { Policies: [{ Name: 'payers' }] });
  const refused = await ui.ask('PUT', 'var/pay/key', { Items: { a: 'b' } }, token.SecretID);
  expect(refused.status).toBe(403);

  const page = await ui.signedIn('access/denied');
  await page.getByRole('button', { name: 'Why PUT /v1/var/pay/key was denied' }).click();
  await page.getByText('No rule of its policies speaks of it').waitFor();
  const missing = page.getByRole('region', { name: /^The rule that is missing/ });
  expect(await missing.textContent()).toContain('path "pay/key"');
  expect(new URL(page.url()).searchParams.get('accessor')).toBe(token.AccessorID);

  const rule = ((await missing.textContent()) ?? '').trim();
  await ui.made(`acl/policy/${policy.ID}`, { Name: 'payers', Rules: `${rules}${rule}\n` });
  await page.getByText('Allowed', { exact: true }).waitFor();
  await page.getByText(`line ${rules.split('\n').length} of`).waitFor();

  await page.getByLabel('Resource').selectOption('service');
  await page.getByLabel('Access', { exact: true }).selectOption('write');
  await page.getByLabel('Name', { exact: true }).fill('pay');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByText('Gives too little').waitFor();
  await page.getByRole('link', { name: 'payers' }).click();
  await page.getByRole('heading', { level: 1, name: 'payers' }).waitFor();
  await expect
    .poll(() => page.locator('.line.marked').textContent())
    .toContain('service_prefix "pay"');
});

test('a token sees why its own requests were denied, and those of nobody else', async () => {
  await ui.made('acl/policy', { Name: 'lookers', Rules: reading });
  const [one, other] = [
    await ui.made('acl/token', { Policies: [{ Name: 'lookers' }] }),
    await ui.made('acl/token', { Policies: [{ Name: 'lookers' }] }),
  ];
  await ui.ask('DELETE', 'job/mine', undefined, one.SecretID);
  await ui.ask('DELETE', 'job/theirs', undefined, other.SecretID);
  const page = await ui.signedIn('access/denied', one.SecretID);
  await page.getByText('DELETE /v1/job/mine').waitFor();
  expect(await page.getByText('/v1/job/theirs').count()).toBe(0);
  await page.getByRole('button', { name: 'Why DELETE /v1/job/mine was denied' }).click();
  await page.getByText('Denied', { exact: true }).first().waitFor();
});

test('the session ends with its token: the page says why, and asks to sign in', async () => {
  const token = await ui.made('acl/token', { Policies: [{ Name: 'global-management' }] });
  const page = await ui.signedIn('access/policies', token.SecretID);
  await page.getByRole('link', { name: 'global-management' }).waitFor();
  expect((await ui.ask('DELETE', `acl/token/${token.AccessorID}`)).status).toBe(200);
  await page.getByText('Your token has expired, or was deleted.').waitFor();
  expect(await page.getByRole('link', { name: 'global-management' }).count()).toBe(0);
  await signIn(page, ui.agent.token);
  await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
  await page.getByRole('link', { name: 'global-management' }).waitFor();
});
