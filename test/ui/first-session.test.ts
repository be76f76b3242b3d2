/** The first session of the README through the browser alone: the printed link, the overview, the jobs, and the end. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endAgents, launch, newDirectory } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openUi } from '../support/ui.ts';

let browser: TestBrowser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await endAgents();
});

test('npm start prints a link that signs in once; the pages show the example, and signing out ends the token', async () => {
  const program = launch('npm', ['start'], {
    env: { ROSTER_HTTP: '127.0.0.1:0', ROSTER_DATA_DIR: newDirectory() },
    isGroup: true,
  });
  const [, address = '', path = ''] = await program.says(/^Sign in {5}(\S+)\/ui\/(\S+)/m);
  const [, token = ''] = await program.says(/Root token {2}(\S+)\n[\s\S]*Ctrl-C ends it\.\n/);
  const tokens = async (): Promise<readonly string[]> => {
    const headers = { 'x-registry-token': token };
    const answer = await fetch(`${address}/v1/acl/tokens`, { headers });
    return ((await answer.json()) as { Description: string }[]).map(
      ({ Description }) => Description,
    );
  };

  const page = await openUi(browser, { address, path, endsServer: true });
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  expect(page.url()).toBe(`${address}/ui/`);
  await page.getByText('All is well').waitFor();
  await page.getByText('1 job, 3 allocations running, 1 node ready').waitFor();

  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  const row = page.locator('tr.list-row');
  await row.getByText('Running', { exact: true }).waitFor();
  expect(await row.textContent()).toMatch(/web[\s\S]*3\/3/);

  // The tab keeps its token over a reload, and the link is used up.
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  const late = await openUi(browser, { address, path, endsServer: true });
  await late.getByText('The link did not sign you in').waitFor();

  const ofLink = /^web interface, link of /;
  expect(await tokens()).toContainEqual(expect.stringMatching(ofLink));
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out everywhere' }).click();
  await page.getByText('You have signed out.').waitFor();
  expect(await tokens()).not.toContainEqual(expect.stringMatching(ofLink));
  program.signal('SIGINT');
  expect((await program.ended).code).toBe(0);
});
