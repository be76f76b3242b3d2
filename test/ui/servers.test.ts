/** The page of the servers in a browser, against a real agent. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openUi, signIn } from '../support/ui.ts';

let browser: TestBrowser;
let agent: Agent;

beforeAll(async () => {
  [browser, agent] = await Promise.all([startBrowser(), startAgent({ args: ['--server-only'] })]);
});
afterAll(async () => {
  await browser?.close();
  await endAgents();
});

async function signedIn(path: string, token = agent.token): Promise<Page> {
  const page = await openUi(browser, { address: agent.address, path });
  await signIn(page, token);
  return page;
}

test('servers, state, keys and snapshots are shown, and charts appear while the page is open', async () => {
  const page = await signedIn('servers');
  const server = page.getByRole('row', { name: agent.address.replace('http://', '') });
  await server.getByText('leads').waitFor();
  await server.getByText('Healthy').waitFor();
  await server.getByText('up to date').waitFor();
  await page.getByRole('region', { name: 'State and log' }).getByText('acl-tokens').waitFor();
  await page.getByRole('region', { name: 'Keyring' }).getByText('active').waitFor();
  const snapshots = page.getByRole('region', { name: 'Snapshots' });
  await snapshots.getByText('No snapshot is saved on a schedule.').waitFor();
  await page.getByRole('img', { name: /^Memory: process [\d.]+ MiB, heap/ }).waitFor();
  const stepDown = page.getByRole('button', { name: 'Step down …' });
  expect(await stepDown.getAttribute('title')).toBe('There is no other server that could lead');
});

test('a snapshot is saved as a file that is whole', async () => {
  const page = await signedIn('servers');
  await page.getByRole('button', { name: 'Save a snapshot …' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save', exact: true }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^roster-[\dT-]+\.snapshot$/);
  const saved = readFileSync(await download.path());
  const answer = await fetch(`${agent.address}/v1/operator/snapshot`, {
    headers: { 'x-registry-token': agent.token },
  });
  const whole = Buffer.from(await answer.arrayBuffer());
  expect(saved.length).toBeGreaterThan(0);
  // Both have the same form; their time differs.
  expect(saved.subarray(0, 8).equals(whole.subarray(0, 8))).toBe(true);
  expect(Math.abs(saved.length - whole.length)).toBeLessThan(whole.length / 10);
});

test('a panel says that the token may not see it, and acts name the missing permission', async () => {
  const rules = 'operator = "read"';
  await agent.request('PUT', '/v1/acl/policy', { Name: 'operator-reader', Rules: rules });
  const policies = { Policies: [{ Name: 'operator-reader' }] };
  const { json } = await agent.request('PUT', '/v1/acl/token', policies);
  const page = await signedIn('servers', json.SecretID);
  await page.getByText('leads', { exact: true }).waitFor();
  await page.getByText('The keys are not shown').waitFor();
  await page.getByText('The metrics are not shown').waitFor();
  const save = page.getByRole('button', { name: 'Save a snapshot …' });
  await expect.poll(() => save.getAttribute('title')).toBe('Needs management');
});
