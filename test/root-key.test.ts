/** The root key from a file, the environment or a service, and what a server without it does. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { type Agent as Created, createAgent } from '../src/agent.ts';
import { parseRootKey } from '../src/agent-secrets.ts';
import type { KeyService } from '../src/server/keyring/key-service.ts';
import {
  agentWords,
  command,
  directory,
  endAgents,
  launch,
  newDirectory,
  startAgent,
} from './support/agent.ts';
import { rootToken } from './support/api.ts';
import { TestKeyService } from './support/key-service.ts';
import { type ClusterServer, call, ServerCluster } from './support/server-cluster.ts';

let cluster: ServerCluster;
let kms: TestKeyService;
let closings: (() => unknown)[];
const rootKey = randomBytes(32).toString('base64');

beforeEach(async () => {
  cluster = new ServerCluster();
  kms = new TestKeyService();
  closings = [];
  await kms.start();
});
afterEach(async () => {
  for (const close of closings.reverse()) await close();
  await cluster.close();
  await kms.stop();
});
afterAll(endAgents);

const serviceOf = (changes: Partial<KeyService> = {}): KeyService => ({
  url: kms.url,
  key: 'roster',
  wrappedKey: kms.seal('roster', rootKey),
  token: async () => 'kms-token',
  caCertificate: '',
  ...changes,
});

const keysOf = async (server: ClusterServer): Promise<string[]> =>
  (await call(server, 'GET', '/v1/operator/keyring/keys')).json.map(
    ({ KeyID, State }: { KeyID: string; State: string }) => `${KeyID} ${State}`,
  );

const itemsAt = async (server: ClusterServer, path: string) =>
  (await call(server, 'GET', `/v1/var/${path}`)).json.Items;

test('three servers have their root key from a service, and a rotation reaches all of them', async () => {
  const given = { rootKey: serviceOf() };
  await Promise.all([cluster.start(given), cluster.start(given), cluster.start(given)]);
  const leader = await cluster.settled();
  const [first, second] = cluster.followers;
  await call(first!, 'PUT', '/v1/var/db', { Path: 'db', Items: { password: 'hush' } });
  const before = await keysOf(leader);
  expect((await call(first!, 'PUT', '/v1/operator/keyring/rotate')).status).toBe(200);
  const after = await keysOf(leader);
  expect(after).not.toEqual(before);
  for (const server of cluster.servers) {
    await expect.poll(() => keysOf(server)).toEqual(after);
    expect(await itemsAt(server, 'db')).toEqual({ password: 'hush' });
  }
  // The next leader seals under the new key, and the others open it.
  await cluster.kill(leader);
  const next = await cluster.settled();
  await call(next, 'PUT', '/v1/var/new', { Path: 'new', Items: { password: 'later' } });
  for (const server of [first!, second!]) {
    expect(await itemsAt(server, 'new')).toEqual({ password: 'later' });
    expect((await call(server, 'PUT', '/v1/operator/keyring/rotate')).status).toBe(200);
    expect(await itemsAt(server, 'db')).toEqual({ password: 'hush' });
  }
});

/** A start that waits for the service, with what it logs. */
async function waiting(service: KeyService) {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const logged: string[] = [];
  const note = (fields: object, sentence: string) =>
    void logged.push(`${sentence} ${JSON.stringify(fields)}`);
  const giving = new AbortController();
  const started = createAgent({
    http: { host: '127.0.0.1', port },
    rootKey: service,
    rootToken,
    signal: giving.signal,
    log: { debug: note, info: note, warn: note, error: note },
  });
  closings.push(async () => {
    giving.abort(new Error('the test ends'));
    await started.then((agent: Created) => agent.close('stop')).catch(() => {});
  });
  const health = async () => {
    const answer = await fetch(`${address}/v1/agent/health`);
    return { status: answer.status, body: await answer.text() };
  };
  await expect.poll(() => logged.length).toBeGreaterThan(0);
  return { started, health, logged, giveUp: () => giving.abort(new Error('given up')) };
}

test('an agent whose service is away stays up, tells so, and asks again', async () => {
  await kms.stop();
  const service = serviceOf();
  const { started, health, logged } = await waiting(service);
  const told = await health();
  expect(told.status).toBe(503);
  expect(JSON.parse(told.body)).toMatchObject({
    code: 'not-ready',
    detail: `This server answers nothing: the root key is not there: ${kms.url}/decrypt/roster cannot be reached: ECONNREFUSED.`,
  });
  await kms.start();
  await started;
  expect((await health()).status).toBe(200);
  const text = logged.join('\n');
  expect(text).toContain('the service is asked again');
  for (const secret of [rootKey, service.wrappedKey, 'kms-token']) {
    expect(text).not.toContain(secret);
  }
});

