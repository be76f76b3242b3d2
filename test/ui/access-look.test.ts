import { expect, test } from 'vitest';
import { UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();

const reading = 'namespace "default" {\n  policy = "read"\n}\n';

test('texts of tokens, roles and policies are shown as they are', async () => {
  const evil = '</script><img src=x onerror=alert(1)>\u202eodd\u0007';
  const shown = '</script><img src=x onerror=alert(1)>\\u202eodd\\u0007';
  const name = 'n'.repeat(128);
  const policy = await ui.made<{ ID: string }>('acl/policy', {
    Name: name,
    Description: evil,
    Rules: `# ${evil.replace('\u0007', '')}\n${reading}`,
  });
  const role = await ui.made<{ ID: string }>('acl/role', {
    Name: 'odd',
    Description: evil,
    Policies: [{ ID: policy.ID }],
  });
  const token = await ui.made('acl/token', { Description: evil, Roles: [{ ID: role.ID }] });
  const page = await ui.signedIn('access/tokens');
  await page.setViewportSize({ width: 360, height: 740 });
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const navigation = page.getByRole('navigation', { name: 'Access control' });
  for (const [title, text] of [
    ['Roles', shown],
    ['Policies', name],
    ['Why was this denied', ''],
    ['Tokens', shown],
  ] as const) {
    await navigation.getByRole('link', { name: title, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
    if (text !== '') await page.getByText(text).first().waitFor();
    expect([title, await overflow()]).toEqual([title, 0]);
  }
  await page.getByRole('link', { name: shown }).click();
  await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe(shown);
  await page.getByText(name).first().waitFor();
  expect(page.url()).toContain(token.AccessorID);
  expect(await overflow()).toBe(0);
});
