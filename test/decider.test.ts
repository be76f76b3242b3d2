/** Agents whose evaluations are decided by a thread of its own. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Agent, type CreateAgentOptions, createAgent } from '../src/agent.ts';
import type { Log } from '../src/server/context.ts';
import { jobBody, nodeBody, rootToken } from './support/api.ts';
import { HastyBeats, hangThread } from './support/hang-thread.ts';

const agents: Agent[] = [];
const threads: Worker[] = [];
const logged: string[] = [];
const note = (_fields: object, sentence: string) => void logged.push(sentence);
const log: Log = { debug() {}, info: note, warn: note, error: note };
const onThread = (message: unknown) => {
  threads.push((message as { readonly worker: Worker }).worker);
};
/** A new thread loads the scheduler and the model. */
const patience = { timeout: 60_000 };
/** The same, after the thread before it was found to hang. */
const long = { timeout: 120_000 };
const follows = 'evaluations are decided by a thread of their own';

beforeEach(() => subscribe('worker_threads', onThread));
afterEach(async () => {
  unsubscribe('worker_threads', onThread);
  for (const agent of agents.splice(0)) await agent.close('stop');
  threads.length = 0;
  logged.length = 0;
});

async function start(options: CreateAgentOptions = {}) {
  const http = { host: '127.0.0.1', port: 0 };
  const agent = await createAgent({ http, rootToken, decider: true, log, ...options });
  agents.push(agent);
  const call = async (method: string, path: string, body?: object | Uint8Array<ArrayBuffer>) => {
    const answer = await fetch(`${agent.address}${path}`, {
      method,
      headers: { 'x-registry-token': rootToken },
      ...(body && { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
    });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const json = () => JSON.parse(new TextDecoder().decode(bytes));
    return { status: answer.status, bytes, json };
  };
  await expect.poll(() => logged, patience).toContain(follows);
  expect((await call('PUT', '/v1/node/register', nodeBody())).status).toBe(200);
  return {
    call,
    /** Registers the job. Resolves with the number of its allocations when there are some. */
    placed: async (id: string): Promise<number> => {
      expect((await call('POST', '/v1/jobs', jobBody({ ID: id }))).status).toBe(200);
      const count = async () => (await call('GET', `/v1/job/${id}/allocations`)).json().length;
      await expect.poll(count).toBeGreaterThan(0);
      return count();
    },
    /** The number of decisions of the decider. */
    decided: async (): Promise<number> => {
      const metrics = (await call('GET', '/v1/metrics?format=json')).json();
      const { values } = metrics.find(
        ({ name }: { name: string }) => name === 'roster_decider_decisions_total',
      );
      return values[0].value;
    },
  };
}

test('a decider decides, and its placement can be explained', async () => {
  const { call, placed, decided } = await start();
  expect(await placed('web')).toBe(1);
  expect(await decided()).toBeGreaterThan(0);
  const [allocation] = (await call('GET', '/v1/job/web/allocations')).json();
  const why = (await call('GET', `/v1/allocation/${allocation.ID}/why`)).json();
  expect(why).toMatchObject({ AllocID: allocation.ID, NodeName: 'node-1', Basis: 'decision' });
});

test('a decider that has ended is replaced, and meanwhile the main thread decides', async () => {
  const { placed, decided } = await start();
  await threads[0]!.terminate();
  await placed('web');
  await expect.poll(() => logged.filter((one) => one === follows), patience).toHaveLength(2);
  const before = await decided();
  await placed('api');
  expect(await decided()).toBeGreaterThan(before);
});

test('a decider that hangs is ended and replaced, also where nothing asks it', async () => {
  const beats = new HastyBeats();
  const { call, placed } = await start({ world: beats.world });
  await expect.poll(() => beats.count, patience).toBeGreaterThanOrEqual(2);
  await hangThread(threads[0]!);
  beats.isHasty = true;
  await expect.poll(() => logged, long).toContain('the decider has ended: it is started again');
  beats.isHasty = false;
  // On a busy machine the next one may miss hasty beats, too.
  const following = () => logged.filter((one) => one === follows).length;
  await expect.poll(following, long).toBeGreaterThanOrEqual(2);
  // The node has not been heard for long.
  await call('PUT', '/v1/node/register', nodeBody());
  expect(await placed('web')).toBe(1);
  const metrics = (await call('GET', '/v1/metrics?format=json')).json();
  const { values } = metrics.find(
    ({ name }: { name: string }) => name === 'roster_thread_ends_total',
  );
  const { value } = values.find(
    ({ labels }: { labels: { thread: string; reason: string } }) =>
      labels.thread === 'decider' && labels.reason === 'hung',
  );
  expect(value).toBeGreaterThan(0);
}, 240_000);

test('after a restore a new decider follows the restored state', async () => {
  const { call, placed, decided } = await start();
  await placed('web');
  const { bytes } = await call('GET', '/v1/operator/snapshot');
  await placed('later');
  const { ClusterID } = (await call('GET', '/v1/operator/snapshot/restored')).json();
  const restored = await call('PUT', `/v1/operator/snapshot?force=${ClusterID}`, bytes);
  expect(restored.status).toBe(200);
  await expect.poll(() => logged.filter((one) => one === follows), patience).toHaveLength(2);
  // Each term counts its own decisions.
  expect(await decided()).toBe(0);
  await call('PUT', '/v1/node/register', nodeBody());
  await placed('later');
  expect(await decided()).toBeGreaterThan(0);
});
