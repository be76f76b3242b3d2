import { type ChildProcess, spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withoutSecrets } from '../../src/api/token.ts';
import { limits } from '../../src/model/limits.ts';
import { jobBody, rootToken, startApi } from '../support/api.ts';

// The HTTP connection itself: a server in its own process, which must not end.

/** The connections of one address; more than any other test here uses at a time. */
const most = 100;
let child: ChildProcess;
let port: number;
beforeAll(async () => {
  const script = new URL('../support/serve.ts', import.meta.url).pathname;
  const flags = ['--disable-warning=ExperimentalWarning', script, String(most)];
  child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise<string>((resolve) =>
    child.stdout!.once('data', (text) => resolve(String(text).trim())),
  );
  port = Number(new URL(address).port);
});
afterAll(() => void child.kill('SIGKILL'));

interface Heard {
  readonly status: number;
  readonly head: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly json: any;
  /** Whether the server closed the connection. */
  readonly closed: boolean;
}

/** The first answer to these bytes, or everything until the server closes the connection. */
function say(lines: readonly string[], body = '', until: 'answered' | 'closed' = 'answered') {
  return new Promise<Heard>((resolve, reject) => {
    let heard = '';
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('connect', () => socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`));
    const end = (closed: boolean) => {
      socket.destroy();
      resolve(parse(heard, closed));
    };
    socket.on('data', (bytes) => {
      heard += String(bytes);
      if (until === 'answered' && isWhole(heard)) end(false);
    });
    socket.on('error', reject);
    socket.on('end', () => end(true));
  });
}

function isWhole(heard: string): boolean {
  const [head = '', content] = heard.split('\r\n\r\n', 2);
  return (
    content !== undefined && content.length >= Number(/^content-length: (\d+)/im.exec(head)?.[1])
  );
}

function parse(heard: string, closed: boolean): Heard {
  const [head = '', body = ''] = heard.split('\r\n\r\n', 2);
  const isJson = /^content-type: application\/(problem\+)?json/im.test(head) && body !== '';
  return { status: Number(head.split(' ')[1]), head, json: isJson && JSON.parse(body), closed };
}

const host = 'Host: x';
const token = `X-Registry-Token: ${rootToken}`;
const body = JSON.stringify(jobBody());
const length = `Content-Length: ${body.length}`;
const offer = (protocol: string) => ['Connection: Upgrade', `Upgrade: ${protocol}`];
const stream = '/v1/node/44444444-4444-4444-8444-444444444444/stream';
const h2c = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'];

// In the order of the checks: target, method, headers, upgrades, body.
test.each([
  ['an ordinary request', ['GET /v1/jobs HTTP/1.1', host, token], '', 200, undefined],
  ['a path that cannot be decoded', ['GET /v1/job/%zz HTTP/1.1', host], '', 404, 'route-not-found'],
  ['a whole URL as target', ['GET http://x/v1/jobs?a HTTP/1.1', host, token], '', 200, undefined],
  ['a whole URL without a path', ['GET http://x HTTP/1.1', host], '', 404, 'route-not-found'],
  ['*', ['OPTIONS * HTTP/1.1', host], '', 404, 'route-not-found'],
  ['a method of WebDAV', ['PROPFIND /v1/jobs HTTP/1.1', host], '', 405, 'method-not-allowed'],
  ['TRACE', ['TRACE /v1/jobs HTTP/1.1', host], '', 405, 'method-not-allowed'],
  ['QUERY', ['QUERY /v1/jobs HTTP/1.1', host], '', 405, 'method-not-allowed'],
  ['a method with a body', ['REPORT /v1/jobs HTTP/1.1', host, length], body, 405, undefined],
  ['a method, no path', ['PROPFIND /v1/x HTTP/1.1', host], '', 404, 'route-not-found'],
  ['CONNECT', ['CONNECT x:80 HTTP/1.1', host], '', 404, 'route-not-found'],
  ['no host', ['GET /v1/jobs HTTP/1.1', token], '', 400, 'malformed-request'],
  ['two hosts', ['GET /v1/jobs HTTP/1.1', host, 'host: y', token], '', 400, 'malformed-request'],
  ['two hosts in 1.0', ['GET /v1/jobs HTTP/1.0', host, host, token], '', 400, 'malformed-request'],
  [
    'two hosts of a WebSocket',
    [`GET ${stream} HTTP/1.1`, host, host, token, ...offer('websocket')],
    '',
    400,
    'malformed-request',
  ],
  ['no host before HTTP/1.1', ['GET /v1/jobs HTTP/1.0', token], '', 200, undefined],
  ['no HTTP', ['hello'], '', 400, 'malformed-request'],
  ['long headers', ['GET / HTTP/1.1', `a: ${'a'.repeat(40_000)}`], '', 431, 'headers-too-large'],
  ['an offer of HTTP/2', ['GET /v1/jobs HTTP/1.1', host, token, ...h2c], '', 200, undefined],
  [
    'a WebSocket where there is none',
    ['GET /v1/jobs HTTP/1.1', host, token, ...offer('websocket')],
    '',
    200,
    undefined,
  ],
  [
    'another protocol for the stream',
    [`GET ${stream} HTTP/1.1`, host, ...offer('h2c')],
    '',
    404,
    'route-not-found',
  ],
  [
    'the stream without the permission',
    [`GET ${stream} HTTP/1.1`, host, ...offer('websocket')],
    '',
    403,
    'permission-denied',
  ],
  [
    'a malformed content type',
    ['POST /v1/jobs HTTP/1.1', host, token, length, 'Content-Type: garbage'],
    body,
    200,
    undefined,
  ],
  [
    'a content type without a body',
    ['POST /v1/jobs HTTP/1.1', host, token, 'Content-Type: text/plain'],
    '',
    400,
    'body-required',
  ],
  [
    'a body that is too large',
    ['POST /v1/jobs HTTP/1.1', host, token, `Content-Length: ${limits.http.jobBodyBytesMax + 1}`],
    '',
    413,
    'body-too-large',
  ],
])('%s', async (_title, lines, content, status, code) => {
  const answer = await say(lines, content);
  expect(answer.status).toBe(status);
  if (code !== undefined) expect(answer.json).toMatchObject({ status, code });
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  expect(answer.head.toLowerCase()).toContain(`content-type: ${type}`);
  if (status === 405) expect(answer.head).toMatch(/^allow: OPTIONS, GET, HEAD, POST, PUT\r?$/m);
});

test('answers are the same over a port and without one', async () => {
  const { call } = await startApi();
  for (const path of ['/v1/job/%zz', '/v1/job/a%2Fb', '/v1//jobs', '/v1/jobs/', '/v1/job/%00']) {
    for (const method of ['GET', 'OPTIONS', 'PROPFIND']) {
      const { status, json } = await say([`${method} ${path} HTTP/1.1`, host, token]);
      const here = await call(method, path);
      expect([method, path, status, json]).toEqual([method, path, here.status, here.json ?? false]);
    }
  }
});

test.each([
  ['a refused upgrade', [`GET ${stream} HTTP/1.1`, host, ...offer('websocket')], 403],
  [
    'an upgrade that is no WebSocket handshake',
    [`GET ${stream} HTTP/1.1`, host, token, ...offer('websocket'), 'Sec-WebSocket-Version: 1'],
    400,
  ],
  ['a refused tunnel', ['CONNECT x:80 HTTP/1.1', host], 404],
  ['text that is no HTTP', ['hello'], 400],
])('%s leaves no half-open socket', async (_title, lines, status) => {
  const answer = await say(lines, '', 'closed');
  expect([answer.status, answer.closed]).toEqual([status, true]);
  expect(answer.head).toMatch(/^connection: close\r?$/m);
});

test('a refused client that resets its connection does not end the process', async () => {
  const refused = [
    [`GET ${stream} HTTP/1.1`, host, ...offer('websocket')],
    ['CONNECT x:80 HTTP/1.1', host],
    ['hello'],
  ];
  for (let attempt = 0; attempt < 60; attempt++) {
    const lines = refused[attempt % refused.length]!;
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(`${lines.join('\r\n')}\r\n\r\n`);
        // Before, during and after the refusal.
        if (attempt % 2 === 0) socket.resetAndDestroy();
        else setImmediate(() => socket.resetAndDestroy());
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve());
    });
  }
  expect((await say(['GET /v1/agent/health HTTP/1.1', host])).status).toBe(200);
  expect(child.exitCode).toBeNull();
});

test('a connection above the limit is refused', async () => {
  const open = async (): Promise<Socket> => {
    // Another address of the machine, so that connections of other tests do not count.
    const from = { localAddress: '127.0.0.2', allowHalfOpen: true };
    const socket = connect({ port, host: '127.0.0.1', ...from });
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('connect', resolve));
    return socket;
  };
  const held: Socket[] = [];
  for (let count = 0; count < most; count++) held.push(await open());
  const sneaked = JSON.stringify(jobBody({ ID: 'sneaked' }));
  const lines = ['POST /v1/jobs HTTP/1.1', host, token, `Content-Length: ${sneaked.length}`];
  const heardOver = await ask(await open(), `${lines.join('\r\n')}\r\n\r\n${sneaked}`);
  expect(heardOver).toMatch(/^HTTP\/1.1 429 /);
  expect((await say(['GET /v1/job/sneaked HTTP/1.1', host, token])).status).toBe(404);
  // A refused connection does not count: when one ends, one more is accepted.
  const first = held.shift()!;
  await new Promise((resolve) => first.once('close', resolve).destroy());
  const health = `GET /v1/agent/health HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`;
  await expect
    .poll(async () => (await ask(await open(), health)).slice(0, 12))
    .toBe('HTTP/1.1 200');
  for (const socket of held) socket.destroy();
});

test('slow headers end the connection at their timeout', async () => {
  const beginMs = performance.now();
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  expect(await ask(socket, 'GET / HTTP/1.1\r\nHo')).toMatch(/^HTTP\/1.1 408 /);
  const tookMs = performance.now() - beginMs;
  expect(tookMs).toBeGreaterThan(limits.http.headersTimeoutMs - limits.http.timeoutCheckMs);
  // A busy machine may take some seconds. A check only every half minute would take 30 more.
  expect(tookMs).toBeLessThan(2 * limits.http.headersTimeoutMs);
});

test('a connection that was kept in reserve ends without an answer to nothing', async () => {
  expect(await ask(connect({ port, host: '127.0.0.1' }), '')).toBe('');
});

/** Everything until the other side closes the connection. */
function ask(socket: Socket, text: string): Promise<string> {
  return new Promise((resolve) => {
    let heard = '';
    socket.on('data', (bytes) => {
      heard += String(bytes);
    });
    socket.on('end', () => socket.destroy()).on('close', () => resolve(heard));
    socket.write(text);
  });
}

test.each([
  ['/v1/jobs', '/v1/jobs'],
  ['/v1/jobs?prefix=a&stale', '/v1/jobs?prefix=a&stale'],
  ['/v1/jobs?token=a', '/v1/jobs?token=redacted'],
  ['/v1/jobs?a=1&token=a=b&stale', '/v1/jobs?a=1&token=redacted&stale'],
  ['/v1/jobs?%74oken=a', '/v1/jobs?%74oken=redacted'],
  ['/v1/jobs?%54%4fken=a&TOKEN=b', '/v1/jobs?%54%4fken=redacted&TOKEN=redacted'],
  ['/v1/jobs??token=a', '/v1/jobs??token=redacted'],
  ['/v1/jobs?+token=a', '/v1/jobs?+token=redacted'],
  ['/v1/jobs?tokens=a&token', '/v1/jobs?tokens=a&token'],
])('%s is logged as %s', (url, shown) => expect(withoutSecrets(url)).toBe(shown));

test.each([
  ['PUT', '/v1/system/gc'],
  ['PUT', '/v1/operator/keyring/rotate'],
  ['DELETE', '/v1/namespace/none'],
])('%s %s takes no body, and ignores any up to the limit', async (method, path) => {
  const { call } = await startApi();
  const most = limits.http.bodyBytesMax;
  for (const ignored of ['', 'null', '{}', '{"Unknown": 1}', '{', 'x'.repeat(most)]) {
    expect((await call(method, path, { body: ignored })).status).toBe(200);
  }
  const refused = await call(method, path, { body: 'x'.repeat(most + 1) });
  expect([refused.status, refused.json.code]).toEqual([413, 'body-too-large']);
});
