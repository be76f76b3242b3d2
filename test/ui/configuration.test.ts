/** Configuration entries, discovery chains and intentions in a browser, against a real agent. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../support/accessibility.ts';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openUi, signIn } from '../support/ui.ts';

let browser: TestBrowser;
let agent: Agent;

const hostile = '<img src=x onerror="throw 1">\u202e\u0007</script>';
const entries = [
  { Kind: 'service-defaults', Name: 'shop', Protocol: 'http', Meta: { owner: hostile } },
  { Kind: 'service-defaults', Name: 'checkout', Protocol: 'http' },
  { Kind: 'service-defaults', Name: 'checkout-next', Protocol: 'http' },
  {
    Kind: 'service-router',
    Name: 'shop',
    Routes: [
      {
        Match: { HTTP: { PathPrefix: '/<b>checkout' } },
        Destination: { Service: 'checkout' },
      },
    ],
  },
  {
    Kind: 'service-splitter',
    Name: 'checkout',
    Splits: [{ Weight: 90 }, { Weight: 10, Service: 'checkout-next' }],
  },
  {
    Kind: 'service-intentions',
    Name: 'shop',
    Sources: [
      { Name: 'api', Action: 'allow', Description: hostile },
      {
        Name: 'web',
        Permissions: [{ Action: 'allow', HTTP: { PathPrefix: '/public' } }],
      },
      { Name: '*', Action: 'deny' },
    ],
  },
  { Kind: 'service-intentions', Name: '*', Sources: [{ Name: 'monitor', Action: 'allow' }] },
];

beforeAll(async () => {
  [browser, agent] = await Promise.all([startBrowser(), startAgent()]);
  for (const entry of entries) await write(entry);
});
afterAll(async () => {
  await browser?.close();
  await endAgents();
});

async function write(entry: object): Promise<void> {
  const { status, text } = await agent.request('PUT', '/v1/config', entry);
  expect([status, text.trim()]).toEqual([200, 'true']);
}

async function signedIn(path: string): Promise<Page> {
  const page = await openUi(browser, { address: agent.address, path });
  await signIn(page, agent.token);
  return page;
}

/** No rule of accessibility is broken, and nothing hostile became part of the page. */
async function expectSound(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  expect(await violations(page)).toEqual([]);
  expect(await page.locator('img[src=x]').count()).toBe(0);
  const text = (await page.locator('body').textContent()) ?? '';
  expect(['\u202e', '\u0007'].filter((mark) => text.includes(mark))).toEqual([]);
}

const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true });

test('an entry is made from the example of its kind, with the faults of the server at their lines', async () => {
  const page = await signedIn('configuration?tab=kinds');
  await page.getByRole('link', { name: 'Create an entry of service-splitter' }).click();
  const editor = page.getByLabel('The entry as JSON');
  await expect.poll(() => editor.inputValue()).toContain('"service-splitter"');
  const entry = {
    Kind: 'service-splitter',
    Name: 'shop',
    Splits: [{ Weight: 60 }, { Weight: 30, Nix: 1 }],
  };
  await editor.fill(JSON.stringify(entry, undefined, 2));
  await page.getByText('Splits[1].Nix is not a known field').waitFor();
  await page.getByRole('button', { name: 'Line 10' }).click();
  expect(
    await editor.evaluate((area: HTMLTextAreaElement) =>
      area.value.slice(area.selectionStart, area.selectionEnd),
    ),
  ).toContain('"Nix"');
  const review = page.getByRole('button', { name: 'Review' });
  expect(await review.getAttribute('aria-disabled')).toBe('true');
  const splits = [{ Weight: 70 }, { Weight: 30, Service: 'checkout-next' }];
  await editor.fill(JSON.stringify({ ...entry, Splits: splits }));
  await page.getByText('The server accepts this entry').waitFor();
  await review.click();
  await page.getByRole('button', { name: 'Create the entry' }).click();
  await heading(page, 'shop').waitFor();
  expect(await agent.get('/v1/config/service-splitter/shop')).toMatchObject({
    Splits: [{ Weight: 70 }, { Weight: 30 }],
  });
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByLabel('Name', { exact: true }).fill('shop');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await heading(page, 'Configuration').waitFor();
  const { status } = await agent.request('GET', '/v1/config/service-splitter/shop');
  expect(status).toBe(404);
});

test('a change is not written over that of somebody else, and what was typed stays', async () => {
  const defaults = { Kind: 'service-defaults', Name: 'contested', Protocol: 'http' };
  await write(defaults);
  const page = await signedIn('configuration/service-defaults/contested?tab=edit');
  const editor = page.getByLabel('The entry as JSON');
  await editor.fill(JSON.stringify({ ...defaults, Protocol: 'grpc' }));
  await page.getByText('The server accepts this entry').waitFor();
  await page.getByRole('button', { name: 'Review' }).click();
  await write({ ...defaults, Protocol: 'tcp' });
  await page.getByRole('button', { name: 'Write the entry' }).click();
  await page.getByText('Somebody else has changed the entry').waitFor();
  await page.getByRole('button', { name: 'Back to the text' }).click();
  expect(await editor.inputValue()).toContain('grpc');
  expect(await agent.get('/v1/config/service-defaults/contested')).toMatchObject({
    Protocol: 'tcp',
  });
});

