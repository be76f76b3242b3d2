import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { newDirectory, startAgent } from '../support/agent.ts';
import { openUi, signIn } from '../support/ui.ts';
import { UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();

const job = (ID: string, changes: object = {}, task: object = {}) => ({
  ID,
  Type: 'service',
  TaskGroups: [
    {
      Name: 'main',
      Count: 1,
      Tasks: [
        {
          Name: 'run',
          Driver: 'raw_exec',
          Config: { command: '/bin/sleep', args: ['3600'] },
          Resources: { CPU: 20, MemoryMB: 10 },
          ...task,
        },
      ],
    },
  ],
  ...changes,
});
test('the palette finds by name what the server has, and the keys go there', async () => {
  await ui.agent.request('PUT', '/v1/namespace/findable-team', { Name: 'findable-team' });
  const page = await ui.signedIn('namespaces');
  await page.getByRole('heading', { level: 1, name: 'Namespaces' }).waitFor();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Find' });
  await field.fill('dable-te');
  const found = page.getByRole('option', { name: /^findable-team/ });
  await found.waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).search).toContain('filter=findable-team');
  // An act of the page, without the mouse.
  await page.keyboard.press('Control+k');
  await field.fill('create');
  await page.getByRole('option', { name: /^Create a namespace/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Create a namespace' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await field.fill('nothing has this');
  await page.getByText('Nothing has this name.').waitFor();
});

test('the palette leads to the page of a variable, and to the row of a partition', async () => {
  for (const path of ['shop/database', 'shop/mail']) {
    await ui.answer('PUT', `var/${path}`, { Items: { user: 'shop' } });
  }
  await ui.answer('PUT', 'partition', { Name: 'western' });
  const page = await ui.signedIn('jobs');
  const find = async (text: string, option: RegExp) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Find' }).fill(text);
    await page.getByRole('option', { name: option }).click();
  };
  await find('database', /^shop\/database/);
  await page.getByRole('heading', { level: 1, name: 'shop/database' }).waitFor();
  await find('ester', /^western/);
  await page.getByRole('heading', { level: 1, name: 'Partitions' }).waitFor();
  await expect
    .poll(() => page.locator('tr.list-row td:first-child').allInnerTexts())
    .toEqual(['western']);
});

test('the palette finds deployments, binding rules, templates and servers, if the token may read them', async () => {
  await ui.answer('PUT', 'jobs', { Job: job('deployed-job') });
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  await ui.answer('PUT', 'acl/auth-method', {
    Name: 'found-method',
    Type: 'jwt',
    Config: { JWTValidationPubKeys: [key] },
  });
  const rule = { AuthMethod: 'found-method', BindType: 'role', BindName: 'web-team' };
  await ui.answer('PUT', 'acl/binding-rule', { ...rule, Description: 'web engineers (all)' });
  await expect
    .poll(async () => (await ui.answer<object[]>('GET', 'deployments')).length)
    .toBeGreaterThan(0);
  await ui.answer('PUT', 'acl/policy', { Name: 'nothing-else', Rules: '' });
  const { SecretID } = await ui.made('acl/token', { Policies: [{ Name: 'nothing-else' }] });
  const [page, stranger] = [await ui.signedIn('jobs'), await ui.signedIn('jobs', SecretID)];
  const own = new URL(ui.agent.address).host;
  const finds: [text: string, group: string, address: RegExp][] = [
    ['loyed-jo', 'Deployments', /\/jobs\/default\/deployed-job\?tab=deployments$/],
    ['ENGINEERS (a', 'Binding rules', /\/access\/rules\?filter=ID/],
    ['in/work', 'Templates of policies', /\/access\/templates\?template=builtin(%2F|\/)workload/],
    [own, 'Servers', /\/servers\?server=/],
  ];
  for (const [text, group, address] of finds) {
    for (const one of [page, stranger]) {
      await one.keyboard.press('Control+k');
      await one.getByRole('combobox', { name: 'Find' }).fill(text);
    }
    const groups = page.getByRole('listbox', { name: 'Found' }).locator('.group');
    await expect.poll(() => groups.allInnerTexts()).toContain(group);
    await page.getByRole('option').last().click();
    await expect.poll(() => page.url()).toMatch(address);
    await page.getByRole('heading', { level: 1 }).waitFor();
    // The same question, to which the answer is that there is nothing.
    await stranger.getByText('Nothing has this name.').waitFor();
    await stranger.keyboard.press('Escape');
  }
  const denied = await ui.answer<object[]>('GET', 'acl/denials');
  expect(JSON.stringify(denied)).not.toMatch(/templated-policies|servers\/health/);
});

