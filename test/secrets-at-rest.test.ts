import { mkdtemp, readdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Agent, createAgent } from '../src/agent.ts';
import { parseAnswer, requestOf } from './support/agent-requests.ts';
import { certificate } from './support/certificate.ts';
import { storedText } from './support/stored-files.ts';

const rootToken = '11111111-1111-4111-8111-111111111111';
const secret = '12121212-1212-4212-8212-121212121212';
const jwt = ['{"alg":"RS256"}', '{"sub":"reviewer"}', 'signature']
  .map((part) => Buffer.from(part).toString('base64url'))
  .join('.');

const password = 'correct horse battery staple';

let dataDirectory: string;
beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'roster-secrets-'));
});
afterEach(() => rm(dataDirectory, { recursive: true }));

const start = (options: object = {}): Promise<Agent> =>
  createAgent({ dataDirectory, rootToken, ...options });

const call = async (agent: Agent, method: string, url: string, body?: object) =>
  parseAnswer(await agent.handle(requestOf(method, url, rootToken, body)));

async function fill(agent: Agent): Promise<void> {
  const Config = { Host: 'https://k8s.example', CACert: certificate, ServiceAccountJWT: jwt };
  const method = { Name: 'k8s', Type: 'kubernetes', Config };
  expect((await call(agent, 'PUT', '/v1/acl/token', { SecretID: secret })).status).toBe(200);
  expect((await call(agent, 'PUT', '/v1/acl/auth-method', method)).status).toBe(200);
  for (const Items of [{ password: 'before it' }, { password }]) {
    expect((await call(agent, 'PUT', '/v1/var/db/main', { Items })).status).toBe(200);
  }
}

test('the stored files and the logs have no secret, and only the user may read the root key', async () => {
  const logged: string[] = [];
  const note = (fields: object, sentence: string) =>
    void logged.push(`${JSON.stringify(fields)} ${sentence}`);
  const log = { debug: note, info: note, warn: note, error: note };
  const sink = { write: (line: string) => void logged.push(line) };
  const agent = await start({ log, audit: { to: sink, events: 'all' } });
  await fill(agent);
  await call(agent, 'PUT', '/v1/operator/keyring/rotate');
  await call(agent, 'GET', '/v1/var/db/main');
  await call(agent, 'PUT', '/v1/var/db/main', { Items: { [password]: 7 } });
  await call(agent, 'PUT', '/v1/var/db%20main', { Items: { password } });
  await agent.close('stop');
  expect(logged.join('')).toContain('/v1/var/db/main');
  const text = `${await storedText(dataDirectory, 'root-key')}${logged.join('')}`;
  for (const shown of ['k8s.example', 'db/main']) expect(text).toContain(shown);
  for (const hidden of [secret, rootToken, jwt, password, 'before it'])
    expect(text).not.toContain(hidden);
  const key = join(dataDirectory, 'root-key');
  expect((await stat(key)).mode & 0o777).toBe(0o600);
  expect(text).not.toContain((await readFile(key, 'utf8')).trim());
});

test('a restart keeps secrets', async () => {
  const agent = await start();
  await fill(agent);
  await agent.close('stop');
  const again = await start();
  const self = await parseAnswer(
    await again.handle(requestOf('GET', '/v1/acl/token/self', secret)),
  );
  expect(self.json.SecretID).toBe(secret);
  const method = await call(again, 'GET', '/v1/acl/auth-method/k8s');
  expect(method.json.Config.ServiceAccountJWT).toBe(jwt);
  const variable = await call(again, 'GET', '/v1/var/db/main');
  expect(variable.json.Items).toEqual({ password });
  await again.close('stop');
});

test('without its root key, an agent does not start and makes no new key', async () => {
  const agent = await start();
  await fill(agent);
  await agent.close('stop');
  const path = join(dataDirectory, 'root-key');
  const key = await readFile(path, 'utf8');
  await unlink(path);
  await expect(start()).rejects.toThrow(/root key does not open the keyring/);
  await expect(stat(path)).rejects.toThrow('ENOENT');
  await writeFile(path, Buffer.alloc(32, 1).toString('base64'));
  await expect(start()).rejects.toThrow(/root key does not open the keyring/);
  await writeFile(path, 'too short');
  await expect(start()).rejects.toThrow(/32 bytes in base64/);
  await writeFile(path, key);
  await (await start()).close('stop');
});

test('a given root key is not stored', async () => {
  const rootKey = new Uint8Array(32).fill(3);
  const agent = await start({ rootKey });
  await fill(agent);
  await agent.close('stop');
  expect(await readdir(dataDirectory)).not.toContain('root-key');
  await expect(start()).rejects.toThrow(/root key does not open the keyring/);
  await (await start({ rootKey })).close('stop');
});
