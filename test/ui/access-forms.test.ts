/** Roles, auth methods, binding rules and templates, in a browser against a real agent. */
import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { violations } from '../support/accessibility.ts';
import { UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();

beforeAll(async () => {
  await ui.answer('PUT', 'acl/policy', {
    Name: 'looks',
    Rules: 'node_prefix "" { policy = "read" }',
  });
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
