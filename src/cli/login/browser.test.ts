import { expect, test } from 'vitest';
import { systemBrowser } from './browser.ts';

const listen = (address = '127.0.0.1:0', signal = new AbortController().signal) =>
  systemBrowser.awaitRedirect(address, signal);

test('the browser comes back with what the provider says, and other paths do not count', async () => {
  const redirect = await listen();
  expect(redirect.uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/oidc\/callback$/);
  expect((await fetch(new URL('/favicon.ico', redirect.uri))).status).toBe(404);
  const page = await fetch(`${redirect.uri}?state=s&code=a%2Bb`);
  expect(await page.text()).toContain('close this window');
  expect(Object.fromEntries(await redirect.query)).toEqual({ state: 's', code: 'a+b' });
  await redirect.close();
  await expect(fetch(redirect.uri)).rejects.toThrow();
});

test('who gives up waiting gets the reason', async () => {
  const controller = new AbortController();
  const redirect = await listen('127.0.0.1:0', controller.signal);
  controller.abort(new Error('enough'));
  await expect(redirect.query).rejects.toThrow('enough');
  await redirect.close();
});

test('a port that is taken is told', async () => {
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
