import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Link } from './link.ts';

let server: Server;
let link: Link;
const taken: Socket[] = [];
beforeEach(async () => {
  // It sends back whatever it receives.
  server = createServer((socket) => {
    taken.push(socket);
    socket.on('error', () => socket.destroy()).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  link = await Link.to((server.address() as AddressInfo).port);
});
afterEach(async () => {
  await link.close();
  for (const socket of taken.splice(0)) socket.destroy();
  server.close();
  await once(server, 'close');
});

/** A connection through the link that remembers what arrives. */
function dial() {
  const [host, port] = link.address.split(':');
  const socket = connect(Number(port), host);
  const seen = { text: '', isClosed: false };
  socket.setEncoding('utf8').on('data', (text) => {
    seen.text += text;
  });
  socket
    .on('error', () => {})
    .on('close', () => {
      seen.isClosed = true;
    });
  return { socket, seen };
}

test('bytes pass in both directions, and then the end', async () => {
  const { socket, seen } = dial();
  socket.write('hello');
  await expect.poll(() => seen.text).toBe('hello');
  socket.destroy();
  await expect.poll(() => taken[0]!.destroyed).toBe(true);
});

test('a held link delivers everything later, and the end after it', async () => {
  const { socket, seen } = dial();
  socket.write('a');
  await expect.poll(() => seen.text).toBe('a');
  link.hold();
  socket.write('b');
  const other = dial();
  other.socket.write('c');
  socket.end();
  await expect.poll(() => taken.length).toBe(2);
  expect([seen.text, other.seen.text]).toEqual(['a', '']);
  const received: string[] = [];
  taken[0]!.on('data', (text) => received.push(`${text}`));
  link.mend();
  await expect.poll(() => other.seen.text).toBe('c');
  await expect.poll(() => received.join('')).toBe('b');
});

test('a late link keeps the order', async () => {
  const { socket, seen } = dial();
  link.delay(50);
  const beganMs = performance.now();
  socket.write('1');
  await expect.poll(() => seen.text).toBe('1');
  expect(performance.now() - beganMs).toBeGreaterThanOrEqual(100);
  link.delay(0);
  for (const digit of '23456') socket.write(digit);
  await expect.poll(() => seen.text).toBe('123456');
});

test('a cut ends the connections, and each new one, until it is mended', async () => {
  const first = dial();
  first.socket.write('a');
  await expect.poll(() => first.seen.text).toBe('a');
  link.cut();
  const second = dial();
  await expect.poll(() => [first.seen.isClosed, second.seen.isClosed]).toEqual([true, true]);
  link.mend();
  const third = dial();
  third.socket.write('b');
  await expect.poll(() => third.seen.text).toBe('b');
});

test('connections are ended by how they begin', async () => {
  const openings = ['from: a\r', 'from: b\r'];
  const before = openings.map((opening) => ({ opening, ...dial() }));
  for (const { socket, opening } of before) socket.write(opening);
  await expect.poll(() => before.map(({ seen }) => seen.text)).toEqual(openings);
  link.shut(/from: a\r/);
  const after = openings.map((opening) => ({ opening, ...dial() }));
  for (const { socket, opening } of after) socket.write(opening);
  await expect.poll(() => after[1]!.seen.text).toBe('from: b\r');
  await expect
    .poll(() => [...before, ...after].map(({ seen }) => seen.isClosed))
    .toEqual([true, false, true, false]);
  for (const { socket } of [...before, ...after]) socket.destroy();
});
