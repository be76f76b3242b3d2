import { expect, test } from 'vitest';
import { type Redirect, systemBrowser } from './browser.ts';

const never = new AbortController().signal;
const listen = (address = '127.0.0.1:0', signal = never) =>
  systemBrowser.awaitRedirect(address, signal);

const fine = { isFine: true, title: 'Fine', text: 'So it is.' };
const visit = (redirect: Redirect, query = '', init: RequestInit = {}) =>
  fetch(`${redirect.uri}${query}`, init);

test('the redirect passes on the parameters of the provider, and the browser shows the outcome', async () => {
  const redirect = await listen();
  expect(redirect.uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/oidc\/callback$/);
  const page = visit(redirect, '?state=s&code=a%2Bb');
  const arrival = await redirect.next();
  expect(Object.fromEntries(arrival.query)).toEqual({ state: 's', code: 'a+b' });
  await arrival.answer(fine);
  const { status, headers } = await page;
  expect(status).toBe(200);
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(headers.get('cache-control')).toBe('no-store');
  expect(await (await page).text()).toMatch(
    /<h1>Fine<\/h1>[\s\S]*So it is\.[\s\S]*close this window/,
  );
  await redirect.close();
  await expect(visit(redirect)).rejects.toThrow();
});

test('text on the page is escaped', async () => {
  const redirect = await listen();
  const page = visit(redirect);
  const { answer } = await redirect.next();
  await answer({ isFine: false, title: '<i>', text: `<script>"&'\ud800` });
  expect((await page).status).toBe(403);
  const html = await (await page).text();
  expect(html).toContain('<p>&lt;script&gt;&quot;&amp;&#39;\ufffd</p>');
  expect(html).toContain('<h1>&lt;i&gt;</h1>');
  await redirect.close();
});

test('other paths and methods are ignored', async () => {
  const redirect = await listen();
  expect((await fetch(new URL('/favicon.ico', redirect.uri))).status).toBe(404);
  expect((await visit(redirect, '/x')).status).toBe(404);
  expect((await visit(redirect, '', { method: 'POST' })).status).toBe(405);
  const page = visit(redirect, '?a=1');
  const arrival = await redirect.next();
  expect(arrival.query.get('a')).toBe('1');
  await arrival.answer(fine);
  await page;
  await redirect.close();
});

test('requests are taken in turn, and the remaining ones are told that the login is over', async () => {
  const redirect = await listen();
  const first = visit(redirect, '?n=1');
  const arrival = await redirect.next();
  const second = visit(redirect, '?n=2');
  const next = await redirect.next();
  expect([arrival, next].map(({ query }) => query.get('n'))).toEqual(['1', '2']);
  await next.answer(fine);
  expect((await second).status).toBe(200);
  // More than are kept waiting: those beyond are told at once.
  const many = Array.from({ length: 9 }, (_, n) => visit(redirect, `?many=${n}`));
  expect((await Promise.race(many)).status).toBe(403);
  await arrival.answer(fine);
  await redirect.close();
  const texts = await Promise.all(many.map(async (page) => (await page).text()));
  expect(texts.every((text) => text.includes('Nothing is awaited here'))).toBe(true);
  expect((await first).status).toBe(200);
});

test('a closed connection of the browser is no error', async () => {
  const redirect = await listen();
  const controller = new AbortController();
  const gone = visit(redirect, '', { signal: controller.signal });
  const arrival = await redirect.next();
  controller.abort();
  await expect(gone).rejects.toThrow();
  const other = visit(redirect);
  await (await redirect.next()).answer(fine);
  await other;
  await arrival.answer(fine);
  await redirect.close();
});

test('an aborted wait rejects with its reason', async () => {
  const controller = new AbortController();
  const redirect = await listen('127.0.0.1:0', controller.signal);
  const next = redirect.next();
  controller.abort(new Error('enough'));
  await expect(next).rejects.toThrow('enough');
  await expect(redirect.next()).rejects.toThrow('enough');
  await redirect.close();
});

test('a port in use is reported', async () => {
  const redirect = await listen();
  const { host } = new URL(redirect.uri);
  await expect(listen(host)).rejects.toThrow(/cannot come back to/);
  await redirect.close();
});

test.each(['0.0.0.0:8550', 'example.com:80', 'localhost', ''])(
  '%j is no loopback',
  async (address) => {
    await expect(listen(address)).rejects.toThrow(/loopback address/);
  },
);
