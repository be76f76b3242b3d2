/** Events as they happen, in a browser against a real agent. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Event } from '../../src/model/event/event.ts';
import { createClient } from '../../src/sdk/client.ts';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openUi, signIn } from '../support/ui.ts';

let browser: TestBrowser;
let agent: Agent;

beforeAll(async () => {
  [browser, agent] = await Promise.all([startBrowser(), startAgent({ args: ['--server-only'] })]);
});
afterAll(async () => {
  await browser?.close();
  await endAgents();
});

async function signedIn(path: string): Promise<Page> {
  const page = await openUi(browser, { address: agent.address, path });
  await signIn(page, agent.token);
  return page;
}

async function write(path: string, note = 'x'): Promise<void> {
  const answer = await agent.request('PUT', `/v1/var/${path}`, { Items: { note } });
  expect([path, answer.status]).toEqual([path, 200]);
}

/** Waits until the page follows the stream, and so hears of everything from now on. */
const following = (page: Page): Promise<void> => page.getByText('events a second').waitFor();

const numbersIn = async (page: Page): Promise<Readonly<Record<string, number>>> => {
  const text = await page.getByTestId('counts').textContent();
  const found = [...text!.matchAll(/(\d[\d,]*) ([a-z ]+)/g)];
  return Object.fromEntries(
    found.map(([, count, word]) => [word!.trim(), Number(count!.replaceAll(',', ''))]),
  );
};

const keys = (page: Page): Promise<string[]> =>
  page.locator('tr.list-row td:nth-child(4)').allInnerTexts();

test('events appear, are filtered with exact counts, wait in a pause, and open as JSON', async () => {
  const page = await signedIn('events?topic=Variable');
  await following(page);
  await write('first');
  await expect.poll(() => keys(page)).toEqual(['first']);
  await page.getByRole('button', { name: 'Clear' }).click();
  await write('apps/web', '<script>alert(1)</script>');
  await write('apps/other');
  await expect.poll(() => keys(page)).toEqual(['apps/other', 'apps/web']);
  expect(await numbersIn(page)).toEqual({ received: 2, shown: 2 });
  await page.getByRole('textbox', { name: 'Filter the events' }).fill('web');
  await expect.poll(() => keys(page)).toEqual(['apps/web']);
  await write('apps/third');
  await expect.poll(() => numbersIn(page)).toEqual({ received: 3, shown: 1, 'not shown': 2 });
  await page.getByRole('textbox', { name: 'Filter the events' }).fill('Key == `apps/web`');
  await expect.poll(() => keys(page)).toEqual(['apps/web']);
  await page.getByRole('textbox', { name: 'Filter the events' }).fill('Kye == 1');
  await page.locator('[aria-invalid=true]').waitFor();
  await page.getByRole('textbox', { name: 'Filter the events' }).fill('');
  const before = ['apps/third', 'apps/other', 'apps/web'];
  await expect.poll(() => keys(page)).toEqual(before);
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('p');
  await page.getByText('Paused').waitFor();
  await write('apps/web');
  await expect.poll(async () => (await numbersIn(page)).wait).toBe(1);
  expect(await keys(page)).toEqual(before);
  await page.getByRole('button', { name: 'Go on' }).click();
  await expect.poll(() => keys(page)).toEqual(['apps/web', ...before]);
  expect(await numbersIn(page)).toEqual({ received: 4, shown: 4 });
  await page
    .getByRole('button', { name: /^Show the event Variable/ })
    .first()
    .click();
  await page.getByRole('dialog').getByText('"apps/web"').first().waitFor();
  await page.getByRole('dialog').getByText('"Index"').waitFor();
});

test('of more events than the window has room for, the newest are shown and the others counted', async () => {
  const page = await signedIn('events?topic=Variable');
  await following(page);
  const total = 544;
  const atOnce = 32;
  for (let n = 0; n < total; n += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, (_, at) => write(`many/${n + at}`)));
  }
  await write('many/last');
  await expect
    .poll(() => numbersIn(page))
    .toEqual({ received: total + 1, shown: 500, 'not shown': total - 499 });
  expect((await keys(page))[0]).toBe('many/last');
});

async function register(id: string, count: number): Promise<void> {
  const Task = { Name: 'task', Driver: 'mock', Resources: { CPU: 1, MemoryMB: 10 } };
  const TaskGroups = [{ Name: 'group', Count: count, Tasks: [Task] }];
  const answer = await agent.request('POST', '/v1/jobs', { Job: { ID: id, TaskGroups } });
  expect([answer.status, answer.json]).toMatchObject([200, {}]);
}

test('of a flood every event is counted and filtered, and the last is shown', async () => {
  const ending = new AbortController();
  const client = createClient({ address: agent.address, token: agent.token });
  const all: Event[] = [];
  const { signal } = ending;
  const reading = (async () => {
    for await (const { Events = [] } of client.events.follow({ topics: ['Allocation'], signal })) {
      all.push(...Events);
    }
  })().catch(() => {});
  const page = await signedIn('events?topic=Allocation&filter=few');
  await following(page);
  const node = await agent.request('PUT', '/v1/node/register', {
    SecretID: randomUUID(),
    Node: {
      ID: randomUUID(),
      Name: 'paper',
      Datacenter: 'dc1',
      NodeResources: {
        Cpu: { CpuShares: 1_000_000 },
        Memory: { MemoryMB: 1_000_000 },
        Disk: { DiskMB: 10_000_000 },
      },
      Drivers: { mock: { Detected: true, Healthy: true } },
    },
  });
  expect(node.status).toBe(200);
  const [few, many] = [3, 1_500];
  await register('few', few);
  await register('many', many);
  // Later the server may miss the node, which are events as well.
  await expect
    .poll(async () => {
      const { received = 0, shown } = await numbersIn(page);
      const matching = all.filter(({ FilterKeys }) => FilterKeys?.includes('few'));
      const isAll = received === all.length && received >= few + many;
      return isAll && shown === matching.length;
    })
    .toBe(true);
  await page.getByRole('textbox', { name: 'Filter the events' }).fill('');
  await expect
    .poll(async () => {
      const { received = 0, shown, 'not shown': notShown } = await numbersIn(page);
      const [last] = await page.locator('tr.list-row td:nth-child(6)').allInnerTexts();
      const isLast = last?.replaceAll(',', '') === String(all.at(-1)!.Index);
      return isLast && received === all.length && shown === 500 && notShown === received - 500;
    })
    .toBe(true);
  ending.abort();
  await reading;
});

test('keys with markup and control characters are shown as they are', async () => {
  const page = await signedIn('events?topic=ACLToken');
  const odd = '<img src=x onerror=alert(1)>\u202eabc';
  await expect
    .poll(async () => {
      await agent.request('PUT', '/v1/acl/token', {
        Description: odd,
        Policies: [{ Name: 'builtin/global-read-only' }],
        Local: true,
      });
      return page.locator('tr.list-row').count();
    })
    .toBeGreaterThan(0);
  await page
    .getByRole('button', { name: /^Show the event/ })
    .first()
    .click();
  await page.getByRole('dialog').getByText('\\u202e').first().waitFor();
  expect(await page.locator('dialog img').count()).toBe(0);
});
