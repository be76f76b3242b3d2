import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../limits.ts';
import { type ByteStream, StreamFault } from './byte-stream.ts';
import { encodeControl, encodeData } from './frames.ts';
import { type SocketEnd, socketPair } from './socket-pair.test-helper.ts';
import { StreamConnection, type StreamSocket } from './stream-connection.ts';

interface Pair {
  readonly server: StreamConnection;
  readonly node: StreamConnection;
  readonly nodeSocket: SocketEnd;
}

function connect(onHandlerError?: (kind: string, error: unknown) => void): Pair {
  const [serverSocket, nodeSocket] = socketPair();
  return {
    nodeSocket,
    server: new StreamConnection({ socket: serverSocket, side: 'server' }),
    node: new StreamConnection({
      socket: nodeSocket,
      side: 'node',
      ...(onHandlerError && { onHandlerError }),
    }),
  };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const text = (value: string) => new TextEncoder().encode(value);

async function readAll(stream: ByteStream): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** The methods of a socket, for another that does some of it in its own way. */
const partsOf = (socket: StreamSocket): StreamSocket => ({
  sendText: (text) => socket.sendText(text),
  sendBinary: (bytes, sent) => socket.sendBinary(bytes, sent),
  onMessage: (receive) => socket.onMessage(receive),
  onClose: (closed) => socket.onClose(closed),
  close: (code, reason) => socket.close(code, reason),
  terminate: () => socket.terminate(),
  ping: () => socket.ping(),
  onPong: (run) => socket.onPong(run),
});

function bytesOnWire(socket: SocketEnd): number {
  return socket.sent.reduce(
    (sum, message) => sum + (typeof message === 'string' ? 0 : message.length - 4),
    0,
  );
}

describe('a stream', () => {
  test('carries the handler’s bytes, and ends when the handler ends', async () => {
    const { server, node } = connect();
    node.accept('greet', async (stream, params) => {
      await stream.write(text(`hello ${String(params.name)}`));
    });
    expect(await readAll(server.open('greet', { name: 'world' }))).toBe('hello world');
    await settle();
    expect([server.openStreams, node.openStreams]).toEqual([0, 0]);
  });

  test('carries bytes in both directions', async () => {
    const { server, node } = connect();
    node.accept('upper', async (stream) => {
      for await (const chunk of stream) {
        await stream.write(text(new TextDecoder().decode(chunk).toUpperCase()));
      }
    });
    const stream = server.open('upper', {});
    await stream.write(text('abc'));
    await stream.write(text('def'));
    stream.end();
    expect(await readAll(stream)).toBe('ABCDEF');
  });

  test.each([
    ['copies a few bytes out of a large message', 10, 10],
    ['does not copy bytes that are most of their message', 50_000, 65_536],
  ])('%s', async (_title, length, keptBytes) => {
    const [own, peer] = socketPair();
    const stream = new StreamConnection({ socket: own, side: 'server' }).open('greet', {});
    const message = Buffer.allocUnsafeSlow(65_536);
    message.set(encodeData({ id: stream.id, payload: Buffer.alloc(length, 'x') }));
    peer.sendBinary(message.subarray(0, 4 + length));
    for await (const chunk of stream) {
      expect([chunk.length, chunk.buffer.byteLength]).toEqual([length, keptBytes]);
      break;
    }
  });

  test('sends its largest frames in memory that is free again, and in no other', async () => {
    const { sentFrameBytes, creditBytes } = limits.stream;
    const [serverSocket, end] = socketPair();
    const memories = new Set<ArrayBuffer>();
    const nodeSocket: StreamSocket = {
      ...partsOf(end),
      sendBinary: (bytes, sent) => {
        memories.add(bytes.buffer);
        end.sendBinary(bytes.slice());
        // Memory that is free again may have any content.
        bytes.fill(0);
        setImmediate(() => sent?.());
      },
    };
    const server = new StreamConnection({ socket: serverSocket, side: 'server' });
    const node = new StreamConnection({ socket: nodeSocket, side: 'node' });
    const pieces = Array.from({ length: 100 }, (_, index) => index);
    node.accept('flood', async (stream) => {
      for (const index of pieces) await stream.write(Buffer.alloc(sentFrameBytes, index));
    });
    const heard: number[] = [];
    for await (const chunk of server.open('flood', {})) {
      expect([chunk.length, chunk[0], chunk.at(-1)]).toEqual([sentFrameBytes, chunk[0], chunk[0]]);
      heard.push(chunk[0]!);
      await settle();
    }
    expect(heard).toEqual(pieces);
    expect(memories.size).toBeLessThanOrEqual(creditBytes / sentFrameBytes);
  });

  test('sends no two frames in the same memory while the first may be under way', async () => {
    const [serverSocket, end] = socketPair();
    const memories: ArrayBuffer[] = [];
    const nodeSocket: StreamSocket = {
      ...partsOf(end),
      sendBinary: (bytes) => {
        memories.push(bytes.buffer);
        end.sendBinary(bytes);
      },
    };
    const server = new StreamConnection({ socket: serverSocket, side: 'server' });
    const node = new StreamConnection({ socket: nodeSocket, side: 'node' });
    node.accept('flood', (stream) => stream.write(Buffer.alloc(10 * limits.stream.sentFrameBytes)));
    await readAll(server.open('flood', {}));
    expect([memories.length, new Set(memories).size]).toEqual([10, 10]);
  });

  test('can be opened by the node, too', async () => {
    const { server, node } = connect();
    server.accept('whoami', (stream) => stream.write(text('node')));
    expect(await readAll(node.open('whoami', {}))).toBe('node');
  });

  test.each([
    [
      'a fault of the handler',
      () => new StreamFault({ status: 404, code: 'not-found', message: 'no such task' }),
      { status: 404, code: 'not-found', message: 'no such task' },
      0,
    ],
    ['a bug of the handler', () => new TypeError('x of undefined'), { status: 500 }, 1],
  ])('brings %s to its reader', async (_name, error, expected, bugs) => {
    const reported: unknown[] = [];
    const { server, node } = connect((_kind, bug) => reported.push(bug));
    node.accept('fail', async () => {
      throw error();
    });
    await expect(readAll(server.open('fail', {}))).rejects.toMatchObject(expected);
    expect(reported).toHaveLength(bugs);
  });

  test('of an unknown kind is refused', async () => {
    const { server } = connect();
    await expect(readAll(server.open('nothing', {}))).rejects.toMatchObject({
      status: 404,
      code: 'unknown-stream-kind',
    });
  });

  test('that is cancelled stops its writer', async () => {
    const { server, node } = connect();
    let stopped: unknown;
    node.accept('endless', async (stream) => {
      try {
        for (;;) await stream.write(new Uint8Array(1000));
      } catch (error) {
        stopped = error;
        throw error;
      }
    });
    const stream = server.open('endless', {});
    for await (const _chunk of stream) break;
    await settle();
    expect(stopped).toMatchObject({ code: 'stream-cancelled' });
    expect([server.openStreams, node.openStreams]).toEqual([0, 0]);
    expect(server.isClosed).toBe(false);
  });
});

describe('credit', () => {
  test('stops the sender until the reader reads', async () => {
    const { server, node, nodeSocket } = connect();
    node.accept('flood', (stream) => stream.write(new Uint8Array(1_000_000)));
    const stream = server.open('flood', {}, 100_000);
    await settle();
    expect(bytesOnWire(nodeSocket)).toBe(100_000);
    expect((await readAll(stream)).length).toBe(1_000_000);
  });

  test('random writes and windows arrive completely and never exceed the credit', async () => {
    const write = fc.integer({ min: 0, max: 150_000 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(write, { maxLength: 8 }),
        fc.integer({ min: 3000, max: 90_000 }),
        async (sizes, credit) => {
          const { server, node, nodeSocket } = connect();
          const sent = Buffer.concat(sizes.map((size, index) => Buffer.alloc(size, index + 65)));
          node.accept('pattern', async (stream) => {
            let position = 0;
            for (const size of sizes) {
              await stream.write(sent.subarray(position, position + size));
              position += size;
            }
          });
          const stream = server.open('pattern', {}, credit);
          const chunks: Uint8Array[] = [];
          let read = 0;
          for await (const chunk of stream) {
            chunks.push(chunk);
            read += chunk.length;
            expect(bytesOnWire(nodeSocket) - read).toBeLessThanOrEqual(credit);
          }
          expect(Buffer.concat(chunks).equals(sent)).toBe(true);
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('a connection', () => {
  test.each([
    ['text that is not a frame', () => 'nonsense', /not JSON/],
    ['data beyond the credit', () => encodeData({ id: 1, payload: new Uint8Array(11) }), /credit/],
    [
      'data for a stream that never existed',
      () => encodeData({ id: 3, payload: text('x') }),
      /never/,
    ],
    [
      'an open frame with the other side’s id',
      () => encodeControl({ type: 'open', id: 5, kind: 'x', params: {}, creditBytes: 1 }),
      /its sender’s next/,
    ],
  ])('is closed by %s', async (_name, message, reason) => {
    const { server, nodeSocket } = connect();
    const stream = server.open('unanswered', {}, 10);
    const frame = message();
    // Sent before the node's answer to the open frame arrives.
    if (typeof frame === 'string') nodeSocket.sendText(frame);
    else nodeSocket.sendBinary(frame);
    expect(await server.closed).toMatch(reason);
    await expect(readAll(stream)).rejects.toMatchObject({ status: 503 });
  });

  test('drops frames that crossed the end of their stream', async () => {
    const { server, node, nodeSocket } = connect();
    node.accept('once', (stream) => stream.write(text('x')));
    await readAll(server.open('once', {}));
    nodeSocket.sendBinary(encodeData({ id: 1, payload: text('late') }));
    nodeSocket.sendText(encodeControl({ type: 'credit', id: 1, bytes: 5 }));
    await settle();
    expect(server.isClosed).toBe(false);
  });

  test('bounds the streams that are open at once', async () => {
    const { server, node } = connect();
    node.accept(
      'idle',
      (stream) =>
        new Promise((resolve) => {
          stream.signal.addEventListener('abort', () => resolve());
        }),
    );
    const open = Array.from({ length: limits.stream.perNodeMax }, () => server.open('idle', {}));
    expect(() => server.open('idle', {})).toThrow(/more than 256 streams/);
    await settle();
    expect(node.openStreams).toBe(limits.stream.perNodeMax);
    for (const stream of open) stream.cancel();
    await settle();
    expect([server.openStreams, node.openStreams]).toEqual([0, 0]);
  });

  test('refuses streams of the other side beyond the bound', async () => {
    const [raw, socket] = socketPair();
    const node = new StreamConnection({ socket, side: 'node' });
    node.accept('idle', () => new Promise(() => {}));
    const answers: unknown[] = [];
    raw.onMessage((message) => answers.push(JSON.parse(String(message))));
    for (let index = 0; index <= limits.stream.perNodeMax; index++) {
      const open = { type: 'open', id: 2 * index + 1, kind: 'idle', params: {} } as const;
      raw.sendText(encodeControl({ ...open, creditBytes: 1 }));
    }
    await settle();
    expect(node.openStreams).toBe(limits.stream.perNodeMax);
    expect(answers).toMatchObject([{ error: 2 * limits.stream.perNodeMax + 1, status: 429 }]);
  });

  test('that is lost ends every stream on both sides', async () => {
    const { server, node, nodeSocket } = connect();
    let over = false;
    node.accept('idle', async (stream) => {
      await new Promise<void>((resolve) =>
        stream.signal.addEventListener('abort', () => resolve()),
      );
      over = true;
    });
    const reading = readAll(server.open('idle', {}));
    await settle();
    nodeSocket.terminate();
    await expect(reading).rejects.toMatchObject({ status: 503, code: 'node-disconnected' });
    await settle();
    expect(over).toBe(true);
    expect(() => server.open('idle', {})).toThrow(/was lost/);
  });
});
