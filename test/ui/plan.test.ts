/** The pages of plans in a browser: a job file is written, planned and applied; plans are seen, refused and applied. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../support/accessibility.ts';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { button, inDialog, sees, sleepingJob } from '../support/job-pages.ts';
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

async function ask(method: string, path: string, body?: unknown) {
  const answer = await agent.request(method, path, body);
  expect([path, answer.status, answer.status === 200 ? '' : answer.json]).toEqual([path, 200, '']);
  return answer.json;
}

const editor = (page: Page) => page.getByRole('textbox', { name: 'Job file' });
const file = (count: string, rest = '') => `job "typed" {
  datacenters = ["*"]
  group "main" {
    count = ${count}
    task "run" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["100000"]
      }
      ${rest}
    }
  }
}
`;

async function tokenOf(name: string, rules: string): Promise<string> {
  await ask('PUT', '/v1/acl/policy', { Name: name, Rules: rules });
  return (await ask('PUT', '/v1/acl/token', { Policies: [{ Name: name }] })).SecretID;
}

test('faults are told while a job file is typed, and its plan is carried out as it was shown', async () => {
  const page = await open('plan');
  await editor(page).fill(file('two'));
  const faults = page.getByRole('list', { name: 'Faults' });
  await faults.getByRole('button', { name: /line 4/ }).click();
  await page.locator('.cm-lintRange-error').first().waitFor();
  await expect
    .poll(() => page.evaluate(() => getSelection()?.anchorNode?.textContent))
    .toContain('two');
  // A fault of the content, which the server tells by the field of the job.
  await editor(page).fill(file('-1'));
  await faults.getByRole('button', { name: /line 4.*Count/ }).waitFor();

  await editor(page).fill(`variable "count" {\n  type = number\n}\n${file('var.count', 'reso')}`);
  await page.getByRole('textbox', { name: 'count' }).fill('2');
  await editor(page).getByText('reso', { exact: true }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('Control+Space');
  await page.getByRole('option', { name: /^resources/ }).click();
  await page.keyboard.type('memory = 20');
  await sees(page, 'No faults');

  await page.keyboard.press('Control+Enter');
  const plan = page.getByRole('region', { name: 'The plan' });
  await plan.getByText('2 to place').waitFor();
  const ids = await plan.locator('tbody th').allInnerTexts();
  await plan.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('heading', { level: 1, name: 'typed' }).waitFor();
  const allocations: { readonly ID: string }[] = await ask('GET', '/v1/job/typed/allocations');
  expect(allocations).toHaveLength(2);
  for (const { ID } of allocations) expect(ids.join(' ')).toContain(ID.slice(0, 8));

  // The file of the job is what the next plan begins with.
  await page.goto(`${agent.address}/ui/plan?job=default/typed`);
  await signIn(page, agent.token);
  await expect.poll(() => editor(page).textContent()).toContain('var.count');
  expect(await page.getByRole('textbox', { name: 'count' }).inputValue()).toBe('2');
});

test('a text that is typed stays through other pages and another sign-in', async () => {
  const page = await open('plan');
  await editor(page).fill('job "half" {');
  await page.getByRole('link', { name: 'Namespaces' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Namespaces' }).waitFor();
  await page.goBack();
  await expect.poll(() => editor(page).textContent()).toContain('"half"');
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out everywhere' }).click();
  await signIn(page, agent.token);
  await expect.poll(() => editor(page).textContent()).toContain('"half"');
});

test('a plan that is outdated is refused, tells what moved, and is made again', async () => {
  await agent.register(sleepingJob('moving', { Type: 'batch' }));
  const page = await open('jobs/default/moving?tab=scale');
  await button(page, 'Scale').click();
  await page.getByLabel('Count', { exact: true }).fill('3');
  await inDialog(page, 'See the plan').click();
  const dialog = page.getByRole('dialog', { name: 'The plan' });
  await dialog.getByText('2 to place').waitFor();
  await ask('PUT', '/v1/job/moving/scale', {
    Count: 2,
    Target: { Group: 'main' },
    Message: 'other',
  });
  await expect.poll(async () => (await ask('GET', '/v1/job/moving/allocations')).length).toBe(2);
  await dialog.getByRole('button', { name: 'Apply the plan' }).click();
  await dialog.getByText('Nothing was done: something has moved since it was planned').waitFor();
  await dialog
    .getByRole('alert')
    .getByText(/moving/)
    .first()
    .waitFor();
  await dialog.getByRole('button', { name: 'Plan again' }).click();
  await dialog.getByText('1 to place').waitFor();
  await dialog.getByRole('button', { name: 'Apply the plan' }).click();
  await page.getByRole('dialog').first().waitFor({ state: 'detached' });
  expect((await ask('GET', '/v1/job/moving')).TaskGroups[0].Count).toBe(3);
});

test('a plan is opened by its address, and applied only by a token that may', async () => {
  await agent.register(sleepingJob('shared', { Type: 'batch' }));
  const made = await ask('POST', '/v1/plan', {
    Kind: 'scale',
    JobID: 'shared',
    Group: 'main',
    Count: 0,
  });
  const stranger = await tokenOf('stranger', 'namespace "default" { policy = "read" }');
  const refused = await open(`plans/${made.ID}`, stranger);
  await refused
    .getByRole('alert')
    .getByText(/scale-job|submit-job/)
    .first()
    .waitFor();

  const planner = await tokenOf(
    'planner',
    'namespace "default" { capabilities = ["plan-job", "read-job", "parse-job"] }',
  );
  const page = await open('plan', planner);
  await editor(page).fill(file('1').replace('typed', 'proposed'));
  await sees(page, 'No faults');
  await button(page, 'Plan').click();
  await page.getByRole('link', { name: 'its own page' }).click();
  await page.getByRole('heading', { level: 1, name: 'Plan for job proposed' }).waitFor();
  const apply = button(page, 'Apply');
  await expect.poll(() => apply.getAttribute('title')).toContain('submit-job');
  expect(await apply.getAttribute('aria-disabled')).toBe('true');

  // A colleague may: the address is enough, also to plan the act again, since something has moved.
  await agent.register(sleepingJob('proposed', { Type: 'batch' }));
  const colleague = await open(new URL(page.url()).pathname.replace('/ui/', ''));
  await colleague.getByText('1 to place').waitFor();
  await button(colleague, 'Apply').click();
  await colleague.getByText('Nothing was done: something has moved since').waitFor();
  await page.getByText(/refused at index/).waitFor();
  const first = colleague.url();
  await colleague.getByRole('button', { name: 'Plan again' }).last().click();
  await colleague.waitForURL((url) => url.href !== first);
  await colleague.getByText('made by you').waitFor();
  await colleague.getByText('Waits').waitFor();
  await button(colleague, 'Apply').click();
  await colleague.getByRole('heading', { level: 1, name: 'proposed' }).waitFor();
});

test('a revert, a drain and the eligibility of a node are planned on their pages, and carried out by these plans', async () => {
  await agent.register(sleepingJob('moved', { Meta: { color: 'red' } }));
  await agent.register(sleepingJob('moved', { Meta: { color: 'blue' } }));
  const page = await open('jobs/default/moved?tab=versions');
  const plan = page.getByRole('dialog', { name: 'The plan' });
  const carryOut = async (expected: RegExp) => {
    await page.getByRole('dialog').getByRole('button', { name: 'See the plan' }).click();
    await expect.poll(() => plan.textContent()).toMatch(expected);
    await plan.getByRole('button', { name: 'Apply the plan' }).click();
    await page.getByRole('dialog').first().waitFor({ state: 'detached' });
  };
  await button(page, 'Revert to version 0').click();
  await carryOut(/revert the job "moved" from version 1 to 0/);
  await sees(page, 'Version 2');
  expect((await ask('GET', '/v1/job/moved')).Meta).toEqual({ color: 'red' });

  const [node] = await ask('GET', '/v1/nodes');
  const eligibility = async () => (await ask('GET', `/v1/node/${node.ID}`)).SchedulingEligibility;
  await page.goto(`${agent.address}/ui/nodes/${node.ID}`);
  await signIn(page, agent.token);
  await button(page, 'Drain …').click();
  await page.getByLabel('Deadline').selectOption('Now');
  await carryOut(/to stop/);
  await expect.poll(eligibility).toBe('ineligible');
  await button(page, 'Make eligible …').click();
  await carryOut(/make the node .* eligible/);
  await expect.poll(eligibility).toBe('eligible');
});

test('a job in JSON is planned as one in HCL is', async () => {
  const page = await open('plan');
  await editor(page).fill(JSON.stringify(sleepingJob('in-json', { Priority: 900 }), undefined, 2));
  await page
    .getByRole('list', { name: 'Faults' })
    .getByRole('button', { name: /Priority/ })
    .waitFor();
  await editor(page).fill(JSON.stringify(sleepingJob('in-json'), undefined, 2));
  await sees(page, 'No faults');
  await button(page, 'Plan').click();
  await page.getByRole('region', { name: 'The plan' }).getByText('1 to place').waitFor();
});

const hostile = '<img src=x onerror="globalThis.wasHarmed=1">\u202eevil';
const shown = '<img src=x onerror="globalThis.wasHarmed=1">\\u202eevil';

test('no text of a plan is markup', async () => {
  const Job = sleepingJob('odd', { Meta: { [hostile]: hostile } });
  const plan = await ask('POST', '/v1/plan', { Kind: 'job', Job });
  const page = await open(`plans/${plan.ID}`);
  await page.getByText('All of it: the job is new').click();
  await page.getByText(shown).first().waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Plan', exact: true }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Plan a job' }).waitFor();
  await editor(page).fill(`job "${hostile.replaceAll('"', "'")}" { nonsense = 1 }`);
  await page.getByRole('list', { name: 'Faults' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('main').getByRole('link', { name: 'Plans', exact: true }).click();
  await page.getByText('job odd').first().waitFor();
  expect(await page.evaluate(() => 'wasHarmed' in globalThis)).toBe(false);
});
