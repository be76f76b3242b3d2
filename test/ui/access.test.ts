/** Access control in a browser against a real agent: tokens, rules, refusals, roles, auth methods and their like. */
import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { violations } from '../support/accessibility.ts';
import { openUi, signIn } from '../support/ui.ts';
import { type MadeToken, UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();

const reading = 'namespace "default" {\n  policy = "read"\n}\n';

beforeAll(async () => {
  await ui.answer('PUT', 'acl/policy', {
    Name: 'looks',
    Rules: 'node_prefix "" { policy = "read" }',
  });
});

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

test('a role is created, has its policy, and gets another description', async () => {
  const page = await ui.signedIn('access/roles');
  await page.getByRole('button', { name: 'Create a role' }).click();
  await page.getByLabel('Name', { exact: true }).fill('operators');
  // A name that is typed and not added yet counts as well.
  await page.getByLabel('Policies').fill('looks');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('link', { name: 'operators' }).click();
  await page.getByRole('heading', { level: 1, name: 'operators' }).waitFor();
  await page.getByRole('link', { name: 'looks' }).waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Description').fill('Those on call');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Those on call').waitFor();
  const role = await ui.answer<{ Policies: { Name: string }[] }>('GET', 'acl/role/name/operators');
  expect(role.Policies.map(({ Name }) => Name)).toEqual(['looks']);
});

test('an auth method and a binding rule are created by their forms, and changed as JSON', async () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const page = await ui.signedIn('access/methods');
  await page.getByRole('button', { name: 'Create an auth method' }).click();
  await page.getByLabel('Name', { exact: true }).fill('ci');
  await page.getByLabel('Claims', { exact: false }).first().fill('project = team');
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('must have exactly one of').first().waitFor();
  await page.getByLabel('Public keys').fill(key);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('link', { name: 'ci', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'ci' }).waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('checkbox', { name: 'As JSON' }).check();
  const json = page.getByLabel('JSON of the configuration');
  await json.fill((await json.inputValue()).replace('{', '{ "BoundIssuer": "builder",'));
  await page.getByRole('checkbox', { name: 'As JSON' }).uncheck();
  expect(await page.getByLabel('Issuer').inputValue()).toBe('builder');
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('region', { name: 'The auth method as JSON' })
    .getByText('builder')
    .waitFor();
  const method = await ui.answer<{ Config: Record<string, unknown> }>('GET', 'acl/auth-method/ci');
  expect(method.Config).toMatchObject({
    BoundIssuer: 'builder',
    ClaimMappings: { project: 'team' },
    JWTValidationPubKeys: [key.trim()],
  });

  await page.getByRole('link', { name: 'Binding rules' }).click();
  await page.getByRole('button', { name: 'Create a binding rule' }).click();
  await page.getByLabel('Called').fill('looks');
  await page.getByLabel('Whom it matches').fill('value.nobody == "web"');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.locator('[aria-invalid=true]').waitFor();
  await page.getByLabel('Whom it matches').fill('value.team == "web"');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('cell', { name: 'value.team == "web"' }).waitFor();
});

test('a template is previewed for a name', async () => {
  const page = await ui.signedIn('access/templates');
  await page.getByRole('button', { name: 'builtin/service' }).click();
  await page.getByLabel('Name', { exact: true }).fill('pay');
  const rules = page.getByRole('region', { name: 'Rules of the template' });
  await expect.poll(() => rules.textContent()).toContain('service "pay-sidecar-proxy"');
  await page.getByLabel('Name', { exact: true }).fill('Not a name');
  await page.locator('[aria-invalid=true]').waitFor();
});

test('a token without rights over access control is told which are missing', async () => {
  const { SecretID } = await ui.answer<{ SecretID: string }>('PUT', 'acl/token', {
    Policies: [{ Name: 'looks' }],
  });
  const page = await ui.signedIn('access/tokens', SecretID);
  await page.getByText('acl:read').waitFor();
  const create = page.getByRole('button', { name: 'Create a token' });
  await expect.poll(() => create.getAttribute('title')).toContain('acl:write');
  expect(await create.getAttribute('aria-disabled')).toBe('true');
});

test('a list that is too long to be sorted is shown in the order of its ids, and says so', async () => {
  const window = await ui.browser.window();
  const asked: string[] = [];
  // The server refuses to sort, as it does with more records than it would look at.
  await window.routeWebSocket(/\/v1\/ui\/stream$/, (page) => {
    const server = page.connectToServer();
    page.onMessage((text) => {
      const message = JSON.parse(String(text));
      const isSorted = message.kind === 'watch' && /acl\/roles.*sort=/.test(message.path);
      if (message.kind === 'watch' && /acl\/roles/.test(message.path)) asked.push(message.path);
      if (!isSorted) return server.send(text);
      const problem = { code: 'too-many-to-sort', status: 400, title: 'Too many', detail: 'Many.' };
      page.send(JSON.stringify({ kind: 'refused', id: message.id, problem }));
    });
  });
  await ui.made('acl/role', { Name: 'unsorted' });
  const page = await openUi(ui.browser, {
    address: ui.agent.address,
    path: 'access/roles',
    window,
  });
  await signIn(page, ui.agent.token);
  await page.getByText(/^\d+ rows?, by id, since there are too many to be sorted$/).waitFor();
  await page.getByRole('link', { name: 'unsorted', exact: true }).waitFor();
  expect(asked.map((path) => /sort=Name/.test(path))).toEqual([true, false]);
});
