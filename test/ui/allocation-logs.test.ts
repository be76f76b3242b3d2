/** The terminal, the logs and the files of an allocation in a browser, with real processes. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

test('a terminal writes, the log follows, and the file is there', async () => {
  const id = await runAllocation(agent, {
    id: 'shell',
    tasks: [
      {
        script: 'cd "$ROSTER_ALLOC_DIR/data"; : > in; echo ready; exec tail -n +1 -f in',
        more: {
          Actions: [{ Name: 'greet', Command: '/bin/sh', Args: ['-c', 'echo hi $((20+3))'] }],
        },
      },
    ],
  });
  const page = await openAllocation(browser, { agent, id, tab: 'terminal' });
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
  // The terminal draws what it was given in a frame of its own.
  await expect.poll(() => screen.textContent()).toContain('hi 23');

  await goToTab(page, 'Logs');
  const log = page.getByRole('log');
  await expect.poll(() => log.textContent()).toMatch(/ready[\s\S]*it is 42/);
  await goToTab(page, 'Files');
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
  // Three files of the log.
  const count = 300_000;
  const line = 'a line of a flood that nobody could ever read as fast as it is printed';
  const id = await runAllocation(agent, {
    id: 'flood',
    tasks: [
      {
        script: `until [ -e "$ROSTER_ALLOC_DIR/data/go" ]; do sleep 0.1; done; seq -f '%.0f ${line}' ${count}; echo "the end"; exec sleep 1000`,
      },
    ],
  });
  const page = await openAllocation(browser, { agent, id, tab: 'logs' });
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
  await page.getByLabel('Search the lines that are held').fill('150000 a line');
  await page.getByText('0 lines of those that are held').waitFor();
  await page.getByRole('button', { name: 'Search the whole log' }).click();
  await expect
    .poll(() => page.getByRole('region', { name: 'The whole log' }).textContent(), {
      timeout: 30000,
    })
    .toMatch(/1\s+line in [\d.]+ MiB,\s+300,001 lines(?! so far)/);
  await page.getByText(`150000 ${line}`).waitFor();
});
