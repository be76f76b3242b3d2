/** The page of an allocation in a browser, with real processes. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../support/accessibility.ts';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { goToTab, openAllocation, runAllocation } from '../support/allocation-page.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';

let browser: TestBrowser;
let agent: Agent;

beforeAll(async () => {
  [browser, agent] = await Promise.all([startBrowser(), startAgent()]);
});
afterAll(async () => {
  await browser?.close();
  await endAgents();
});

test('the tasks, their events and acts; a missing permission is named', async () => {
  const id = await runAllocation(agent, {
    id: 'web',
    tasks: [
      { name: 'main', script: 'trap "echo got it; exit 3" USR1; while :; do sleep 0.1; done' },
      { name: 'side', script: 'exec sleep 1000' },
    ],
    more: {
      RestartPolicy: { Attempts: 5, Delay: 1e9, Interval: 6e11, Mode: 'fail' },
      Networks: [{ DynamicPorts: [{ Label: 'http' }] }],
      Services: [
        {
          Name: 'web',
          PortLabel: 'http',
          Checks: [{ Name: 'alive', Type: 'tcp', Interval: 1e9, Timeout: 1e9 }],
        },
      ],
    },
  });
  const page = await openAllocation(browser, { agent, id });
  const events = page.getByRole('region', { name: 'Events of the tasks' });
  await events.getByText('Started', { exact: true }).first().waitFor();
  await page.getByRole('img', { name: /^main: .*Received at .*Started at/ }).waitFor();
  await page.getByRole('img', { name: /^Memory: used [\d.]+ MiB, asked 32 MiB/ }).waitFor();
  await page.getByText('alive').waitFor();
  await page.getByText('Critical').waitFor();

  await page.getByRole('button', { name: 'More acts' }).click();
  await page.getByRole('menuitem', { name: 'Send a signal' }).click();
  await page.getByLabel('Signal', { exact: true }).selectOption('SIGUSR1');
  await page.getByRole('dialog').getByLabel('Task').selectOption('main');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await events.getByText('Exit Code: 3').waitFor();
  const main = page
    .getByRole('region', { name: 'Tasks with their states' })
    .getByRole('row', { name: /^main/ });
  await main.getByText('Running').waitFor();
  await main.getByRole('cell', { name: '1', exact: true }).waitFor();

  await page.getByRole('button', { name: 'Restart', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Tasks').selectOption('task:side');
  await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
  await events.getByText('Restart Signaled').waitFor();

  await page.keyboard.press('w');
  await page.getByText(/was chosen by its score, with a score of/).waitFor();

  const policy = 'namespace "default" { capabilities = ["read-job", "list-jobs"] }';
  const made = await agent.request('PUT', '/v1/acl/policy', {
    Name: 'reader',
    Rules: policy,
  });
  expect(made.status, made.text).toBe(200);
  const { json } = await agent.request('PUT', '/v1/acl/token', {
    Policies: [{ Name: 'reader' }],
  });
  const reader = await openAllocation(browser, { agent, id, tab: 'logs', token: json.SecretID });
  await reader.getByText('The log cannot be read').waitFor();
  const stop = reader.getByRole('button', { name: 'Stop', exact: true });
  await expect
    .poll(() => stop.getAttribute('title'))
    .toBe('Needs namespace:alloc-lifecycle in the namespace default');
  expect(await stop.getAttribute('aria-disabled')).toBe('true');

  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page
    .getByText(/wants 1 of the group "main", so the scheduler places another allocation/)
    .waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Complete', { exact: true }).waitFor();
  await goToTab(page, 'Overview');
  await page.getByText('Replaced by').waitFor();
});

test('an allocation that has failed says first what went wrong, and leads to its output', async () => {
  await agent.register({
    ID: 'broken',
    Type: 'batch',
    TaskGroups: [
      {
        Name: 'main',
        RestartPolicy: { Attempts: 0, Mode: 'fail' },
        ReschedulePolicy: { Attempts: 0, Unlimited: false },
        Tasks: [
          {
            Name: 'app',
            Driver: 'raw_exec',
            Config: { command: '/bin/sh', args: ['-c', 'echo no database >&2; exit 7'] },
            Resources: { CPU: 20, MemoryMB: 16 },
          },
        ],
      },
    ],
  });
  const id = await agent.until(
    '/v1/job/broken/allocations',
    (found: { ID: string; ClientStatus: string }[]) => {
      expect(found.map(({ ClientStatus }) => ClientStatus)).toEqual(['failed']);
      return found[0]!.ID;
    },
  );
  const page = await openAllocation(browser, { agent, id });
  const wrong = page.getByRole('region', { name: 'What went wrong' });
  await wrong.getByText(/The task app has failed: Exit Code: 7\./).waitFor();
  await wrong.getByRole('link', { name: 'What it wrote to stderr' }).click();
  await expect.poll(() => page.getByRole('log').textContent()).toContain('no database');
});

test('no text of a task is markup, and no tab has a fault for those who do not see it', async () => {
  const evil = '<img src=x onerror=alert(1)>';
  const name = `t<b>${evil.slice(0, 9)}\u202e`;
  const id = await runAllocation(agent, {
    id: 'evil',
    tasks: [
      {
        name,
        script: `cd "$ROSTER_ALLOC_DIR/data"; echo '${evil}' > '${evil}.txt'; printf '${evil}\\033[31mred\\033[0m\\033]0;t\\007 \\342\\200\\256 \\001\\n'; exec sleep 1000`,
        more: { Actions: [{ Name: '<script>alert(1)</script>', Command: '/bin/true' }] },
      },
    ],
  });
  const page = await openAllocation(browser, { agent, id });
  await page
    .getByRole('region', { name: 'Events of the tasks' })
    .getByText('Started', { exact: true })
    .waitFor();
  expect(
    await page.getByRole('region', { name: 'Tasks with their states' }).textContent(),
  ).toContain('t<b><img src=\\u202e');
  await violationsIn(page, 'overview');
  await goToTab(page, 'Logs');
  await expect
    .poll(() => page.getByRole('log').textContent())
    .toMatch(/<img src=x onerror=alert\(1\)>red\s+\\u202e\s+\\u0001/);
  await violationsIn(page, 'logs');
  await goToTab(page, 'Files');
  await page.getByRole('link', { name: 'Folder alloc' }).click();
  await page.getByRole('link', { name: 'Folder data' }).click();
  await page.getByRole('link', { name: evil }).click();
  await expect
    .poll(() => page.getByRole('region', { name: `alloc/data/${evil}.txt` }).textContent())
    .toContain(evil);
  await violationsIn(page, 'files');
  await goToTab(page, 'Terminal');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByText('leaves the terminal').waitFor();
  await violationsIn(page, 'terminal');
  await goToTab(page, 'Why here');
  await page.getByText('was chosen').waitFor();
  await violationsIn(page, 'why');
  await page
    .getByRole('navigation', { name: 'Breadcrumb' })
    .getByRole('link', { name: 'Allocations' })
    .click();
  await page.getByRole('heading', { level: 1, name: 'Allocations' }).waitFor();
  await page.getByRole('link', { name: id.slice(0, 8) }).waitFor();
  await violationsIn(page, 'list');
  expect(await page.locator('img[src="x"]').count()).toBe(0);
});

/** Nor is it wider than a telephone. */
async function violationsIn(page: Page, what: string): Promise<void> {
  const size = page.viewportSize()!;
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  expect(await violations(page), what).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  await expect
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth), {
      message: what,
    })
    .toBe(0);
  await page.setViewportSize(size);
}
