import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { realWorld } from '../base/ports-real.ts';
import { limits } from '../model/limits.ts';
import { RowEncoder } from './encode.ts';
import type { Answer, Request } from './http.ts';
import { HttpServer } from './http-server.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const answer = (body: string): Answer => ({ status: 200, headers: {}, body });
/** The connection of a file waits no time at all for another request. */
const file: Answer = { ...answer('file'), keepAliveMs: 1 };

/** The port of a server that handles requests so. */
async function listen(handle: (request: Request) => Answer | Promise<Answer>) {
  const server = new HttpServer({
    handle,
    readsBody: () => false,
    refuse: () => ({ ...answer('refused'), status: 400 }),
    upgrade: { isAsked: () => false, take: () => {} },
    connections: { perAddressMax: 0, perLoopbackMax: 0 },
  });
  closing.push(() => server.close());
  return server.listen({ host: '127.0.0.1', port: 0 });
}

/** The text that a connection hears until it ends, or until its second answer. It sends the rest a while after the first. */
async function said(
  [requests, rest]: readonly [requests: string, rest: string | undefined],
  handle: (request: Request) => Answer | Promise<Answer>,
): Promise<string> {
  const port = await listen(handle);
  const socket = connect({ port, host: '127.0.0.1' });
  socket.setEncoding('utf8');
  closing.push(() => socket.destroy());
  let heard = '';
  const over = new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
    socket.on('data', (text) => {
      heard += text;
      if (heard.includes('late')) resolve();
      // The socket's time is a real one, so this waits by real time, well beyond it.
      else if (rest !== undefined) setTimeout(() => socket.write(rest), 50);
    });
  });
  await once(socket, 'connect');
  socket.write(requests);
  await over;
  return heard;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

test('a connection that has a file ends soon when nothing follows', async () => {
  expect(await said([get('/file'), undefined], () => file)).toMatch(
    /keep-alive: timeout=1\r\n[\s\S]*file$/,
  );
});

test.each([
  ['without a body', get('/late'), undefined],
  ['with a body', 'PUT /late HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n', '{}'],
])('a request %s that follows a file at once has its time', async (_, request, rest) => {
  const late = () => new Promise<Answer>((told) => setTimeout(told, 100, answer('late')));
  const heard = await said([get('/file') + request, rest], ({ path }) =>
    path === '/file' ? Promise.resolve(file) : late(),
  );
  expect(heard).toMatch(/file[\s\S]*late$/);
});

const long = 2 * limits.http.textBytesMax;

test.each([
  ['short', 'ö€😀'],
  ['long', 'ö€😀'.padEnd(long, '€')],
])('a %s row arrives with its very bytes, and HEAD has its length alone', async (_, Name) => {
  const body = new RowEncoder().encode({ Name });
  const row: Answer = { status: 200, headers: {}, body, keepAliveMs: 1 };
  const whole = await said([get('/row'), undefined], () => row);
  expect(whole.slice(whole.indexOf('{'))).toBe(JSON.stringify({ Name }));
  expect(whole).toContain(`content-length: ${body.length}\r\n`);
  const head = await said([get('/row').replace('GET', 'HEAD'), undefined], () => row);
  expect(head).toContain(`content-length: ${body.length}\r\n`);
  expect(head).toMatch(/\r\n\r\n$/);
});

test('work in slices lets connections that arrive together go first', async () => {
  const port = await listen(() => answer('here'));
  const { clock, timers } = realWorld;
  let slices = 0;
  let isOver = false;
  const work = () => {
    if (isOver) return;
    slices++;
    const endMs = clock.monotonicMs() + 1;
    while (clock.monotonicMs() < endMs);
    timers.soon(work);
  };
  const clients = Array.from({ length: 64 }, async () => {
    const socket = connect({ port, host: '127.0.0.1' });
    closing.push(() => socket.destroy());
    socket.write(get('/'));
    await once(socket, 'data');
  });
  work();
  await Promise.all(clients);
  isOver = true;
  // The event loop accepts one connection in a turn.
  expect(slices).toBeLessThan(clients.length / 2);
});
