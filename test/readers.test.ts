/** Agents with readers, over connections that the system spreads over their threads. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import type { Worker } from 'node:worker_threads';
import { Client } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Agent, type CreateAgentOptions, createAgent } from '../src/agent.ts';
import type { Log } from '../src/server/context.ts';
import { rootToken } from './support/api.ts';
import { certificate, privateKey } from './support/certificate.ts';
import { serverCertificate, serverKey } from './support/tls-certificates.ts';

/** So many that all of them reach the same one of two threads once in 2^31 runs. */
const connectionCount = 32;

/** With two readers, for tests that leave it running. */
let shared: Agent;
const agents: Agent[] = [];
const clients: Client[] = [];
const threads: Worker[] = [];
const logged: string[] = [];
const note = (_fields: object, sentence: string) => void logged.push(sentence);
const log: Log = { debug() {}, info: note, warn: note, error: note };
const onThread = (message: unknown) => {
  const { worker } = message as { readonly worker: Worker };
  threads.push(worker);
};

beforeAll(async () => {
  shared = await start();
  agents.pop();
});
afterAll(() => shared.close('stop'));
beforeEach(() => subscribe('worker_threads', onThread));
afterEach(async () => {
  unsubscribe('worker_threads', onThread);
  for (const client of clients.splice(0)) await client.destroy();
  for (const agent of agents.splice(0)) await agent.close('stop');
  threads.length = 0;
  logged.length = 0;
});

async function start(options: CreateAgentOptions = {}): Promise<Agent> {
  const http = { host: '127.0.0.1', port: 0 };
  const agent = await createAgent({ http, rootToken, readers: 2, log, ...options });
  agents.push(agent);
  return agent;
}

interface Called {
  readonly status: number;
  readonly index: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly json: any;
}

