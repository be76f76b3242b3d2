/** The page of an allocation in a browser, with real processes. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openUi, signIn } from '../support/ui.ts';

let browser: TestBrowser;
let agent: Agent;

beforeAll(async () => {
  [browser, agent] = await Promise.all([startBrowser(), startAgent()]);
});
afterAll(async () => {
  await browser?.close();
  await endAgents();
});

interface TaskOf {
  readonly name?: string;
  readonly script: string;
  readonly more?: object;
}

/** Registers a job and resolves with the id of its allocation, once the node has answered for it. */
async function run(id: string, tasks: readonly TaskOf[], more: object = {}): Promise<string> {
  await agent.register({
    ID: id,
    Type: 'service',
    TaskGroups: [
      {
        Name: 'main',
        EphemeralDisk: { SizeMB: 300 },
        ...more,
        Tasks: tasks.map((task) => ({
          Name: task.name ?? 'app',
          Driver: 'raw_exec',
          Config: { command: '/bin/sh', args: ['-c', task.script] },
          Resources: { CPU: 20, MemoryMB: 16 },
          ...task.more,
        })),
      },
    ],
  });
  return agent.until(
    `/v1/job/${id}/allocations`,
    (found: { ID: string; ClientStatus: string }[]) => {
      expect(found.map(({ ClientStatus }) => ClientStatus)).toEqual(['running']);
      return found[0]!.ID;
    },
  );
}

async function open(id: string, tab = '', token = agent.token): Promise<Page> {
  const query = tab === '' ? '' : `?tab=${tab}`;
  const page = await openUi(browser, { address: agent.address, path: `allocations/${id}${query}` });
  await signIn(page, token);
  return page;
}

const tab = (page: Page, name: string): Promise<void> => page.getByRole('tab', { name }).click();

test('a terminal writes, the log follows, and the file is there', async () => {
  const id = await run('shell', [
    {
      script: 'cd "$ROSTER_ALLOC_DIR/data"; : > in; echo ready; exec tail -n +1 -f in',
      more: { Actions: [{ Name: 'greet', Command: '/bin/sh', Args: ['-c', 'echo hi $((20+3))'] }] },
    },
  ]);
  const page = await open(id, 'terminal');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByText('leaves the terminal').waitFor();
  await page.keyboard.type('echo "it is $((6*7))" | tee -a $ROSTER_ALLOC_DIR/data/in\n');
  const screen = page.locator('.xterm-rows');
  await expect.poll(() => screen.textContent()).toContain('it is 42');
  // The size of the window arrives at the command.
  await page.keyboard.type('set -- $(stty size); echo "is $1 wide $2"\n');
  await expect.poll(() => screen.textContent()).toMatch(/is \d+ wide \d{2,}/);
  // Tab and Escape belong to the command; one key leaves.
  await page.keyboard.press('Control+Shift+L');
  const end = page.getByRole('button', { name: 'End the session' });
  await expect.poll(() => end.evaluate((one) => one === document.activeElement)).toBe(true);
  await page.keyboard.press('Enter');
  await page.getByText('You have ended the session').waitFor();

  await page.getByLabel('Command').selectOption({ label: 'Action: greet' });
  await page.getByRole('button', { name: 'Start anew' }).click();
  await page.getByText('The command has ended.').waitFor();
  expect(await screen.textContent()).toContain('hi 23');

  await tab(page, 'Logs');
  const log = page.getByRole('log');
  await expect.poll(() => log.textContent()).toMatch(/ready[\s\S]*it is 42/);
  await tab(page, 'Files');
  await page.getByRole('link', { name: 'Folder alloc' }).click();
  await page.getByRole('link', { name: 'Folder data' }).click();
  await page.getByRole('link', { name: 'in', exact: true }).click();
  await page.getByRole('region', { name: 'alloc/data/in' }).waitFor();
  await expect
    .poll(() => page.getByRole('region', { name: 'alloc/data/in' }).textContent())
    .toContain('it is 42');
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  expect(readFileSync(await (await saved).path(), 'utf8')).toBe('it is 42\n');
});

