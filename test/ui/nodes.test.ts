/** Nodes and their topology in a browser, against a real agent with its own node and nodes that only register. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, eventually, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openUi, signIn } from '../support/ui.ts';

let browser: TestBrowser;
let agent: Agent;
/** The node of the agent itself, which runs tasks. */
let own: { readonly ID: string; readonly Name: string };

const odd = '<script>alert(1)</script>\u202eabc\u0007';
const oddShown = '<script>alert(1)</script>\\u202eabc\\u0007';
const idOf = (n: number): string => `0000${String(n).padStart(4, '0')}-0000-4000-8000-000000000000`;

beforeAll(async () => {
  [browser, agent] = await Promise.all([startBrowser(), startAgent()]);
  const [first] = await eventually(async () => {
    const nodes = await agent.get('/v1/nodes?filter=Status+==+ready');
    expect(nodes).toHaveLength(1);
    return nodes;
  });
  own = first;
  await join(1, { Name: odd, NodeClass: odd, Meta: { rack: odd, [odd]: odd } });
  await join(2, { Name: 'x'.repeat(128), Meta: { rack: 'r1' } });
  await join(3, { Name: 'third', Datacenter: 'dc2', Meta: { rack: 'r2' } });
});
afterAll(async () => {
  await browser?.close();
  await endAgents();
});

async function ask(method: string, path: string, body?: unknown): Promise<void> {
  const answer = await agent.request(method, path, body);
  expect([path, answer.status, answer.status === 200 ? '' : answer.json]).toEqual([path, 200, '']);
}

const join = (n: number, changes: object): Promise<void> =>
  ask('PUT', '/v1/node/register', {
    SecretID: idOf(n).replace(/0$/, 'f'),
    Node: {
      ID: idOf(n),
      Datacenter: 'dc1',
      Attributes: { 'roster.version': '0.1.0', 'kernel.name': 'linux' },
      NodeResources: {
        Cpu: { CpuShares: 4000, TotalCpuCores: 2 },
        Memory: { MemoryMB: 8192 },
        Disk: { DiskMB: 100_000 },
      },
      Drivers: { mock: { Detected: true, Healthy: false, HealthDescription: odd } },
      ...changes,
    },
  });

async function signedIn(path: string): Promise<Page> {
  const page = await openUi(browser, { address: agent.address, path });
  await signIn(page, agent.token);
  return page;
}

const names = (page: Page): Promise<string[]> =>
  page.locator('tr.list-row td:first-child').allInnerTexts();

test('the list shows what nodes hold, filters on the server, and follows changes', async () => {
  const page = await signedIn('nodes');
  await expect
    .poll(async () => (await names(page)).toSorted())
    .toEqual([oddShown, own.Name, 'third', 'x'.repeat(128)].toSorted());
  await page
    .getByRole('img', { name: /^CPU: 0 MHz of 4,000 MHz allocated, 0 %$/ })
    .first()
    .waitFor();
  await page.getByRole('textbox', { name: 'Filter the nodes' }).fill('Datacenter == dc2');
  await expect.poll(() => names(page)).toEqual(['third']);
  await ask('PUT', `/v1/node/${idOf(3)}/eligibility`, { Eligibility: 'ineligible' });
  await page
    .locator('tr.list-row')
    .getByText(/Ineligible|Down/)
    .waitFor();
  await page.getByRole('textbox', { name: 'Filter the nodes' }).fill('');
  await page.getByRole('button', { name: /^\d+ ready$/ }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('status')).toBe('ready');
  await page.getByLabel('Status').selectOption('Ineligible');
  await expect.poll(() => new URL(page.url()).searchParams.get('status')).toBe('ineligible');
});

test('a drain shows what would move before, goes on, and ends; then the node takes work again', async () => {
  const job = {
    ID: 'mover',
    TaskGroups: [
      {
        Name: 'main',
        Count: 2,
        Migrate: { MaxParallel: 1 },
        EphemeralDisk: { SizeMB: 150 },
        Tasks: [
          {
            Name: 'run',
            Driver: 'raw_exec',
            Config: { command: '/bin/sleep', args: ['600'] },
            Resources: { CPU: 20, MemoryMB: 16 },
          },
        ],
      },
    ],
  };
  await ask('PUT', '/v1/jobs', { Job: job });
  const running = 'ClientStatus == running and JobID == mover';
  const runs = async () => agent.get(`/v1/allocations?filter=${encodeURIComponent(running)}`);
  await eventually(async () => expect(await runs()).toHaveLength(2));
  const page = await signedIn(`nodes/${own.ID}`);
  await page.getByRole('tab', { name: 'Allocations' }).click();
  await expect.poll(() => page.locator('tr.list-row').count()).toBe(2);
  await page.getByRole('button', { name: 'Drain …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Drain the node' });
  await dialog.getByText('2 allocations move.').waitFor();
  await dialog.getByText('at most 1 of the group at a time').waitFor();
  await dialog.getByLabel('Deadline').selectOption('Now');
  await dialog.getByText('at once', { exact: true }).waitFor();
  await dialog.getByLabel('Reason').fill(odd);
  await dialog.getByRole('button', { name: 'Drain', exact: true }).click();
  await page.getByRole('tab', { name: 'Overview' }).click();
  const last = page.getByRole('region', { name: 'Last drain' });
  await last.getByText('complete').waitFor();
  await last.getByText(oddShown).waitFor();
  await expect.poll(() => runs()).toEqual([]);
  await page.getByRole('button', { name: 'Make eligible …' }).click();
  await page.getByRole('button', { name: 'Make eligible', exact: true }).click();
  await page.locator('h1 + .row').getByText('Ready').waitFor();
  await eventually(async () => expect(await runs()).toHaveLength(2));
});

