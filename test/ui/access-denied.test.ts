/** Refused requests and ended tokens, in a browser against a real agent. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openUi, signIn } from '../support/ui.ts';

let browser: TestBrowser;
let agent: Agent;

interface Made {
  readonly AccessorID: string;
  readonly SecretID: string;
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

test('a refused request is explained by its rule and line, and the page follows when it is put right', async () => {
  const rules = `${reading}service_prefix "pay" {\n  policy = "read"\n}\n`;
  const policy = await made<{ ID: string }>('acl/policy', { Name: 'payers', Rules: rules });
  const token = await made('acl/token', { Policies: [{ Name: 'payers' }] });
  const refused = await ask('PUT', 'var/pay/key', { Items: { a: 'b' } }, token.SecretID);
  expect(refused.status).toBe(403);

  const page = await signedIn('access/denied');
  await page.getByRole('button', { name: 'Why PUT /v1/var/pay/key was denied' }).click();
  await page.getByText('No rule of its policies speaks of it').waitFor();
  const missing = page.getByRole('region', { name: /^The rule that is missing/ });
  expect(await missing.textContent()).toContain('path "pay/key"');
  expect(new URL(page.url()).searchParams.get('accessor')).toBe(token.AccessorID);

  const rule = ((await missing.textContent()) ?? '').trim();
  await made(`acl/policy/${policy.ID}`, { Name: 'payers', Rules: `${rules}${rule}\n` });
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
  await made('acl/policy', { Name: 'lookers', Rules: reading });
  const [one, other] = [
    await made('acl/token', { Policies: [{ Name: 'lookers' }] }),
    await made('acl/token', { Policies: [{ Name: 'lookers' }] }),
  ];
  await ask('DELETE', 'job/mine', undefined, one.SecretID);
  await ask('DELETE', 'job/theirs', undefined, other.SecretID);
  const page = await signedIn('access/denied', one.SecretID);
  await page.getByText('DELETE /v1/job/mine').waitFor();
  expect(await page.getByText('/v1/job/theirs').count()).toBe(0);
  await page.getByRole('button', { name: 'Why DELETE /v1/job/mine was denied' }).click();
  await page.getByText('Denied', { exact: true }).first().waitFor();
});

test('the session ends with its token: the page says why, and asks to sign in', async () => {
  const token = await made('acl/token', { Policies: [{ Name: 'global-management' }] });
  const page = await signedIn('access/policies', token.SecretID);
  await page.getByRole('link', { name: 'global-management' }).waitFor();
  expect((await ask('DELETE', `acl/token/${token.AccessorID}`)).status).toBe(200);
  await page.getByText('Your token has expired, or was deleted.').waitFor();
  expect(await page.getByRole('link', { name: 'global-management' }).count()).toBe(0);
  await signIn(page, agent.token);
  await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
  await page.getByRole('link', { name: 'global-management' }).waitFor();
});
