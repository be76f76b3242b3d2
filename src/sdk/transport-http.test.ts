import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from './server.test-helper.ts';
import type { TransportRequest } from './transport.ts';
import { httpTransport } from './transport-http.ts';

const asked = (given: Partial<TransportRequest> = {}): TransportRequest => ({
  method: 'GET',
  path: '/v1/x',
  headers: {},
  body: undefined,
  signal: undefined,
  headTimeoutMs: 5000,
  bodyTimeoutMs: 5000,
  ...given,
});

function transportOf(address: string) {
  const transport = httpTransport({ address });
  onTestFinished(() => transport.close());
  return transport;
}

/** A server that answers whatever it is sent with these bytes. */
async function answering(bytes: string, ends = false) {
  const sent: string[] = [];
  const connections: Socket[] = [];
  const server = createServer((socket) => {
    connections.push(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      sent.push(chunk.toString());
      socket.write(bytes, () => ends && socket.destroy());
    });
    onTestFinished(() => void socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}`, sent, connections };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const begun = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf.';

test.each<
  [name: string, bytes: string, ends: boolean, request: Partial<TransportRequest>, code: string]
>([
  ['no head in time', '', false, { headTimeoutMs: 20 }, 'UND_ERR_HEADERS_TIMEOUT'],
  ['no further piece in time', begun, false, { bodyTimeoutMs: 20 }, 'UND_ERR_BODY_TIMEOUT'],
  ['an end before the answer', '', true, {}, 'UND_ERR_SOCKET'],
  ['an end in the middle of the answer', begun, true, {}, 'UND_ERR_SOCKET'],
  ['no HTTP', 'SSH-2.0-x\r\n', false, {}, 'HPE_INVALID_CONSTANT'],
])('%s has its code', async (_, bytes, ends, request, code) => {
  const { address } = await answering(bytes, ends);
  const transport = transportOf(address);
  const read = async () => textOf((await transport.send(asked(request))).body);
  await expect(read()).rejects.toMatchObject({ name: 'ConnectionError', code });
});

test('an abort ends the wait for the head, and the body, with its reason', async () => {
  const { address } = await answering(begun);
  const silent = await answering('');
  for (const [of, readsHead] of [
    [silent.address, false],
    [address, true],
  ] as const) {
    const aborting = new AbortController();
    const sending = transportOf(of).send(asked({ signal: aborting.signal, bodyTimeoutMs: 0 }));
    const reading = readsHead ? sending.then(({ body }) => textOf(body)) : sending;
    if (readsHead) await sending;
    aborting.abort('enough');
    await expect(reading).rejects.toBe('enough');
  }
});

test('a close ends what is under way, and takes nothing more', async () => {
  const { address, sent } = await answering('');
  const transport = transportOf(address);
  const sending = transport.send(asked());
  await transport.close();
  await expect(sending).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' });
  await expect(transport.send(asked())).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' });
  expect(sent).toEqual([]);
});

test.each(['PUT', 'POST', 'DELETE'] as const)('the body of a %s arrives', async (method) => {
  await using server = await serve(() => ({ json: {} }));
  const transport = transportOf(server.address);
  async function* pieces() {
    yield Buffer.from('{"a":');
    yield Buffer.from('"ä"}');
  }
  for (const body of ['{"a":"ä"}', pieces()]) {
    await textOf((await transport.send(asked({ method, body }))).body);
  }
  expect(server.seen.map((one) => one.body)).toEqual([{ a: 'ä' }, { a: 'ä' }]);
});

test('a body that fails ends the request with its error', async () => {
  const { address } = await answering('');
  async function* pieces() {
    yield Buffer.from('{');
    throw Object.assign(new Error('gone'), { code: 'EGONE' });
  }
  const sending = transportOf(address).send(asked({ method: 'POST', body: pieces() }));
  await expect(sending).rejects.toMatchObject({ code: 'EGONE' });
});

test('a connection is used again once an answer was read', async () => {
  const { address, sent, connections } = await answering('HTTP/1.1 204 No Content\r\n\r\n');
  const transport = transportOf(address);
  for (let round = 0; round < 3; round++) await textOf((await transport.send(asked())).body);
  expect([sent.length, connections.length]).toEqual([3, 1]);
});
