/**
 * The page of a job in a browser: why it is not placed, its deployment, its versions, its scale, launches, actions, stop
 * and start, and what a token may not do.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { button, inDialog, sees, sleeper, sleepingJob } from '../support/job-pages.ts';
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

async function open(path: string, token = agent.token): Promise<Page> {
  const page = await openUi(browser, { address: agent.address, path });
  await signIn(page, token);
  return page;
}

test('a job that is not placed says why, at once and in the trace of its evaluations', async () => {
  const Resources = { CPU: 20, MemoryMB: 900_000 };
  await agent.register(sleepingJob('huge', {}, { Tasks: [sleeper({ Resources })] }));
  const page = await open('jobs/default/huge');
  await page.getByRole('heading', { name: 'Why it is not placed' }).waitFor();
  await sees(page, /1 allocation of the group "main" finds no node/);
  await sees(page, /memory: needs 900000 MB/);
  await sees(page, '1 waits for a node');
  // So does the head: nothing is deployed.
  await page.getByText('Waits for a node', { exact: true }).waitFor();
  await page.getByRole('row', { name: /Lacks room/ }).waitFor();
  await sees(page, 'not placed');
  await page.getByRole('tab', { name: 'Evaluations' }).click();
  const trace = page.getByRole('list', { name: 'Evaluations' });
  await trace.getByText('Blocked').first().waitFor();
  await trace.getByText('Group "main": 1 allocation could not be placed').first().waitFor();
  // Put right, it runs, and the page says so without being asked.
  await page.getByRole('tab', { name: 'Overview' }).click();
  await agent.register(sleepingJob('huge'));
  await sees(page, /1 of 1 running/);
  const cells = page.getByRole('list', { name: 'Allocations of the group main' });
  await cells.getByRole('link', { name: /^[0-9a-f]{8}: running.*, version 1$/ }).waitFor();
  await page.getByRole('heading', { name: 'Why it is not placed' }).waitFor({ state: 'detached' });
});

test('canaries are promoted, and the deployment is seen to its end', async () => {
  const Update = {
    MaxParallel: 1,
    Canary: 1,
    MinHealthyTime: 1e8,
    HealthyDeadline: 6e10,
    ProgressDeadline: 12e10,
    HealthCheck: 'task_states',
  };
  const canary = (version: string) =>
    sleepingJob('canary', { Meta: { version } }, { Update, Meta: { version } });
  await agent.register(canary('1'));
  await agent.until('/v1/job/canary/deployment', (found) =>
    expect(found?.Status).toBe('successful'),
  );
  await agent.register(canary('2'));
  const page = await open('jobs/default/canary');
  await sees(page, '1 of 1 canary healthy');
  await page.getByRole('link', { name: /: running, version 1, canary$/ }).waitFor();
  await button(page, 'Promote').click();
  await sees(page, 'its 1 canary stays');
  await inDialog(page, 'Promote').click();
  await sees(page, 'Promoted the deployment');
  await sees(page, 'Deployment completed successfully');
});

test('versions are compared, tagged and gone back to', async () => {
  await agent.register(sleepingJob('versions', { Meta: { color: 'red' } }));
  await agent.register(sleepingJob('versions', { Meta: { color: 'blue' } }));
  const page = await open('jobs/default/versions?tab=versions');
  await sees(page, '1 field differs from the version before');
  await button(page, 'Compare two versions').click();
  await sees(page, 'Meta[color]');
  expect(new URL(page.url()).searchParams.get('before')).toBe('0');
  await button(page, 'Tag version 0').click();
  await page.getByLabel('Tag', { exact: true }).fill('good');
  await inDialog(page, 'Save').click();
  await sees(page, 'Tagged version 0 as good');
  await button(page, 'Revert to version 0').click();
  await sees(page, /becomes a new version after version 1/);
  await inDialog(page, 'Revert').click();
  await sees(page, 'Version 2');
  expect((await agent.get('/v1/job/versions')).Meta).toEqual({ color: 'red' });
});

test('a group is scaled within its bounds, and the reason is kept', async () => {
  const Scaling = { Min: 1, Max: 3, Policy: {} };
  await agent.register(sleepingJob('scaled', { Type: 'batch' }, { Scaling }));
  const page = await open('jobs/default/scaled?tab=scale');
  await sees(page, '1 to 3');
  await button(page, 'Scale').click();
  await page.getByLabel('Count', { exact: true }).fill('4');
  await sees(page, 'The policy of the group allows 3 at most.');
  expect(await inDialog(page, 'Scale').getAttribute('aria-disabled')).toBe('true');
  await page.getByLabel('Count', { exact: true }).fill('2');
  await page.getByLabel(/^Reason/).fill('more visitors');
  await inDialog(page, 'Scale').click();
  await page.getByRole('row', { name: /1 → 2 more visitors/ }).waitFor();
});

test('a dispatch asks for its metadata, and its child is in the list', async () => {
  const ParameterizedJob = { Payload: 'optional', MetaRequired: ['customer'] };
  await agent.register(sleepingJob('convert', { Type: 'batch', ParameterizedJob }));
  const page = await open('jobs/default/convert?tab=launches');
  await sees(page, 'No children yet');
  await button(page, 'Dispatch').click();
  const dispatch = inDialog(page, 'Dispatch');
  expect(await dispatch.getAttribute('aria-disabled')).toBe('true');
  await page.getByLabel('customer').fill('acme');
  await page.getByLabel(/^Payload/).fill('grüße');
  await dispatch.click();
  await page.getByRole('link', { name: /^dispatch-/ }).click();
  await sees(page, 'acme');
  const [child] = await agent.get('/v1/jobs?prefix=convert/');
  const { Payload } = await agent.get(`/v1/job/${encodeURIComponent(child.ID)}`);
  expect(Buffer.from(Payload, 'base64').toString()).toBe('grüße');
});

test('a periodic job tells its next launches, and is launched at once', async () => {
  const Periodic = { Specs: ['0 6 * * *'], TimeZone: 'Europe/Berlin' };
  await agent.register(sleepingJob('report', { Type: 'batch', Periodic }));
  const page = await open('jobs/default/report?tab=launches');
  await expect.poll(() => page.locator('.launches li').count()).toBe(5);
  expect((await page.locator('.launches li').allInnerTexts())[0]).toContain('06:00:00');
  await button(page, 'Launch now').click();
  await inDialog(page, 'Launch now').click();
  await page.getByRole('link', { name: /^periodic-/ }).waitFor();
});

test('an action runs in a task, and its output is shown', async () => {
  const Actions = [{ Name: 'greet', Command: '/bin/sh', Args: ['-c', 'echo hello; exit 3'] }];
  await agent.register(sleepingJob('acting', {}, { Tasks: [sleeper({ Actions })] }));
  const page = await open('jobs/default/acting');
  await sees(page, /1 of 1 running/);
  await button(page, 'More acts').click();
  await page.getByRole('menuitem', { name: 'Run an action' }).click();
  await inDialog(page, 'Run').click();
  await sees(page, 'Ended with exit code 3');
  await page.getByRole('region', { name: 'Output' }).getByText('hello').waitFor();
});

test('a job is stopped by its id, and started again', async () => {
  await agent.register(sleepingJob('ending'));
  const page = await open('jobs/default/ending');
  await button(page, 'Stop').click();
  const stop = inDialog(page, 'Stop');
  expect(await stop.getAttribute('aria-disabled')).toBe('true');
  await page.getByLabel('Id of the job').fill('ending');
  await stop.click();
  await button(page, 'Start again').click();
  await inDialog(page, 'Start again').click();
  await button(page, 'Stop').waitFor();
  await sees(page, /1 of 1 running/);
  expect((await agent.get('/v1/job/ending')).Stop).toBe(false);
});

test('acts that the token may not do name what is missing, and a job that is gone is told', async () => {
  await agent.register(sleepingJob('guarded'));
  const rules = 'namespace "default" { policy = "read" }';
  await agent.request('PUT', '/v1/acl/policy', { Name: 'reader', Rules: rules });
  const { json } = await agent.request('PUT', '/v1/acl/token', { Policies: [{ Name: 'reader' }] });
  const page = await open('jobs/default/guarded', json.SecretID);
  const stop = button(page, 'Stop');
  await expect
    .poll(() => stop.getAttribute('title'))
    .toContain('namespace:submit-job in the namespace default');
  expect(await stop.getAttribute('aria-disabled')).toBe('true');
  await agent.request('DELETE', '/v1/job/guarded?purge=true');
  await sees(page, 'Job not found');
});