/** A client with a single connection. */
function connection({ address }: Agent) {
  const client = new Client(address);
  clients.push(client);
  return async (method: string, path: string, body?: object, token = rootToken) => {
    const answer = await client.request({
      method: method as 'GET',
      path,
      headers: { 'x-registry-token': token },
      ...(body && { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    const { headers } = answer;
    const isJson = /json/.test(String(headers['content-type']));
    return {
      status: answer.statusCode,
      index: Number(headers['x-registry-index'] ?? headers['x-scheduler-index']),
      json: isJson && text !== '' ? JSON.parse(text) : text,
    } satisfies Called;
  };
}

const connectionsOf = (agent: Agent) =>
  Array.from({ length: connectionCount }, () => connection(agent));

const put = (name: string) => ['PUT', '/v1/acl/policy', { Name: name, Rules: '' }] as const;

/** The certificate that a new connection is shown. */
const shownBy = ({ address }: Agent) =>
  new Promise<string>((resolve, reject) => {
    const port = Number(new URL(address).port);
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()!.toString());
      socket.destroy();
    }).on('error', reject);
  });

test('a write that was answered is read over every connection at once', async () => {
  const calls = connectionsOf(shared);
  for (const [at, write] of calls.entries()) {
    const { json } = await write(...put(`policy-${at}`));
    const path = `/v1/acl/policy/${json.ID}`;
    const read = await Promise.all(calls.map((call) => call('GET', path)));
    expect(new Set(read.map(({ status }) => status))).toEqual(new Set([200]));
  }
});

test('blocking queries wake in every thread', async () => {
  const agent = shared;
  const [write, ...calls] = connectionsOf(agent);
  const { index } = await write!('GET', '/v1/acl/policies');
  const path = `/v1/acl/policies?index=${index}&wait=60s`;
  const woken = calls.map((call) => call('GET', path));
  await expect
    .poll(async () => {
      const { json } = await write!('GET', '/v1/metrics?format=json');
      return json.find(({ name }: { name: string }) => name === 'roster_blocking_queries').values;
    })
    .toEqual([{ value: calls.length, labels: {} }]);
  await write!(...put('new'));
  for (const { json } of await Promise.all(woken)) {
    expect(json.map(({ Name }: { Name: string }) => Name)).toContain('new');
  }
});

test('event streams of every thread tell a change', async () => {
  const agent = shared;
  const write = connection(agent);
  const followed = Array.from({ length: connectionCount }, async () => {
    const client = new Client(agent.address);
    clients.push(client);
    const { body } = await client.request({
      method: 'GET',
      path: '/v1/event/stream?topic=ACLPolicy',
      headers: { 'x-registry-token': rootToken },
    });
    return body.setEncoding('utf8');
  });
  const bodies = await Promise.all(followed);
  await write(...put('told'));
  for (const body of bodies) {
    let text = '';
    for await (const part of body) {
      text += part;
      if (text.includes('"told"')) break;
    }
    expect(text).toContain('"told"');
  }
});

test('a deleted token is refused over every connection at once', async () => {
  const calls = connectionsOf(shared);
  const { json } = await calls[0]!('PUT', '/v1/acl/token', {
    Policies: [{ Name: 'global-management' }],
  });
  const own = () =>
    Promise.all(calls.map((call) => call('GET', '/v1/acl/token/self', undefined, json.SecretID)));
  expect(new Set((await own()).map(({ status }) => status))).toEqual(new Set([200]));
  await calls[1]!('DELETE', `/v1/acl/token/${json.AccessorID}`);
  expect(new Set((await own()).map(({ status }) => status))).toEqual(new Set([403]));
});

test('a restored snapshot is shown by every thread, and no index goes back', async () => {
  const agent = shared;
  const calls = connectionsOf(agent);
  const headers = { 'x-registry-token': rootToken };
  const saved = await fetch(`${agent.address}/v1/operator/snapshot`, { headers });
  const file = new Uint8Array(await saved.arrayBuffer());
  await calls[0]!(...put('later'));
  const { index } = await calls[0]!('GET', '/v1/acl/policies');
  const { json } = await calls[0]!('GET', '/v1/operator/snapshot/restored');
  const path = `/v1/operator/snapshot?force=${json.ClusterID}`;
  const restored = await calls[1]!('PUT', path, file);
  expect([restored.status, restored.json]).toMatchObject([200, { ClusterID: json.ClusterID }]);
  for (const { json, index: now } of await Promise.all(
    calls.map((call) => call('GET', '/v1/acl/policies')),
  )) {
    expect(json.map(({ Name }: { Name: string }) => Name)).not.toContain('later');
    expect(now).toBeGreaterThan(index);
  }
});

test('a reader that has ended is replaced, while the others answer', async () => {
  const agent = await start();
  const [one, other] = threads;
  const { json } = await connection(agent)(...put('kept'));
  const isAnswered = async () => {
    const { status } = await connection(agent)('GET', `/v1/acl/policy/${json.ID}`);
    expect(status).toBe(200);
  };
  await one!.terminate();
  await isAnswered();
  // A new thread loads the whole program.
  await expect.poll(() => logged, { timeout: 60_000 }).toContain('a reader answers again');
  // From now on the new reader is the only one.
  await other!.terminate();
  await isAnswered();
});

test('a history of a counter is linear, and blocking queries miss nothing, while readers end', async () => {
  const agent = await start();
  const path = '/v1/var/counter';
  const last = 200;
  let [asked, answered, shown] = [0, 0, 0];
  let isOver = false;
  // A request that is lost with its thread has an unknown outcome: perhaps it was done.
  const orLost = (called: Promise<Called>) => called.catch(() => undefined);
  const write = async () => {
    const call = connection(agent);
    while (asked < last && !isOver) {
      const count = ++asked;
      const answer = await orLost(call('PUT', path, { Items: { count: String(count) } }));
      if (answer?.status === 200) answered = count;
      if (count === 50) void threads[0]!.terminate();
      if (count === 150) {
        await expect.poll(() => logged, { timeout: 60_000 }).toContain('a reader answers again');
        void threads[1]!.terminate();
      }
    }
    // The last of them may have been lost.
    await connection(agent)('PUT', path, { Items: { count: String(++asked) } });
  };
  const check = ({ json }: Called, least: number) => {
    const value = Number(json.Items.count);
    expect(value).toBeGreaterThanOrEqual(least);
    expect(value).toBeLessThanOrEqual(asked);
    shown = Math.max(shown, value);
    return value;
  };
  const read = async () => {
    const calls = connectionsOf(agent).slice(0, 4);
    for (let at = 0; !isOver; at++) {
      // No read goes back behind a write that was answered, or a read that has ended.
      const least = Math.max(answered, shown);
      const answer = await orLost(calls[at % calls.length]!('GET', path));
      if (answer !== undefined) check(answer, least);
    }
  };
  const follow = async () => {
    const call = connection(agent);
    for (let index = 0, value = 0; value <= last && !isOver; ) {
      const answer = await orLost(call('GET', `${path}?index=${index}&wait=20s`));
      if (answer === undefined) continue;
      expect(answer.index).toBeGreaterThan(index);
      value = check(answer, value);
      index = answer.index;
    }
  };
  await connection(agent)('PUT', path, { Items: { count: '0' } });
  const reading = Array.from({ length: 4 }, read);
  const done = Promise.all([write(), follow(), follow(), follow()]);
  // A fault in any of them ends all of them.
  await Promise.race([done, ...reading]).finally(() => {
    isOver = true;
  });
  await Promise.all(reading);
});

test('the main thread answers when all readers have ended', async () => {
  const agent = await start({ readers: 1 });
  const { json } = await connection(agent)(...put('kept'));
  await threads[0]!.terminate();
  const status = async () => {
    const answer = await connection(agent)('GET', `/v1/acl/policy/${json.ID}`).catch(() => {});
    return answer?.status;
  };
  await expect.poll(status).toBe(200);
});

test('metrics count the requests of all threads once, and the audit log has each of them', async () => {
  const to = join(mkdtempSync(join(tmpdir(), 'audit-')), 'audit.log');
  const agent = await start({ audit: { to, events: 'all' } });
  const calls = connectionsOf(agent);
  for (const [at, call] of calls.entries()) await call(...put(`policy-${at}`));
  for (const call of calls) await call('GET', '/v1/acl/policies');
  const { json } = await calls[0]!('GET', '/v1/metrics?format=json');
  const { values } = json.find(
    ({ name }: { name: string }) => name === 'roster_http_requests_total',
  );
  const counts = (method: string, route: string) =>
    values.filter(
      ({ labels }: { labels: Record<string, string> }) =>
        labels.method === method && labels.route === route,
    );
  expect(counts('GET', '/v1/acl/policies')).toMatchObject([{ value: connectionCount }]);
  expect(counts('PUT', '/v1/acl/policy')).toMatchObject([{ value: connectionCount }]);
  await agents.pop()!.close('stop');
  const lines = readFileSync(to, 'utf8').trimEnd().split('\n');
  const paths = lines.map((line) => JSON.parse(line)).filter(({ path }) => /polic/.test(path));
  expect(paths).toHaveLength(2 * connectionCount);
  expect(new Set(paths.map(({ remote }) => remote))).toEqual(new Set(['127.0.0.1']));
});

test('counts of requests stay when a reader has ended, and what is open there does not', async () => {
  const agent = await start();
  const calls = connectionsOf(agent);
  for (const call of calls) await call('GET', '/v1/acl/policies');
  const told = async () => {
    const { json } = await connection(agent)('GET', '/v1/metrics?format=json');
    const values = (wanted: string) =>
      json.find(({ name }: { name: string }) => name === wanted).values;
    const ofRoute = ({ labels }: { labels: Record<string, string> }) =>
      labels.route === '/v1/acl/policies';
    const [counted] = values('roster_http_requests_total').filter(ofRoute);
    const [inAll] = values('roster_http_request_seconds').filter(
      (sample: { labels: Record<string, string>; metricName: string }) =>
        ofRoute(sample) && sample.metricName.endsWith('_count'),
    );
    const [open] = values('roster_http_connections');
    return { counted: counted.value, inAll: inAll.value, open: open.value };
  };
  const before = await told();
  expect(before).toMatchObject({ counted: connectionCount, inAll: connectionCount });
  for (const thread of [threads[0]!, threads[1]!]) {
    const ended = logged.length;
    await thread.terminate();
    const isBack = () => logged.slice(ended);
    await expect.poll(isBack, { timeout: 60_000 }).toContain('a reader answers again');
    expect(await told()).toMatchObject({ counted: connectionCount, inAll: connectionCount });
  }
  // Both threads have ended, and all their connections with them.
  expect((await told()).open).toBeLessThan(connectionCount);
});

test('a profile is that of the thread that it names', async () => {
  const take = (thread: string) =>
    fetch(`${shared.address}/v1/agent/pprof/profile?thread=${thread}`, {
      headers: { 'x-registry-token': rootToken },
    });
  for (const thread of ['main', 'reader-1', 'reader-2']) {
    const answer = await take(thread);
    const { nodes } = (await answer.json()) as { nodes: unknown[] };
    expect([thread, answer.status, nodes.length > 0]).toEqual([thread, 200, true]);
  }
  const [first, second] = [take('reader-1'), take('reader-1')];
  const statuses = [(await first).status, (await second).status];
  expect(statuses.toSorted()).toEqual([200, 429]);
  expect((await take('reader-3')).status).toBe(400);
});

test('every thread shows a renewed certificate', async () => {
  const agent = await start({ certificate: { certificate, privateKey, verifiesClients: false } });
  const all = () => Promise.all(Array.from({ length: connectionCount }, () => shownBy(agent)));
  expect(new Set(await all())).toEqual(new Set([certificate]));
  agent.renewCertificate({
    certificate: serverCertificate,
    privateKey: serverKey,
    verifiesClients: false,
  });
  await expect.poll(async () => [...new Set(await all())]).toEqual([serverCertificate]);
});

test('a reader that is still starting shows a certificate that is renewed meanwhile', async () => {
  const agent = await start({ certificate: { certificate, privateKey, verifiesClients: false } });
  const [one, other] = threads;
  await one!.terminate();
  await expect.poll(() => threads.length, { timeout: 60_000, interval: 1 }).toBe(3);
  agent.renewCertificate({
    certificate: serverCertificate,
    privateKey: serverKey,
    verifiesClients: false,
  });
  await expect.poll(() => logged, { timeout: 60_000 }).toContain('a reader answers again');
  // From now on the new reader is the only one.
  await other!.terminate();
  expect(await shownBy(agent)).toBe(serverCertificate);
});

test('clusters whose agents have readers peer', async () => {
  const [left, right] = [await start(), await start()];
  const [askLeft, askRight] = [connection(left), connection(right)];
  const { json } = await askLeft('POST', '/v1/peering/token', { PeerName: 'right' });
  const { PeeringToken } = json;
  const asked = { PeerName: 'left', PeeringToken };
  expect((await askRight('POST', '/v1/peering/establish', asked)).status).toBe(200);
  for (const [call, name] of [
    [askLeft, 'right'],
    [askRight, 'left'],
  ] as const) {
    await expect
      .poll(async () => (await call('GET', `/v1/peering/${name}`)).json.State)
      .toBe('ACTIVE');
  }
});

test('readers need a log that the process holds alone', async () => {
  const etcd = { endpoints: ['127.0.0.1:1'], prefix: '/roster/' };
  await expect(start({ etcd })).rejects.toThrow('readers need a log that this process holds alone');
});