test('a token that the service refuses is read again before each try', async () => {
  let token = 'old';
  const { started, health } = await waiting(serviceOf({ token: async () => token }));
  expect((await health()).body).toContain('answered with the status 403');
  token = 'kms-token';
  await started;
  expect(kms.asked[0]).toBe('POST /v1/transit/decrypt/roster 403');
  expect(kms.asked.at(-1)).toBe('POST /v1/transit/decrypt/roster 200');
});

test.each<[string, () => Partial<KeyService>, string]>([
  ['another key', () => ({ key: 'other' }), 'the status 404'],
  ['a key that it did not seal', () => ({ wrappedKey: 'test:v1:AAAA' }), 'the status 400'],
  [
    'a key of another length',
    () => ({ wrappedKey: kms.seal('roster', 'c2hvcnQ=') }),
    'must be 32 bytes in base64',
  ],
])('a service that is given %s opens nothing', async (_, changes, reason) => {
  const { started, health, giveUp } = await waiting(serviceOf(changes()));
  expect((await health()).body).toContain(reason);
  giveUp();
  await expect(started).rejects.toThrow('given up');
  await expect(health()).rejects.toThrow();
});

test('a server without the root key of its cluster stays up, tells so, and never leads', async () => {
  const first = await cluster.start();
  await cluster.settled();
  const without = await cluster.start({ rootKey: undefined });
  await cluster.kill(first);
  const { status, json } = await call(without, 'GET', '/v1/agent/health');
  expect([status, json.code]).toEqual([503, 'not-ready']);
  expect(json.detail).toContain('its root key is missing');
  const third = await cluster.start();
  await expect.poll(() => cluster.leader?.id).toBe(third.id);
  expect(without.agent.state.leading).toBeUndefined();
});

test('a root key of the environment is nowhere on the disk, and no task or other program has it', async () => {
  const dataDirectory = newDirectory();
  const agent = await startAgent({ dataDirectory, env: { ROSTER_ROOT_KEY: rootKey } });
  await agent.register({
    ID: 'sleeper',
    Datacenters: ['dc1'],
    TaskGroups: [
      {
        Name: 'g',
        Tasks: [
          { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/sleep', args: ['900'] } },
        ],
      },
    ],
  });
  await agent.until('/v1/job/sleeper/allocations', ([allocation]) =>
    expect(allocation.ClientStatus).toBe('running'),
  );
  const holders = readdirSync('/proc').filter((pid) => environmentOf(pid).includes(rootKey));
  // Its own start stays in the memory of the agent, as the system shows it.
  expect(holders).toEqual([String(agent.pid)]);
  expect(environments().length).toBeGreaterThan(2);
  expect(readdirSync(dataDirectory)).not.toContain('root-key');
  await agent.stop();
});

test('an agent whose service is away ends by a signal', async () => {
  await kms.stop();
  const folder = newDirectory('roster');
  const [wrapped, token, config] = ['root-key.wrapped', 'kms-token', 'agent.json'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  writeFileSync(wrapped, kms.seal('roster', rootKey));
  writeFileSync(token, 'kms-token\n');
  const service = { url: kms.url, key: 'roster', wrapped_key_file: wrapped, token_file: token };
  writeFileSync(config, JSON.stringify({ keyring: { kms: service }, server_only: true }));
  const args = ['--config', config];
  const agent = launch(command, agentWords({ dataDirectory: newDirectory(), args }));
  await expect.poll(() => agent.said().stderr).toContain('the service is asked again');
  agent.signal('SIGTERM');
  const { code, stdout } = await agent.ended;
  expect([code, stdout]).toEqual([0, '']);
});

const environments = (): string[] =>
  readdirSync('/proc')
    .map(environmentOf)
    .filter((text) => text.includes(directory));

function environmentOf(pid: string): string {
  try {
    return readFileSync(join('/proc', pid, 'environ'), 'utf8');
  } catch {
    return '';
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as { readonly port: number };
  await new Promise((done) => server.close(done));
  return port;
}

test('a file with another text is named', () => {
  expect(() => parseRootKey('short', '/etc/roster/root-key')).toThrow(
    'the root key in "/etc/roster/root-key" must be 32 bytes in base64',
  );
});
