/** Servers of a cluster know each other by the root key, and by nothing else. */
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { proofOf } from '../src/server/network/proof.ts';
import { certificate, privateKey } from './support/certificate.ts';
import { call, type NetworkChanges, ServerCluster } from './support/server-cluster.ts';
import { serverCertificate, serverKey } from './support/tls-certificates.ts';

const cluster = { current: new ServerCluster() };
const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await cluster.current.close();
  for (const end of ending.splice(0)) await end();
  cluster.current = new ServerCluster();
});

/** Starts two servers. Resolves when they are connected, or when the server that dials says why not. */
async function startTwo(options: object, network: NetworkChanges = {}): Promise<void> {
  const { current } = cluster;
  const first = await current.start(options, network);
  await current.start(options, network);
  await expect
    .poll(async () => current.leader !== undefined && (first.logged.length > 0 || areConnected()))
    .toBe(true);
}

/** Whether the follower knows who leads. */
async function areConnected(): Promise<boolean> {
  const [follower] = cluster.current.followers;
  return (await call(follower!, 'GET', '/v1/status/leader')).json !== '';
}

test('servers connect over TLS, whatever their certificates say', async () => {
  const tls = { certificate: { certificate, privateKey, verifiesClients: false } };
  await startTwo(tls);
  expect(await areConnected()).toBe(true);
});

test('a program between two servers that ends both TLS sessions is noticed by the proof', async () => {
  const tls = { certificate: { certificate, privateKey, verifiesClients: false } };
  const between = (address: string) => manInTheMiddle(address);
  await startTwo(tls, { between });
  expect(await areConnected()).toBe(false);
  expect(cluster.current.servers[0]!.logged.join()).toContain('another root key');
  await cluster.current.close();
  // The session in the proof is what prevents it.
  cluster.current = new ServerCluster();
  const prove: typeof proofOf = (key, side, challenge) =>
    proofOf(key, side, { ...challenge, binding: '' });
  await startTwo(tls, { between, prove });
  expect(await areConnected()).toBe(true);
});

test('servers of different machines do not speak without TLS, unless a setting allows it', async () => {
  const isNear = () => false;
  await startTwo({}, { isNear });
  expect(await areConnected()).toBe(false);
  expect(cluster.current.servers[0]!.logged.join()).toContain('without TLS');
  const { agent } = cluster.current.servers[0]!;
  const socket = new WebSocket(`${agent.address.replace('http', 'ws')}/v1/internal/servers`);
  const [, response] = await once(socket, 'unexpected-response');
  expect(response.statusCode).toBe(403);
  socket.on('error', () => {}).terminate();
  await cluster.current.close();
  cluster.current = new ServerCluster();
  await startTwo({}, { isNear, allowsPlaintext: true });
  expect(await areConnected()).toBe(true);
});

test('a server with another root key is refused by name, and answers nothing', async () => {
  const { current } = cluster;
  const first = await current.start();
  await current.settled();
  const wrong = await current.start({ rootKey: new Uint8Array(32).fill(9) });
  await expect.poll(() => first.logged.join()).toContain('another root key');
  expect(first.logged.join()).toContain(wrong.id);
  expect(wrong.logged.join()).toContain('the root key of this server opens no key');
  for (const [method, path] of [
    ['GET', '/v1/agent/health'],
    ['GET', '/v1/namespaces?stale'],
    ['PUT', '/v1/namespace/x'],
    ['GET', '/v1/metrics'],
    ['GET', '/v1/nowhere'],
  ] as const) {
    const { status, json } = await call(wrong, method, path, method === 'PUT' ? {} : undefined);
    expect([path, status, json.code]).toEqual([path, 503, 'not-ready']);
    expect(json.detail).toContain('root key');
  }
  // It leaves the leadership to the others, for good.
  for (let round = 0; round < 5; round++) {
    const { epoch } = current.log;
    current.log.depose();
    await expect.poll(() => first.agent.state.leading?.epoch).toBe(epoch + 1);
  }
  const secret = Buffer.from(new Uint8Array(32).fill(9)).toString('base64');
  expect([...first.logged, ...wrong.logged].join()).not.toContain(secret);
});

test('a client is no server, whatever its headers say', async () => {
  const { current } = cluster;
  const { agent } = await current.start();
  await current.settled();
  const plain = await call({ agent }, 'GET', '/v1/internal/servers');
  expect([plain.status, plain.json.code]).toEqual([404, 'route-not-found']);
  const open = JSON.stringify({
    open: 2,
    kind: 'request',
    credit: 1000,
    params: { head: JSON.stringify({ method: 'GET', path: '/v1/jobs', query: '', headers: {} }) },
  });
  const claims = {
    'x-roster-server': 'server-1',
    authorization: 'server',
    forwarded: 'for=1.2.3.4',
  };
  const socket = new WebSocket(`${agent.address.replace('http', 'ws')}/v1/internal/servers`, {
    headers: claims,
  });
  const heard: string[] = [];
  socket.on('message', (data) => heard.push(String(data)));
  await once(socket, 'open');
  socket.send(open);
  await once(socket, 'close');
  expect(heard.map((text) => JSON.parse(text).refused)).toEqual(['malformed']);
});

test('three servers that start together for the first time make one keyring and one first token', async () => {
  const { current } = cluster;
  await Promise.all([current.start(), current.start(), current.start()]);
  await current.settled();
  for (const server of current.servers) {
    const { json: tokens } = await call(server, 'GET', '/v1/acl/tokens');
    const initial = tokens.filter(({ Description }: { Description: string }) =>
      Description.startsWith('Initial'),
    );
    expect(initial).toHaveLength(1);
    const { json: keys } = await call(server, 'GET', '/v1/operator/keyring/keys');
    expect(keys.length).toBeLessThan(4);
  }
  // All of it is in the first transaction.
  const { firstIndex, lastIndex } = current.log.records[0]!;
  expect([firstIndex, lastIndex]).toEqual([1, 1]);
});

/** Ends the TLS session of the dialer with a certificate of its own, and opens another one. */
async function manInTheMiddle(address: string): Promise<string> {
  const sockets = new Set<Socket>();
  const [host, port] = address.split(':');
  const listener = createTlsServer({ cert: serverCertificate, key: serverKey }, (client) => {
    const server: TLSSocket = connectTls({ host, port: Number(port), rejectUnauthorized: false });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  ending.push(async () => {
    for (const socket of sockets) socket.destroy();
    listener.close();
    await once(listener, 'close');
  });
  return `127.0.0.1:${(listener.address() as AddressInfo).port}`;
}
