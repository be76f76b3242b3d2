import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { limits } from '../../src/model/limits.ts';
import { StreamConnection } from '../../src/model/node-stream/stream-connection.ts';
import { longestMessageBytes, webSocketTransport } from '../../src/model/node-stream/web-socket.ts';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean();
});

/** The sockets of a node and of its server, and the TCP socket of the server. */
async function sockets(): Promise<readonly [WebSocket, WebSocket, Socket]> {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    maxPayload: longestMessageBytes,
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const node = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  const [[accepted, { socket }]] = (await Promise.all([
    once(server, 'connection'),
    once(node, 'open'),
  ])) as [[WebSocket, IncomingMessage], unknown];
  cleanups.push(() => {
    node.terminate();
    accepted.terminate();
    server.close();
  });
  return [node, accepted, socket];
}

test('a flood is sent over a WebSocket in the memory of a few frames, and arrives as it was written', async () => {
  const [nodeSocket, serverSocket] = await sockets();
  const memories = new Set<ArrayBuffer>();
  const transport = webSocketTransport(nodeSocket);
  const node = new StreamConnection({
    socket: {
      ...transport,
      sendBinary: (bytes, sent) => {
        memories.add(bytes.buffer);
        transport.sendBinary(bytes, sent);
      },
    },
    side: 'node',
  });
  const server = new StreamConnection({
    socket: webSocketTransport(serverSocket),
    side: 'server',
  });
  const { sentFrameBytes, spareFramesMax } = limits.stream;
  const pieces = Array.from({ length: 200 }, (_, index) =>
    Buffer.alloc(sentFrameBytes, `piece ${index} `),
  );
  node.accept('flood', async (stream) => {
    for (const piece of pieces) await stream.write(piece);
  });
  const heard: Uint8Array[] = [];
  for await (const chunk of server.open('flood', {})) heard.push(chunk);
  expect(Buffer.concat(heard).equals(Buffer.concat(pieces))).toBe(true);
  expect(memories.size).toBeLessThanOrEqual(2 * spareFramesMax);
});

test('bytes that a WebSocket takes over are masked in place, without a copy', async () => {
  const [nodeSocket, serverSocket] = await sockets();
  const received = once(serverSocket, 'message');
  const bytes = new Uint8Array(1024).fill(1);
  await new Promise<void>((sent) => webSocketTransport(nodeSocket).sendBinary(bytes, sent));
  const [message] = (await received) as [Buffer];
  expect(message.equals(Buffer.alloc(1024, 1))).toBe(true);
  expect(bytes.every((byte) => byte === 1)).toBe(false);
});

test('a part of a memory is sent alone, and left as it is', async () => {
  const [nodeSocket, serverSocket] = await sockets();
  const received = once(serverSocket, 'message');
  const memory = new Uint8Array(1024).fill(1);
  webSocketTransport(nodeSocket).sendBinary(memory.subarray(10, 20));
  const [message] = (await received) as [Buffer];
  expect([...message]).toEqual(Array(10).fill(1));
  expect(memory.every((byte) => byte === 1)).toBe(true);
});

test('the longest frame of a stream is as long as a read of a socket', async () => {
  const [nodeSocket, serverSocket, tcp] = await sockets();
  const node = new StreamConnection({ socket: webSocketTransport(nodeSocket), side: 'node' });
  const server = new StreamConnection({
    socket: webSocketTransport(serverSocket),
    side: 'server',
  });
  const { sentFrameBytes } = limits.stream;
  let readBefore = 0;
  node.accept('once', async (stream) => {
    readBefore = tcp.bytesRead;
    await stream.write(Buffer.alloc(2 * sentFrameBytes, 1));
    await new Promise<void>((resolve) => stream.signal.addEventListener('abort', () => resolve()));
  });
  const lengths: number[] = [];
  for await (const chunk of server.open('once', {})) {
    lengths.push(chunk.length);
    if (lengths.length === 2) break;
  }
  expect(lengths).toEqual([sentFrameBytes, sentFrameBytes]);
  expect(tcp.bytesRead - readBefore).toBe(2 * 65_536);
});
