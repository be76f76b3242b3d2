import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { authorityCertificate } from '../../src/model/config-entry/certificates.test-helper.ts';
import { limits } from '../../src/model/limits.ts';
import type { PeeringLink } from '../../src/server/peering/link.ts';
import {
  longestFrameBytes,
  webSocketLink,
  webSocketTransport,
} from '../../src/server/peering/web-socket-link.ts';
import { certificate, privateKey as key } from '../support/certificate.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

/** A server that repeats messages in capitals. */
async function listen(isSecure: boolean): Promise<string> {
  const server = isSecure ? createHttps({ cert: certificate, key }) : createHttp();
  const sockets = new WebSocketServer({ server, maxPayload: longestFrameBytes });
  sockets.on('connection', (socket, request) => {
    const link = webSocketLink(socket);
    link.onFrame((text) => {
      if (text === 'leave') link.close(`${'x'.repeat(200)} é`);
      else link.send(`${request.url} ${text.length > 99 ? text.length : text.toUpperCase()}`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const dial = (address: string, caPems: readonly string[] = [], signal?: AbortSignal) =>
  webSocketTransport.dial(address, {
    caPems,
    timeoutMs: 2_000,
    signal: signal ?? new AbortController().signal,
  });

const answer = (link: PeeringLink, text: string) =>
  new Promise<string>((resolve) => {
    link.onFrame(resolve);
    expect(link.send(text)).toBe(true);
  });

test.each([
  ['without TLS', false],
  ['with TLS, by the authority of the token', true],
])('frames are sent %s', async (_, isSecure) => {
  const link = await dial(await listen(isSecure), isSecure ? [certificate] : []);
  expect(await answer(link, 'hello')).toBe('/v1/peering/stream HELLO');
  link.close('done');
  expect(await link.closed).toBe('done');
  expect(link.send('more')).toBe(false);
});

test('certificates of another authority are refused, and so is none', async () => {
  const [secure, plain] = [await listen(true), await listen(false)];
  await expect(dial(secure)).rejects.toThrow('it closed the connection');
  await expect(dial(secure, [authorityCertificate])).rejects.toThrow(
    /^its certificate is not trusted by/,
  );
  await expect(dial(plain, [certificate])).rejects.toThrow('it does not speak TLS');
});

test('reasons are cut to their limit, and longer frames are refused', async () => {
  const address = await listen(false);
  const link = await dial(address);
  link.send('leave');
  expect(await link.closed).toBe('x'.repeat(123));
  const other = await dial(address);
  const longest = 'x'.repeat(limits.peering.frameBytesMax);
  expect(await answer(other, longest)).toBe(`/v1/peering/stream ${longest.length}`);
  other.send(`${longest}x`);
  expect(await other.closed).not.toBe('');
});

test('an unreachable address gives a short reason', async () => {
  const address = await listen(false);
  for (const clean of cleanups.splice(0)) clean();
  await expect(dial(address)).rejects.toThrow('nothing listens there');
  const server = createHttp((_, response) => response.writeHead(418).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const elsewhere = `127.0.0.1:${port}`;
  await expect(dial(elsewhere)).rejects.toThrow('it answered 418 where the stream');
  const stop = new AbortController();
  stop.abort();
  await expect(dial(elsewhere, [], stop.signal)).rejects.toThrow();
});
