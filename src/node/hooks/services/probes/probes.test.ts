/** Checks of real servers on loopback. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { complete } from '../../../../model/complete.ts';
import type { Input } from '../../../../model/schema.ts';
import { type Check, CheckSchema } from '../../../../model/service/check.ts';
import type { Probed, ProbeWish } from './probe.ts';
import { realProbe } from './real-probe.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Listening {
  listen(port: number, host: string, ready: () => void): unknown;
  address(): AddressInfo | string | null;
  close(): unknown;
}

async function listen(server: Listening): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

const probe = (check: Input<Check>, port: number | undefined, wish: Partial<ProbeWish> = {}) =>
  realProbe({
    check: complete(CheckSchema, check),
    target: port === undefined ? undefined : { host: '127.0.0.1', port },
    exec: () => Promise.reject(new Error('no script')),
    signal: new AbortController().signal,
    ...wish,
  });

/** A thrown error counts as a failure. */
const outcomeOf = (made: Promise<Probed>) =>
  made.then(
    ({ outcome }) => outcome,
    () => 'critical',
  );

/** A port without a listener. */
async function freePort(): Promise<number> {
  const server = createTcpServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const web = (answer: Parameters<typeof createServer>[1]): Server => {
  const server = createServer(answer!);
  closing.push(() => server.closeAllConnections());
  return server;
};

test.each([
  [200, 'passing'],
  [204, 'passing'],
  [301, 'critical'],
  [404, 'critical'],
  [429, 'warning'],
  [503, 'critical'],
])('an answer %i is %s', async (status, outcome) => {
  const port = await listen(web((_request, response) => response.writeHead(status).end('so')));
  const body = status === 204 ? '' : ' so';
  expect(await probe({ Type: 'http', Path: '/alive?deep=1' }, port)).toEqual({
    outcome,
    statusCode: status,
    output: `GET /alive?deep=1: ${status}${body}`,
  });
});

test('requests are as the check says', async () => {
  const asked: { request?: IncomingMessage; body?: string } = {};
  const port = await listen(
    web((request, response) => {
      asked.request = request;
      asked.body = '';
      request.on('data', (part) => (asked.body += part));
      request.on('end', () => response.end('ok'));
    }),
  );
  const Header = { Host: ['shop.example'], 'X-Probe': ['a', 'b'], 'User-Agent': ['ours'] };
  const check = { Type: 'http', Path: 'alive', Method: 'post', Header, Body: 'ping é' };
  expect(await probe(check, port)).toMatchObject({ outcome: 'passing' });
  const { method, url, headers } = asked.request!;
  expect([method, url, asked.body]).toEqual(['POST', '/alive', 'ping é']);
  expect(headers).toMatchObject({
    host: 'shop.example',
    'x-probe': 'a, b',
    'user-agent': 'ours',
    'content-length': '7',
  });
});

test('an endless answer is reported up to the bound', async () => {
  const port = await listen(
    web((_request, response) => {
      const more = (): void => void response.write('x'.repeat(60_000), () => setImmediate(more));
      more();
    }),
  );
  const { outcome, output } = await probe({ Type: 'http', Path: '/' }, port);
  expect(outcome).toBe('passing');
  expect(output).toBe(`GET /: 200 ${'x'.repeat(4096)}`);
});

test.each(['http', 'tcp', 'grpc'])('a %s check of a closed port fails', async (Type) => {
  const port = await freePort();
  await expect(probe({ Type, Path: '/' }, port)).rejects.toThrow(/ECONNREFUSED/);
});

test.each(['http', 'tcp', 'grpc'])('a %s check without a port says so', async (Type) => {
  const wanted = probe({ Type, Path: '/', PortLabel: 'late' }, undefined);
  await expect(wanted).rejects.toThrow('the allocation has no port "late" to check');
});

test.each(['http', 'grpc'])('a hanging %s check ends when it is aborted', async (Type) => {
  const gone = Promise.withResolvers<void>();
  const accepted = Promise.withResolvers<void>();
  const port = await listen(
    createTcpServer((socket) => {
      socket.on('error', () => {}).on('close', () => gone.resolve());
      socket.once('data', () => accepted.resolve());
    }),
  );
  const stop = new AbortController();
  const made = probe({ Type, Path: '/' }, port, { signal: stop.signal });
  await accepted.promise;
  stop.abort();
  expect(await outcomeOf(made)).toBe('critical');
  await gone.promise;
});

test('an accepted connection passes', async () => {
  const port = await listen(createTcpServer((socket) => socket.on('error', () => {})));
  const output = `connected to 127.0.0.1:${port}`;
  expect(await probe({ Type: 'tcp' }, port)).toEqual({ outcome: 'passing', statusCode: 0, output });
});

test('a server with another protocol than HTTP fails', async () => {
  const port = await listen(createTcpServer((socket) => socket.on('error', () => {}).end('SSH-2')));
  expect(await outcomeOf(probe({ Type: 'http', Path: '/' }, port))).toBe('critical');
  expect(await outcomeOf(probe({ Type: 'grpc' }, port))).toBe('critical');
});

test.each([
  ['SERVING', [0, 0, 0, 0, 2, 8, 1], '0', 'passing', 'SERVING'],
  ['NOT_SERVING', [0, 0, 0, 0, 2, 8, 2], '0', 'critical', 'NOT_SERVING'],
  ['nothing known', [0, 0, 0, 0, 0], '0', 'critical', 'UNKNOWN'],
  ['an error', [], '12', 'critical', 'grpc status 12 no such method'],
])('gRPC that says %s', async (_name, answer, code, outcome, output) => {
  const asked = { path: '', body: Buffer.alloc(0) };
  const server = createHttp2Server();
  server.on('stream', (stream, headers) => {
    asked.path = headers[':path'] ?? '';
    stream.on('data', (part: Buffer) => {
      asked.body = Buffer.concat([asked.body, part]);
    });
    stream.on('end', () => {
      stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => {
        const message = code === '0' ? {} : { 'grpc-message': 'no such method' };
        stream.sendTrailers({ 'grpc-status': code, ...message });
      });
      stream.end(Buffer.from(answer));
    });
  });
  const port = await listen(server);
  expect(await probe({ Type: 'grpc', GRPCService: 'shop' }, port)).toEqual({
    outcome,
    statusCode: 0,
    output,
  });
  expect(asked.path).toBe('/grpc.health.v1.Health/Check');
  expect([...asked.body]).toEqual([0, 0, 0, 0, 6, 0x0a, 4, ...Buffer.from('shop')]);
});
