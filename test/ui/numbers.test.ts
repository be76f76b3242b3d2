/** Every number that a page shows is the number that the raw lists of the API give at the same moment. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/agent.ts';
import { drawn } from '../support/draw.ts';
import { signIn, uiIsThere } from '../support/ui.ts';
import { UiTests } from '../support/ui-tests.ts';
import { makeNumbers, manyJobs, Truth } from './numbers.test-helper.ts';
import { accessViews, makeAccess } from './numbers-access.test-helper.ts';
import { clusterViews } from './numbers-cluster.test-helper.ts';
import { jobViews } from './numbers-jobs.test-helper.ts';
import { Shown } from './numbers-shown.test-helper.ts';

const ui = new UiTests();
let endNodes: () => void = () => {};
let truth: Truth;
/** Of a token that may read one namespace and nothing else. */
let narrow: { readonly token: string; readonly truth: Truth };
let page: Page;
let on: Shown;

beforeAll(async () => {
  endNodes = await makeNumbers(ui);
  truth = new Truth(ui);
  const Rules = 'namespace "team" { policy = "read" }';
  await ui.made('acl/policy', { Name: 'narrow', Rules });
  const { SecretID } = await ui.made('acl/token', { Policies: [{ Name: 'narrow' }] });
  await makeAccess(ui);
  narrow = { token: SecretID, truth: new Truth(ui, SecretID) };
  page = await (await ui.browser.window()).newPage();
  on = new Shown(page);
  await uiIsThere(ui.agent.address);
  await go('settings');
  await signIn(page, ui.agent.token);
});

afterAll(() => endNodes());

const go = (path: string) => page.goto(`${ui.agent.address}/ui/${path}`);

/** Goes there as a link does, so that the page keeps its token. */
async function show(path: string): Promise<void> {
  await page.evaluate((address) => {
    for (const to of ['settings', address]) {
      const link = document.createElement('a');
      link.href = to === '' ? './' : to;
      document.body.append(link);
      link.click();
      link.remove();
    }
  }, path);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

test.each(drawn([...clusterViews, ...accessViews, ...jobViews]))(
  '$name',
  async ({ path, isNarrow, shown, told }) => {
    const of = isNarrow ? narrow.truth : truth;
    if (isNarrow) await enter(narrow.token);
    try {
      await show(typeof path === 'string' ? path : await path(truth));
      await eventually(async () => {
        expect(await shown(on)).toEqual(await told(of));
      });
    } finally {
      if (isNarrow) await enter(ui.agent.token);
    }
  },
);

async function enter(token: string): Promise<void> {
  await page.evaluate(() => sessionStorage.clear());
  await go('settings');
  await signIn(page, token);
}

test('a list of more rows than a window has says how many of how many', async () => {
  await show('jobs?namespace=many');
  const more = page.getByRole('button', { name: 'Load 100 more' });
  for (const count of [100, 200, 300, 400]) {
    await expect.poll(() => on.foot()).toBe(`${count} of ${manyJobs} rows, newest change first`);
    // Not all rows are here, so they are not sorted by what the server does not sort.
    expect(await page.getByRole('button', { name: 'Status', exact: true }).count()).toBe(0);
    await more.click();
  }
  await expect.poll(() => on.foot()).toBe(`500 of ${manyJobs} rows, newest change first`);
  await page.getByRole('button', { name: 'Next 500 rows' }).click();
  await expect.poll(() => on.foot()).toBe(`3 of ${manyJobs} rows, newest change first`);
});
