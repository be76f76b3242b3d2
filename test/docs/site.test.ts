/** The documentation as a site, as its readers see it in a browser. */
import { globSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runStep } from '../../tools/steps.ts';
import { checkout, newDirectory } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';

const folder = newDirectory('site');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};
let browser: TestBrowser;
let server: Server;
let address: string;

beforeAll(async () => {
  const step = { title: 'site', command: ['tools/site/build.ts', folder] };
  expect(await runStep(step)).toMatchObject({ passed: true });
  server = createServer(({ url = '/' }, response) => {
    const path = join(folder, new URL(url, 'http://site').pathname.replace(/\/$/, '/index.html'));
    const isThere = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    response.writeHead(isThere ? 200 : 404, { 'content-type': types[extname(path)] ?? '' });
    response.end(isThere ? readFileSync(path) : undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await startBrowser();
}, 240_000);

afterAll(async () => {
  await browser?.close();
  server?.close();
});

/** A page of the site, and what it asked other machines for. */
async function opened(
  path: string,
  width: number,
): Promise<{ page: Page; context: BrowserContext; foreign: string[] }> {
  const context = await browser.window();
  const page = await context.newPage();
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(address)) foreign.push(request.url());
  });
  await page.setViewportSize({ width, height: 800 });
  await page.goto(address + path);
  return { page, context, foreign };
}

test('every page of the documentation is a page of the site', () => {
  const pages = globSync('docs/**/*.md', { cwd: checkout }).map((page) =>
    page
      .replace(/^docs\//, '')
      .replace(/README\.md$/, 'index.md')
      .replace(/\.md$/, '.html'),
  );
  const made = globSync('**/*.html', { cwd: folder });
  expect(pages.filter((page) => !made.includes(page))).toEqual([]);
});

const shown = [
  '/',
  '/guides/jobs.html',
  '/reference/limits.html',
  '/coming-from/nomad.html',
  '/security.html',
];

test.each(shown.flatMap((path) => [360, 1280].map((width) => [path, width] as const)))(
  '%s fits a width of %i, and asks no other machine',
  async (path, width) => {
    const { page, context, foreign } = await opened(path, width);
    expect(await page.locator('h1').first().isVisible()).toBe(true);
    const shownWidth = await page.evaluate('document.documentElement.scrollWidth');
    expect(shownWidth).toBeLessThanOrEqual(width);
    expect(foreign).toEqual([]);
    await context.close();
  },
);

test('a row of many columns is a list on a phone, and the sections of a page are listed beside it alone', async () => {
  const { page, context } = await opened('/reference/agent-configuration.html', 360);
  expect(await page.locator('thead.many-columns').first().isVisible()).toBe(false);
  const title = await page.evaluate<string>(
    `getComputedStyle(document.querySelector('td[data-title="default"]'), '::before').content`,
  );
  expect(title).toContain('default');
  await page.goto(`${address}/guides/jobs.html`);
  expect(await page.locator('.vp-doc ul a[href="#go-back"]').count()).toBe(0);
  expect(await page.locator('h2#go-back').count()).toBe(1);
  await context.close();
});

test('a reader finds a page by a word in it', async () => {
  const { page, context } = await opened('/', 1280);
  const box = page.locator('.VPLocalSearchBox input');
  // The page does not hear keys before its scripts run.
  const pressed = async () => {
    await page.keyboard.press('/');
    return box.count();
  };
  await expect.poll(pressed).toBe(1);
  await box.fill('etcdctl');
  await page.locator('.VPLocalSearchBox .result').first().click();
  await expect.poll(() => page.url()).toContain('/operations/etcd');
  await context.close();
});

test('a command is copied as it stands', async () => {
  const { page, context } = await opened('/guides/jobs.html', 1280);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const block = page.locator('.language-sh').first();
  await block.hover();
  const copied = async () => {
    await block.locator('button.copy').click();
    return (await page.evaluate<string>('navigator.clipboard.readText()')).trim();
  };
  await expect
    .poll(copied)
    .toBe('bin/roster agent --dev --root-token 11111111-1111-4111-8111-111111111111');
  await context.close();
});

test('a file of the repository is named, and not linked', async () => {
  const { page, context } = await opened('/honest-limits.html', 1280);
  expect(await page.locator('span[title="in the repository"]').first().textContent()).toBe(
    'BENCHMARKS.md',
  );
  await context.close();
});
