/** A reader that hangs, as its clients see it. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { Client } from 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Agent, createAgent } from '../src/agent.ts';
import type { Log } from '../src/server/context.ts';
import { rootToken } from './support/api.ts';
import { HastyBeats, hangThread } from './support/hang-thread.ts';

let agent: Agent | undefined;
const clients: Client[] = [];
const threads: Worker[] = [];
const logged: string[] = [];
const faults: unknown[] = [];
const note = (fields: object, sentence: string) => {
  logged.push(sentence);
  if ('error' in fields) faults.push(fields.error);
};
const log: Log = { debug() {}, info: note, warn: note, error: note };
const onThread = (message: unknown) => {
  threads.push((message as { readonly worker: Worker }).worker);
};

beforeEach(() => subscribe('worker_threads', onThread));
afterEach(async () => {
  unsubscribe('worker_threads', onThread);
  for (const client of clients.splice(0)) await client.destroy();
  await agent?.close('stop');
});

/** Calls over a connection of its own. */
function callOver(address: string) {
  const client = new Client(address);
  clients.push(client);
  return async (method: 'GET', path: string) => {
    const headers = { 'x-registry-token': rootToken };
    const { statusCode, body } = await client.request({ method, path, headers });
    return { statusCode, json: await body.json() };
  };
}

test('a reader that hangs is ended and replaced, which its clients see, the log and a metric', async () => {
  const beats = new HastyBeats();
  const http = { host: '127.0.0.1', port: 0 };
  agent = await createAgent({ http, rootToken, readers: 2, log, world: beats.world });
  // Each has a connection of its own, which the system gives to one of the readers.
  const calls = Array.from({ length: 32 }, () => callOver(agent!.address));
  await hangThread(threads[0]!);
  beats.isHasty = true;
  const fatesOf = async () => {
    const asked = await Promise.allSettled(calls.map((call) => call('GET', '/v1/acl/policies')));
    return asked.map((one) => (one.status === 'fulfilled' ? one.value.statusCode : 'ended'));
  };
  let fates = await fatesOf();
  // It may have answered before it hung.
  while (!fates.includes('ended')) fates = await fatesOf();
  beats.isHasty = false;
  expect(fates).toContain(200);
  const fault = 'Error: it has hung: it has taken no message for 30 s or more';
  await expect.poll(() => faults.map(String)).toContain(fault);
  await expect.poll(() => logged, { timeout: 120_000 }).toContain('a reader answers again');
  expect(await fatesOf()).not.toContain('ended');
  const { json } = await callOver(agent.address)('GET', '/v1/metrics?format=json');
  const metrics = json as { name: string; values: object[] }[];
  const { values } = metrics.find(({ name }) => name === 'roster_thread_ends_total')!;
  const labels = { thread: 'reader', reason: 'hung' };
  expect(values).toContainEqual({ labels, value: expect.toSatisfy((count) => count > 0) });
}, 240_000);
