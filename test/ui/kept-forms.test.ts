/** Texts and choices of forms outlive the dialog, the session, the server and the page, in a browser against a real agent. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { runAllocation } from '../support/allocation-page.ts';
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

interface Dialog {
  readonly path: string;
  /** In the head, or in its menu. */
  readonly open: string;
  /** By their labels: options that are chosen, and boxes that are ticked. */
  readonly chosen: Readonly<Record<string, string | true>>;
}

const dialogsOf = (allocation: string, node: string): readonly Dialog[] => [
  {
    path: `allocations/${allocation}`,
    open: 'Send a signal',
    chosen: { Signal: 'SIGUSR1', Task: 'two' },
  },
  { path: `allocations/${allocation}`, open: 'Restart', chosen: { Tasks: 'task:two' } },
  {
    path: `allocations/${allocation}`,
    open: 'Stop',
    chosen: {
      'Count it as failed: another node is preferred': true,
      'Do not wait for shutdown delays': true,
    },
  },
  { path: 'jobs/default/shop', open: 'Stop', chosen: { 'Purge: delete the job at once': true } },
  {
    path: 'jobs/default/shop',
    open: 'Evaluate',
    chosen: { 'Replace failed allocations at once, without their delay': true },
  },
  {
    path: 'jobs/default/shop',
    open: 'Run an action',
    chosen: { Action: JSON.stringify(['main', 'two', 'ask-two']) },
  },
  {
    path: `nodes/${node}`,
    open: 'Drain …',
    chosen: { Deadline: 'none', 'Leave the allocations of system jobs': true },
  },
];

test('the choices in dialogs of acts are there again', async () => {
  const allocation = await runAllocation(ui.agent, {
    id: 'shop',
    tasks: ['one', 'two'].map((name) => ({
      name,
      script: 'exec sleep 100000',
      more: { Actions: [{ Name: `ask-${name}`, Command: '/bin/true' }] },
    })),
  });
  const [node] = await ui.answer<{ ID: string }[]>('GET', 'nodes');
  const page = await ui.signedIn('jobs');
  const field = (label: string) => page.getByRole('dialog').getByLabel(label, { exact: true });
  for (const { path, open: name, chosen } of dialogsOf(allocation, node!.ID)) {
    await page.evaluate((address) => {
      const link = document.createElement('a');
      link.href = address;
      document.body.append(link);
      link.click();
      link.remove();
    }, path);
    const open = async (): Promise<void> => {
      const act = page.getByRole('button', { name, exact: true });
      const more = page.getByRole('button', { name: 'More acts' });
      await act.or(more).first().waitFor();
      if (!(await act.isVisible())) await more.click();
      await act
        .or(page.getByRole('menuitem', { name, exact: true }))
        .first()
        .click();
      await page.getByRole('dialog').waitFor();
    };
    await open();
    for (const [label, value] of Object.entries(chosen)) {
      if (value === true) await field(label).check();
      else await field(label).selectOption(value);
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await open();
    await page.getByText('What you entered here before is back.').waitFor();
    for (const [label, value] of Object.entries(chosen)) {
      const now = value === true ? field(label).isChecked() : field(label).inputValue();
      expect([name, label, await now]).toEqual([name, label, value]);
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
});
