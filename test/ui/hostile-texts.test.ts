/** Every page of a cluster in which each text that somebody may choose is markup, and has characters that turn or hide words. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { drawn } from '../support/draw.ts';
import { signIn, uiIsThere, watchFaults } from '../support/ui.ts';
import { UiTests } from '../support/ui-tests.ts';
import { goTo, makeWorld, views, type World } from './every-page.test-helper.ts';

const ui = new UiTests();
const hostile = '<img src=x onerror="globalThis.wasHarmed=1">\u202eevil\u0007\u001b[31m';
let world: World;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  world = await makeWorld(ui, hostile);
  page = await (await ui.browser.window()).newPage();
  faults = watchFaults(page);
  await uiIsThere(ui.agent.address);
  await page.goto(`${ui.agent.address}/ui/settings`);
  await signIn(page, ui.agent.token);
});

/** Views that surely say such a text, so that the world is known to have it. */
const saying = new Set([
  '/',
  '/access/tokens',
  '/access/roles/:id',
  '/access/methods/:name',
  '/allocations',
  '/allocations/:id overview',
  '/configuration/:kind/:name fields',
  '/intentions list',
  '/jobs',
  '/jobs/:namespace/:id overview',
  '/jobs/:namespace/:id definition',
  '/namespaces',
  '/nodes/:id allocations',
  '/plans/:id',
  '/services/:name',
]);

test.each(drawn(views))('$name makes no text markup, and shows what is hidden', async (view) => {
  await goTo(page, world, view);
  if (saying.has(view.name)) await page.getByText('evil').first().waitFor({ state: 'attached' });
  const found = await page.evaluate(() => {
    const text = document.body.textContent;
    return {
      isHarmed: 'wasHarmed' in globalThis || document.querySelector('img[src^=x]') !== null,
      hidden: ['\u202e', '\u0007', '\u001b'].filter((mark) => text.includes(mark)),
    };
  });
  expect(found).toEqual({ isHarmed: false, hidden: [] });
  expect(faults).toEqual([]);
});
