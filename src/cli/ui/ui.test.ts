import { expect, test } from 'vitest';
import { run } from '../harness.test-helper.ts';

const link = { Secret: 'the-secret', LoopbackOnly: false, ExpirationTime: '2026-01-01T00:05:00Z' };
const server = { 'POST /v1/ui/link': { json: link } };
const env = { ROSTER_TOKEN: 'mine' };

test('a browser is opened at the page that signs in, and the link is printed', async () => {
  const ran = await run(['ui'], { server, env });
  const [url] = ran.opened;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/ui\/sign-in#link=the-secret$/);
  expect(ran.stdout).toBe('ADDRESS/ui/sign-in#link=the-secret\n');
  expect(ran.stderr).toContain('once, until 2026-01-01T00:05:00Z');
  expect(ran.seen[0]!.headers['x-registry-token']).toBe('mine');
});

test('with --print no browser is opened', async () => {
  const ran = await run(['ui', '--print', '--loopback-only'], { server, env });
  expect([ran.exitCode, ran.opened]).toEqual([0, []]);
  expect(ran.stdout).toContain('/ui/sign-in#link=the-secret');
  expect(ran.seen[0]!.body).toEqual({ LoopbackOnly: true });
});

test('JSON has the address of the page beside the link', async () => {
  const ran = await run(['ui', '--print', '-json'], { server, env });
  expect(JSON.parse(ran.stdout)).toMatchObject({ ...link, URL: expect.stringContaining('#link=') });
});