test('a flood of a log leaves the page free, its end is exact, and all of it can be searched', async () => {
  const count = 700_000;
  const line = 'a line of a flood that nobody could ever read as fast as it is printed';
  const id = await run('flood', [
    {
      script: `until [ -e "$ROSTER_ALLOC_DIR/data/go" ]; do sleep 0.1; done; seq -f '%.0f ${line}' ${count}; echo "the end"; exec sleep 1000`,
    },
  ]);
  const page = await open(id, 'logs');
  await page.getByText('Following.').waitFor();
  await page.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { tasks });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration);
    }).observe({ type: 'longtask' });
  });
  const beganMs = performance.now();
  const gone = await agent.cli('alloc', 'exec', id, 'sh', '-c', ': > $ROSTER_ALLOC_DIR/data/go');
  expect(gone.code).toBe(0);
  const log = page.getByRole('log');
  await log.getByText('the end', { exact: true }).waitFor();
  const tookMs = performance.now() - beganMs;
  await page.getByText('Following.').waitFor();
  expect(await log.textContent()).toMatch(new RegExp(`${count} ${line}\\s*the end\\s*$`));
  expect(await page.getByText(/MiB skipped$/).count()).toBe(1);
  const tasks = await page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks);
  const longestMs = Math.round(Math.max(0, ...tasks));
  const megabytes = Math.round((count * (line.length + 8)) / 1e6);
  console.log(
    `flood of ${megabytes} MB seen to its end in ${Math.round(tookMs)} ms: ${tasks.length} long tasks, the longest ${longestMs} ms`,
  );
  // A busy machine delays everything; a page that read it all would be stalled for seconds.
  expect(longestMs).toBeLessThan(1000);

  await page.getByLabel('Search the lines that are held').fill(`${count} a line`);
  await page.getByText('1 line of those that are held').waitFor();
  await page.getByLabel('Search the lines that are held').fill('350000 a line');
  await page.getByText('0 lines of those that are held').waitFor();
  await page.getByRole('button', { name: 'Search the whole log' }).click();
  await expect
    .poll(() => page.getByRole('region', { name: 'The whole log' }).textContent(), {
      timeout: 30000,
    })
    .toMatch(/1\s+line in [\d.]+ MiB,\s+700,001 lines(?! so far)/);
  await page.getByText(`350000 ${line}`).waitFor();
});

test('the tasks, their events and acts; what a token may not do is named', async () => {
  const id = await run(
    'web',
    [
      { name: 'main', script: 'trap "echo got it; exit 3" USR1; while :; do sleep 0.1; done' },
      { name: 'side', script: 'exec sleep 1000' },
    ],
    {
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
  );
  const page = await open(id);
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
  const reader = await open(id, 'logs', json.SecretID);
  await reader.getByText('The log cannot be read').waitFor();
  const stop = reader.getByRole('button', { name: 'Stop', exact: true });
  await expect
    .poll(() => stop.getAttribute('title'))
    .toBe('Needs namespace:alloc-lifecycle in the namespace default');
  expect(await stop.getAttribute('aria-disabled')).toBe('true');

  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page
    .getByText(/so the scheduler places another allocation if the job still needs it/)
    .waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Complete', { exact: true }).waitFor();
  await tab(page, 'Overview');
  await page.getByText('Replaced by').waitFor();
});

test('no text of a task is markup, and no tab has a fault for those who do not see it', async () => {
  const evil = '<img src=x onerror=alert(1)>';
  const name = `t<b>${evil.slice(0, 9)}\u202e`;
  const id = await run('evil', [
    {
      name,
      script: `cd "$ROSTER_ALLOC_DIR/data"; echo '${evil}' > '${evil}.txt'; printf '${evil}\\033[31mred\\033[0m\\033]0;t\\007 \\342\\200\\256 \\001\\n'; exec sleep 1000`,
      more: { Actions: [{ Name: '<script>alert(1)</script>', Command: '/bin/true' }] },
    },
  ]);
  const page = await open(id);
  await page
    .getByRole('region', { name: 'Events of the tasks' })
    .getByText('Started', { exact: true })
    .waitFor();
  expect(
    await page.getByRole('region', { name: 'Tasks with their states' }).textContent(),
  ).toContain('t<b><img src=\\u202e');
  await violationsIn(page, 'overview');
  await tab(page, 'Logs');
  await expect
    .poll(() => page.getByRole('log').textContent())
    .toMatch(/<img src=x onerror=alert\(1\)>red\s+\\u202e\s+\\u0001/);
  await violationsIn(page, 'logs');
  await tab(page, 'Files');
  await page.getByRole('link', { name: 'Folder alloc' }).click();
  await page.getByRole('link', { name: 'Folder data' }).click();
  await page.getByRole('link', { name: evil }).click();
  await expect
    .poll(() => page.getByRole('region', { name: `alloc/data/${evil}.txt` }).textContent())
    .toContain(evil);
  await violationsIn(page, 'files');
  await tab(page, 'Terminal');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByText('leaves the terminal').waitFor();
  await violationsIn(page, 'terminal');
  await tab(page, 'Why here');
  await page.getByText('was chosen').waitFor();
  await violationsIn(page, 'why');
  await page.getByRole('link', { name: 'Allocations' }).click();
  await page.getByRole('heading', { level: 1, name: 'Allocations' }).waitFor();
  await page.getByRole('link', { name: id.slice(0, 8) }).waitFor();
  await violationsIn(page, 'list');
  expect(await page.locator('img[src="x"]').count()).toBe(0);
});

const axe = readFileSync(
  new URL('../../node_modules/axe-core/axe.min.js', import.meta.url),
  'utf8',
);

/** In both themes, and on a telephone. */
async function violationsIn(page: Page, what: string): Promise<void> {
  const size = page.viewportSize()!;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await violations(page), `${what}, ${colorScheme}`).toEqual([]);
  }
  await page.setViewportSize({ width: 360, height: 740 });
  await expect
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth), {
      message: what,
    })
    .toBe(0);
  await page.setViewportSize(size);
}

async function violations(page: Page): Promise<readonly string[]> {
  // As a string, since the content security policy forbids elements of scripts.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { run } = (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe;
    const { violations } = await run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}