test('attributes are found by a search, and a purge asks for the name', async () => {
  const page = await signedIn(`nodes/${idOf(1)}?tab=attributes`);
  await page.getByRole('heading', { level: 1, name: 'alert' }).waitFor();
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain(oddShown);
  await page.getByText(`meta.${oddShown}`).waitFor();
  await page.getByRole('searchbox').fill('kernel');
  await page.getByText('attr.kernel.name').waitFor();
  await expect.poll(() => page.getByText(`meta.${oddShown}`).count()).toBe(0);
  await page.getByRole('tab', { name: 'Overview' }).click();
  await page.getByRole('row', { name: 'mock' }).getByText(oddShown).waitFor();
  await page.getByRole('button', { name: 'More acts' }).click();
  await page.getByRole('menuitem', { name: 'Purge …' }).click();
  const purge = page.getByRole('button', { name: 'Purge', exact: true });
  expect(await purge.getAttribute('aria-disabled')).toBe('true');
});

test('the topology groups nodes, and the same as a table is a key away', async () => {
  const page = await signedIn('topology');
  const cell = page.getByRole('link', { name: /^third, / });
  await page.getByRole('region', { name: 'Datacenter dc2' }).waitFor();
  await cell.focus();
  const card = page.getByRole('complementary', { name: 'The node under the pointer' });
  await card.getByText('dc2 · rack r2 · pool default').waitFor();
  await page.keyboard.press('v');
  await expect.poll(async () => (await names(page)).length).toBe(4);
  expect(new URL(page.url()).searchParams.get('view')).toBe('table');
  await page.keyboard.press('v');
  await cell.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'third' }).waitFor();
});

test('the topology groups nodes by class within their datacenter', async () => {
  const page = await signedIn('topology');
  await page.getByLabel('Group by').selectOption('Class');
  const first = page.getByRole('region', { name: 'Datacenter dc1' });
  await first.getByRole('button', { name: `Class ${odd.slice(0, 8)}` }).waitFor();
  await first.getByRole('button', { name: /^Without a class/ }).waitFor();
  expect(new URL(page.url()).searchParams.get('by')).toBe('class');
});

test('the command that the topology copies lists the same nodes', async () => {
  const page = await signedIn(`topology?filter=${encodeURIComponent('Meta.rack == r2')}`);
  await page.getByRole('link', { name: /^third, / }).waitFor();
  await page.getByRole('button', { name: 'Copy as …' }).click();
  await page
    .getByRole('menuitem', { name: /^Command/ })
    .getByText("roster node topology -filter 'Meta.rack == r2'", { exact: true })
    .waitFor();
  const { code, stdout } = await agent.cli('node', 'topology', '-filter', 'Meta.rack == r2');
  expect([code, stdout]).toEqual([0, expect.stringContaining('third')]);
});

test('a token without the right sees the acts disabled, and which permission is missing', async () => {
  await ask('PUT', '/v1/acl/policy', {
    Name: 'looker',
    Rules: 'node_prefix "" { policy = "read" }',
  });
  const { json } = await agent.request('PUT', '/v1/acl/token', { Policies: [{ Name: 'looker' }] });
  const page = await openUi(browser, { address: agent.address, path: `nodes/${own.ID}` });
  await signIn(page, json.SecretID);
  const drain = page.getByRole('button', { name: 'Drain …' });
  await expect.poll(() => drain.getAttribute('title')).toContain('node:write');
  expect(await drain.getAttribute('aria-disabled')).toBe('true');

  // The page follows its rights while it is open.
  const { json: policy } = await agent.request('GET', '/v1/acl/policy/name/looker');
  const allow = (policyOfNodes: string) =>
    ask('PUT', `/v1/acl/policy/${policy.ID}`, {
      Name: 'looker',
      Rules: `node_prefix "" { policy = "${policyOfNodes}" }`,
    });
  await allow('write');
  await expect.poll(() => drain.getAttribute('aria-disabled')).not.toBe('true');
  await allow('read');
  await expect.poll(() => drain.getAttribute('title')).toContain('node:write');
});

test('no page of nodes is wider than a telephone', async () => {
  const page = await signedIn('nodes');
  await page.setViewportSize({ width: 360, height: 740 });
  for (const path of ['nodes', `nodes/${idOf(1)}`, `nodes/${own.ID}?tab=allocations`, 'topology']) {
    await page.evaluate((to) => history.pushState(null, '', to), path);
    await page.evaluate(() => dispatchEvent(new PopStateEvent('popstate')));
    await page.locator('tr.list-row, [role=tab], a.cell').first().waitFor();
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect([path, await overflow()]).toEqual([path, 0]);
  }
});

test('the topology follows more nodes than a window has as several windows', async () => {
  const joinLarge = (n: number) => join(n, { Name: `large-${n}`, Datacenter: 'large' });
  const join100 = (from: number) =>
    Promise.all(Array.from({ length: 100 }, (_, at) => joinLarge(from + at)));
  for (let from = 1000; from < 1600; from += 100) await join100(from);
  const page = await openUi(browser, { address: agent.address, path: 'topology' });
  const sizes: (string | null)[] = [];
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => {
      const asked: { readonly kind: string; readonly path: string } = JSON.parse(String(payload));
      if (asked.kind !== 'watch' || !asked.path.startsWith('/v1/nodes/topology')) return;
      sizes.push(new URL(asked.path, agent.address).searchParams.get('per_page'));
    }),
  );
  await signIn(page, agent.token);
  const large = page.getByRole('region', { name: 'Datacenter large' });
  await large.getByText('600 nodes').first().waitFor();
  expect(sizes).toEqual(['500', '500']);
  await joinLarge(1600);
  await large.getByText('601 nodes').first().waitFor();
});