test('the namespace that was chosen stands in the address of the pages that follow', async () => {
  await ui.answer('PUT', 'namespace', { Name: 'chosen' });
  const page = await ui.signedIn('jobs');
  await page.getByRole('button', { name: /^Namespace:/ }).click();
  await page.getByRole('menuitemradio', { name: 'chosen' }).click();
  await page.keyboard.press('g');
  await page.keyboard.press('v');
  await page.getByRole('heading', { level: 1, name: 'Variables' }).waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get('namespace')).toBe('chosen');
  // Whoever opens the address sees the same.
  const colleague = await ui.signedIn(page.url().replace(`${ui.agent.address}/ui/`, ''));
  await colleague.getByRole('button', { name: /^Namespace:.*chosen/ }).waitFor();
  await page.getByRole('button', { name: /^Namespace:/ }).click();
  await page.getByRole('menuitemradio', { name: 'All namespaces' }).click();
  await expect.poll(() => new URL(page.url()).searchParams.has('namespace')).toBe(false);
});

test('the server sorts the list, and the page tells how many rows there are', async () => {
  const names = Array.from({ length: 130 }, (_, at) => `many-${String(at).padStart(3, '0')}`);
  const nowhere = { Datacenters: ['nowhere'], Type: 'batch' };
  await Promise.all(names.map((name) => ui.agent.register(job(name, nowhere))));
  const page = await ui.signedIn('jobs?type=batch');
  const first = () => page.locator('tr.list-row td:first-child').first().textContent();
  await page.getByText('100 of 130 rows, newest change first').waitFor();
  const head = page.getByRole('columnheader', { name: 'Job', exact: true });
  await head.getByRole('button').click();
  await expect.poll(first).toContain('many-000');
  await head.getByRole('button').click();
  await expect.poll(first).toContain('many-129');
  await page.getByText('100 of 130 rows, sorted', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Load 100 more' }).click();
  await page.getByText('130 rows, sorted', { exact: true }).waitFor();
  // Rows far below are not drawn until the reader gets there.
  expect(await page.locator('tr.list-row').count()).toBeLessThan(130);
  await page.locator('tr.list-row').first().focus();
  await page.keyboard.press('End');
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.textContent))
    .toContain('many-000');
  await page.emulateMedia({ media: 'print' });
  await expect.poll(() => page.locator('tr.list-row').count()).toBe(130);
});

test('a server that goes away: the page keeps what it shows, tells its age, and goes on when the server is back', async () => {
  const dataDirectory = newDirectory();
  const words = { dataDirectory, args: ['--server-only'] };
  const first = await startAgent(words);
  await first.register(job('kept', { Datacenters: ['nowhere'] }));
  const page = await openUi(ui.browser, {
    address: first.address,
    path: 'namespaces',
    endsServer: true,
  });
  await signIn(page, first.token);
  await page.getByRole('button', { name: 'Create a namespace' }).click();
  await page.getByLabel('Name', { exact: true }).fill('typed-before');
  await first.stop('SIGKILL');
  await page.getByText(/The server is away. What you see is as of/).waitFor();
  await page
    .getByText(/^as of/)
    .first()
    .waitFor();
  expect(await page.locator('tr.list-row').count()).toBe(1);
  const args = ['--server-only', '--http', new URL(first.address).host];
  const second = await startAgent({ dataDirectory, args });
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByText(/The server is away/).waitFor({ state: 'detached' });
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('typed-before');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect.poll(() => page.locator('tr.list-row').count()).toBe(2);
  await second.stop();
});