test('a chain is drawn, explained and listed, follows its entries, and takes overrides', async () => {
  const page = await signedIn('chains/shop');
  const drawing = page.getByRole('region', { name: 'The chain, drawn' });
  await drawing.getByRole('button', { name: /Splitter .* checkout/ }).click();
  const words = page.getByRole('region', { name: 'In words' });
  await expect
    .poll(() => words.getByRole('listitem').allInnerTexts())
    .toEqual([expect.stringContaining('90 %')]);
  await expectSound(page);
  await page.getByRole('tab', { name: /^List/ }).click();
  const row = page.getByRole('row', { name: /^Splitter checkout/ });
  await expect.poll(() => row.textContent()).toContain('10 %');
  await write({
    Kind: 'service-splitter',
    Name: 'checkout',
    Splits: [{ Weight: 75 }, { Weight: 25, Service: 'checkout-next' }],
  });
  await expect.poll(() => row.textContent()).toContain('25 %');
  await page.getByText('Overrides', { exact: true }).click();
  await page.getByLabel('Protocol').selectOption('tcp');
  await page.getByText('with overrides').waitFor();
  await expect.poll(() => row.count()).toBe(0);
  await expectSound(page);
});

interface Check {
  readonly Allowed: boolean;
  readonly Intention: { readonly Permissions: unknown } | null;
}

test('the matrix says of every pair what the server says, and a cell tells why', async () => {
  const page = await signedIn('intentions');
  const cells = page.getByRole('button', { name: /^Calls of/ });
  await expect.poll(() => cells.count()).toBe(16);
  const names = await cells.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
  const pairs = ['api', 'monitor', 'shop', 'web'].flatMap((source) =>
    ['api', 'monitor', 'shop', 'web'].map((destination) => [source, destination] as const),
  );
  const expected = await Promise.all(
    pairs.map(async ([source, destination]) => {
      const { Allowed, Intention }: Check = await agent.get(
        `/v1/connect/intentions/check?source=${source}&destination=${destination}`,
      );
      const decided = Allowed ? 'allowed' : 'denied';
      const says =
        Intention === null
          ? `${decided} by default`
          : Intention.Permissions === null
            ? decided
            : 'request by request';
      return `Calls of ${source} to ${destination}: ${says}`;
    }),
  );
  expect(names).toEqual(expected);
  await cells.first().focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.getByText('The intention from "api" to "shop" of precedence 9 allows it.').waitFor();
  await expectSound(page);
  await page.getByLabel('Caller', { exact: true }).fill('web');
  await page.getByLabel(/^Path of a request/).fill('/public/a');
  await page.getByLabel(/^Path of a request/).press('Enter');
  await page.getByText('allows it by its permission 1 of 1').waitFor();
});

test('an intention is planned before it is written, and copied as the request that writes it', async () => {
  await write({
    Kind: 'service-intentions',
    Name: 'planned',
    Sources: [{ Name: 'first', Action: 'allow' }],
  });
  const page = await signedIn('intentions?tab=list');
  await page.getByRole('button', { name: 'Create an intention' }).click();
  const form = page.getByRole('dialog', { name: 'Create an intention' });
  await form.getByLabel('Caller', { exact: true }).fill('second');
  await form.getByLabel('Called service').fill('planned');
  await form.getByRole('button', { name: 'See the plan' }).click();
  const plan = page.getByRole('dialog', { name: 'The plan' });
  await plan
    .getByText(/service-intentions/)
    .first()
    .waitFor();
  await plan.getByRole('button', { name: 'Apply the plan' }).click();
  await page.getByRole('dialog').first().waitFor({ state: 'detached' });
  const sources = async () =>
    (await agent.get('/v1/config/service-intentions/planned')).Sources.map(
      ({ Name, Action }: { Name: string; Action: string }) => [Name, Action],
    );
  expect((await sources()).toSorted()).toEqual([
    ['first', 'allow'],
    ['second', 'allow'],
  ]);

  const row = page.getByRole('row', { name: /second.*planned/s });
  await row.getByRole('button', { name: /^Delete/ }).click();
  const removal = page.getByRole('dialog');
  await removal.getByRole('button', { name: 'Copy as …' }).click();
  const curl = (await page.getByRole('menuitem', { name: /^curl/ }).textContent()) ?? '';
  expect(curl).toMatch(/-X PUT --json .*"Name":"first".*\/v1\/config\?.*cas=\d+/);
  expect(curl).not.toContain('"second"');
  await page.keyboard.press('Escape');
  await removal.getByRole('button', { name: 'See the plan' }).click();
  await plan.getByRole('button', { name: 'Apply the plan' }).click();
  await expect.poll(() => sources()).toEqual([['first', 'allow']]);
});

test('an intention is made, changed and deleted', async () => {
  const page = await signedIn('intentions?tab=list');
  await page.getByRole('button', { name: 'Create an intention' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Caller', { exact: true }).fill('billing');
  await dialog.getByLabel('Called service').fill('checkout');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  const row = page.getByRole('row', { name: /billing.*checkout/s });
  await expect.poll(() => row.textContent()).toContain('Allowed');
  await row.getByRole('button', { name: /^Edit/ }).click();
  await dialog.getByLabel('Calls are').selectOption('deny');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await expect.poll(() => row.textContent()).toContain('Denied');
  await expectSound(page);
  await row.getByRole('button', { name: /^Delete/ }).click();
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect.poll(() => row.count()).toBe(0);
  const { status } = await agent.request('GET', '/v1/config/service-intentions/checkout');
  expect(status).toBe(404);
});

test('lists and entries with hostile texts are sound', async () => {
  const page = await signedIn('configuration');
  await page.getByRole('row', { name: /shop.*service-router/s }).waitFor();
  await expectSound(page);
  await page.getByRole('link', { name: 'shop', exact: true }).first().click();
  await heading(page, 'shop').waitFor();
  await page.getByText('onerror').first().waitFor();
  await expectSound(page);
  await page.getByRole('tab', { name: 'Edit' }).click();
  await page.getByText('The server accepts this entry').waitFor();
  expect(await violations(page)).toEqual([]);
});
