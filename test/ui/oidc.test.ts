/** Signing in through an OpenID provider, in a browser: of an agent alone, and below a path of a proxy. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import {
  clientId,
  clientSecret,
  type RunningProvider,
  startOidcProvider,
} from '../support/oidc-provider.ts';
import { type PrefixProxy, startPrefixProxy } from '../support/prefix-proxy.ts';
import { openUi } from '../support/ui.ts';

let provider: RunningProvider;
let browser: TestBrowser;
let agent: Agent;
let proxy: PrefixProxy;

beforeAll(async () => {
  [browser, agent] = await Promise.all([startBrowser(), startAgent()]);
  proxy = await startPrefixProxy(agent.address);
  const back = [agent.address, proxy.address].map((address) => `${address}/ui/sign-in/oidc`);
  provider = await startOidcProvider(back);
  await put('acl/policy', { Name: 'readers', Rules: 'namespace "default" { policy = "read" }' });
  // Callers without a token may read the auth methods, so the page offers them.
  await put('acl/policy', { Name: 'methods', Rules: 'acl = "read"' });
  await put('acl/token/00000000-0000-0000-0000-000000000002', { Policies: [{ Name: 'methods' }] });
  const config = {
    OIDCDiscoveryURL: provider.issuer,
    OIDCClientID: clientId,
    OIDCClientSecret: clientSecret,
    OIDCScopes: ['profile'],
    ListClaimMappings: { groups: 'groups' },
  };
  const method = { Type: 'oidc', TokenLocality: 'local', MaxTokenTTL: '1h' };
  await put('acl/auth-method', {
    ...method,
    Name: 'sso',
    DisplayName: 'the company',
    Config: { ...config, AllowedRedirectURIs: back },
  });
  await put('acl/auth-method', {
    ...method,
    Name: 'elsewhere',
    Config: { ...config, AllowedRedirectURIs: ['http://127.0.0.1:1/other'] },
  });
  const rule = { AuthMethod: 'sso', Selector: '"anns" in list.groups' };
  await put('acl/binding-rule', { ...rule, BindType: 'policy', BindName: 'readers' });
});
afterAll(async () => {
  await Promise.all([browser?.close(), provider?.close(), proxy?.close()]);
  await endAgents();
});

async function put(path: string, body: unknown): Promise<void> {
  const answer = await fetch(`${agent.address}/v1/${path}`, {
    method: 'PUT',
    headers: { 'x-registry-token': agent.token },
    body: JSON.stringify(body),
  });
  expect([path, answer.status, await answer.text()]).toMatchObject([path, 200, expect.anything()]);
}

/** Leaves the sign-in page for the provider. */
async function begin(address: string): Promise<Page> {
  const window = await browser.window();
  onTestFinished(() => window.close());
  // The pages of the provider ask for fonts, which would depend on the network.
  await window.route(
    ({ hostname }) => hostname !== '127.0.0.1',
    (route) => route.fulfill({ status: 204 }),
  );
  const path = 'sign-in?next=%2Fjobs%3Ffilter%3Dweb';
  const page = await openUi(browser, { address, path, window });
  await page.getByRole('button', { name: 'Go on with the company' }).click();
  await page.getByPlaceholder('login').waitFor();
  return page;
}

async function logIn(page: Page, name: string): Promise<void> {
  await page.getByPlaceholder('login').fill(name);
  await page.getByPlaceholder('password').fill('correct horse');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

const alertText = (page: Page) => expect.poll(() => page.getByRole('alert').textContent());

test.each([
  ['alone', () => agent.address],
  ['below a path of a proxy', () => proxy.address],
])(
  'the provider sends the browser back, signed in with the rights of the rules: %s',
  async (_, at) => {
    const page = await begin(at());
    await logIn(page, 'ann');
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    expect(page.url()).toBe(`${at()}/ui/jobs?filter=web`);
    const run = page.getByRole('button', { name: 'Run a job' });
    await expect.poll(() => run.getAttribute('title')).toContain('namespace:submit-job');
    await page.getByText('No job matches the filter').waitFor();
  },
);

test('the page says why nobody was signed in, and the next attempt goes where the reader wanted', async () => {
  const page = await begin(agent.address);
  await page.getByRole('link', { name: 'Cancel' }).click();
  await alertText(page).toContain('End-User aborted interaction');
  expect(page.url()).not.toContain('error');
  await page.getByRole('button', { name: 'Go on with the company' }).click();
  await logIn(page, 'bob');
  await alertText(page).toContain('no binding rule gives this identity anything');
  await page.getByRole('button', { name: 'Go on with elsewhere' }).click();
  await alertText(page).toContain(`${agent.address}/ui/sign-in/oidc`);
  await page.getByRole('button', { name: 'Go on with the company' }).click();
  await page.waitForURL(`${provider.issuer}/**`);
});

test('an answer to another sign-in, or to none, is thrown away with its words', async () => {
  const page = await begin(agent.address);
  for (const answer of ['state=made-up&code=stolen', 'error=x&error_description=Call+0800']) {
    await page.goto(`${agent.address}/ui/sign-in/oidc?${answer}`);
    await alertText(page).toContain('not the answer to a sign-in that was begun here');
    expect(await page.content()).not.toContain('0800');
    expect(page.url()).not.toContain('state');
  }
});
