/** Text that is typed into forms outlives the dialog, the session, the server and the page, in a browser against a real agent. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { signIn } from '../support/ui.ts';
import { UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();

interface Form {
  readonly path: string;
  readonly open: string;
  /** By their labels. */
  readonly texts: Readonly<Record<string, string>>;
  /** Not in any storage. */
  readonly secrets?: Readonly<Record<string, string>>;
}

const forms: readonly Form[] = [
  {
    path: 'access/tokens',
    open: 'Create a token',
    texts: { Description: 'of the build', 'Expires after': 'eight hours' },
  },
  {
    path: 'variables',
    open: 'Create a variable',
    texts: { Path: 'shop/..//x' },
    secrets: { Name: 'password', Value: 'correct horse' },
  },
  {
    path: 'namespaces',
    open: 'Create a namespace',
    texts: { Name: 'not a name', Description: 'of nobody' },
  },
];

const management = { Policies: [{ ID: '00000000-0000-0000-0000-000000000001' }] };
const open = (page: Page, { open }: Form) => page.getByRole('button', { name: open }).click();
const field = (page: Page, label: string) =>
  page.getByRole('dialog').getByLabel(new RegExp(`^${label}\\s*(optional)?\\s*$`));
const shown = async (page: Page, labels: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    await Promise.all(
      Object.keys(labels).map(async (label) => [label, await field(page, label).inputValue()]),
    ),
  );
const stored = (page: Page) =>
  page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));

test.each(forms)('$open: the typed text is there again', async (form) => {
  const { texts, secrets = {} } = form;
  const token = await ui.made('acl/token', management);
  const page = await ui.signedIn(form.path, token.SecretID);
  page.on('dialog', (dialog) => void dialog.accept());
  await open(page, form);
  for (const [label, text] of Object.entries({ ...texts, ...secrets }))
    await field(page, label).fill(text);

  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page
    .getByRole('dialog')
    .getByRole('alert')
    .or(page.locator('[aria-invalid=true]'))
    .first()
    .waitFor();
  expect(await shown(page, texts)).toEqual(texts);

  await page.keyboard.press('Escape');
  await page.getByText('What you entered is kept.').waitFor();
  await open(page, form);
  expect(await shown(page, { ...texts, ...secrets })).toEqual({ ...texts, ...secrets });
  for (const secret of Object.values(secrets)) expect(await stored(page)).not.toContain(secret);

  // The session ends under the dialog, and somebody else signs in: texts are kept, secrets are not.
  await ui.ask('DELETE', `acl/token/${token.AccessorID}`);
  await page.getByText('open its form again after signing in').waitFor();
  await signIn(page, ui.agent.token);
  await open(page, form);
  await page.getByText('What you entered here before is back.').waitFor();
  expect(await shown(page, texts)).toEqual(texts);
  for (const label of Object.keys(secrets)) expect(await field(page, label).inputValue()).toBe('');

  await page.reload();
  await signIn(page, ui.agent.token);
  await open(page, form);
  expect(await shown(page, texts)).toEqual(texts);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await open(page, form);
  expect(await field(page, Object.keys(texts)[0]!).inputValue()).toBe('');
});
