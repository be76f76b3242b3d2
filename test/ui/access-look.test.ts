/** How the pages of access control look, in a browser against a real agent. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../support/accessibility.ts';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openUi, signIn } from '../support/ui.ts';

let browser: TestBrowser;
let agent: Agent;

interface Made {
  readonly AccessorID: string;
}

beforeAll(async () => {
  [browser, agent] = await Promise.all([startBrowser(), startAgent()]);
});
afterAll(async () => {
  await browser?.close();
  await endAgents();
});

const ask = (method: string, path: string, body?: unknown, token = agent.token) =>
  fetch(`${agent.address}/v1/${path}`, {
    method,
    headers: { 'x-registry-token': token },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

async function made<T = Made>(path: string, body: unknown): Promise<T> {
  const answer = await ask('PUT', path, body);
  expect(answer.status).toBe(200);
  return (await answer.json()) as T;
}

const reading = 'namespace "default" {\n  policy = "read"\n}\n';

async function signedIn(path: string, token = agent.token): Promise<Page> {
  const page = await openUi(browser, { address: agent.address, path });
  await signIn(page, token);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
}

test('texts of tokens, roles and policies are shown as they are, on pages without faults of accessibility', async () => {
  const evil = '</script><img src=x onerror=alert(1)>\u202eodd\u0007';
  const shown = '</script><img src=x onerror=alert(1)>\\u202eodd\\u0007';
  const name = 'n'.repeat(128);
  const policy = await made<{ ID: string }>('acl/policy', {
    Name: name,
    Description: evil,
    Rules: `# ${evil.replace('\u0007', '')}\n${reading}`,
  });
  const role = await made<{ ID: string }>('acl/role', {
    Name: 'odd',
    Description: evil,
    Policies: [{ ID: policy.ID }],
  });
  const token = await made('acl/token', { Description: evil, Roles: [{ ID: role.ID }] });
  const page = await signedIn('access/tokens');
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  const scheme = { light: 'dark', dark: 'light' } as const;
  let colorScheme: 'light' | 'dark' = 'dark';
  const places = [
    ['Roles', 'roles'],
    ['Policies', 'policies'],
    ['Auth methods', 'methods'],
    ['Binding rules', 'rules'],
    ['Templates', 'templates'],
    ['Why was this denied', 'denied'],
    ['Tokens', 'tokens'],
  ] as const;
  const navigation = page.getByRole('navigation', { name: 'Access control' });
  for (const [title] of places) {
    await navigation.getByRole('link', { name: title, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    colorScheme = scheme[colorScheme];
    await page.emulateMedia({ colorScheme });
    expect(await violations(page)).toEqual([]);
  }
  await page.getByRole('link', { name: shown }).click();
  await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe(shown);
  await page.getByText(name).first().waitFor();
  expect(page.url()).toContain(token.AccessorID);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await violations(page)).toEqual([]);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow).toBe(0);
});
