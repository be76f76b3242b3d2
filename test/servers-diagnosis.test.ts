/** Logs, profiles and settings of any agent of a cluster, asked at any server. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { type RunningNode, startNode } from '../src/agent-node.ts';
import { silentLog } from '../src/base/log.ts';
import { realWorld } from '../src/base/ports-real.ts';
import { type MonitoredLog, monitored } from '../src/model/monitor/log-lines.ts';
import { rootToken } from './support/api.ts';
import { type ClusterServer, call, ServerCluster } from './support/server-cluster.ts';

const cluster = new ServerCluster();
const logs = new Map<string, MonitoredLog>();
let asked: ClusterServer;
let other: ClusterServer;
let node: RunningNode | undefined;

const newLog = (name: string): MonitoredLog => {
  const made = monitored(silentLog, realWorld.clock);
  logs.set(name, made);
  return made;
};
const log = (name: string): MonitoredLog => logs.get(name)!;

/** Made once, before the first test. */
beforeEach(async () => {
  if (node !== undefined) return;
  const start = (name: string) => cluster.start({ log: newLog(name), server: { name } });
  asked = await start('asked');
  other = await start('other');
  await cluster.settled();
  const { json } = await call(other, 'PUT', '/v1/node/introduction-token', {});
  node = await startNode(
    { node: { name: 'alpha', address: '127.0.0.1' }, log: newLog('node') },
    { addresses: [other.agent.address], introduction: async () => json.SecretID },
  );
  await node.registered();
});
afterAll(async () => {
  await node?.close('stop');
  await cluster.close();
});

/** Follows a log at the server that is asked. */
async function follow(query: string, token = rootToken) {
  const leave = new AbortController();
  const answer = await fetch(`${asked.agent.address}/v1/agent/monitor?plain&${query}`, {
    headers: { 'x-registry-token': token },
    signal: leave.signal,
  });
  expect([query, answer.status]).toEqual([query, 200]);
  const reader = answer.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  /** Reads until the text is there; `undefined`: until the end. */
  const until = async (wanted?: string): Promise<string> => {
    while (wanted === undefined || !text.includes(wanted)) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += decoder.decode(value, { stream: true });
    }
    return text;
  };
  return { until, leave: () => leave.abort() };
}

/** The node is connected to the other server. */
const agents = () =>
  [
    [`server_id=${asked.id}`, 'asked'],
    [`server_id=${other.id}`, 'other'],
    [`node_id=${node!.id}`, 'node'],
  ] as const;

test('the log of each agent is followed through one server, and of no other', async () => {
  for (const [query, name] of agents()) {
    const { until, leave } = await follow(`${query}&log_level=warn`);
    for (const [at, one] of logs) one.warn({ at }, 'a line');
    log(name).warn({}, 'the end');
    const text = await until('the end');
    expect([name, text.match(/at=\w+/g)]).toEqual([name, [`at=${name}`]]);
    leave();
  }
});

test('an agent keeps no lines after the reader at another server has left', async () => {
  for (const [query, name] of agents()) {
    const { until, leave } = await follow(`${query}&log_level=debug`);
    log(name).debug({}, 'somebody reads');
    await until('somebody reads');
    expect(log(name).isLevelEnabled?.('debug')).toBe(true);
    leave();
    await expect.poll(() => log(name).isLevelEnabled?.('debug')).toBe(false);
  }
});

test('the log of another agent ends when the token of the reader is gone', async () => {
  await call(asked, 'PUT', '/v1/acl/policy', {
    Name: 'reads',
    Rules: 'agent_prefix "" { policy = "read" }',
  });
  for (const [query, name] of agents()) {
    const token = (await call(asked, 'PUT', '/v1/acl/token', { Policies: [{ Name: 'reads' }] }))
      .json;
    const { until } = await follow(query, token.SecretID);
    log(name).warn({}, 'before');
    await until('before');
    await call(asked, 'DELETE', `/v1/acl/token/${token.AccessorID}`);
    const ending = until();
    // A server that has not heard of the deletion yet tells some more lines.
    const lines = setInterval(() => log(name).warn({}, 'after'), 20);
    expect(await ending).toMatch(/token/i);
    clearInterval(lines);
  }
});

test('profiles and settings are those of the agent that is named', async () => {
  for (const [query] of agents()) {
    const { status, json } = await call(asked, 'GET', `/v1/agent/pprof/profile?${query}`);
    expect([query, status, json.nodes.length > 0]).toEqual([query, 200, true]);
  }
  for (const [name, server] of [
    ['asked', asked],
    ['other', other],
  ] as const) {
    const { json } = await call(asked, 'GET', `/v1/agent/self?server_id=${server.id}`);
    expect(json.Name).toBe(name);
  }
  const { status, json } = await call(asked, 'GET', `/v1/metrics?server_id=${other.id}`);
  expect([status, typeof json]).toEqual([200, 'object']);
});

test('another server checks the token itself', async () => {
  const nobody = { agent: asked.agent, token: '99999999-9999-4999-8999-999999999999' };
  const { status, json } = await call(nobody, 'GET', `/v1/agent/self?server_id=${other.id}`);
  expect([status, json.code]).toEqual([403, 'token-not-found']);
});

test('a server that does not answer is named', async () => {
  const third = await cluster.start({ log: newLog('third') });
  await expect
    .poll(async () => (await call(asked, 'GET', `/v1/agent/self?server_id=${third.id}`)).status)
    .toBe(200);
  await cluster.kill(third);
  await expect
    .poll(async () => (await call(asked, 'GET', `/v1/agent/self?server_id=${third.id}`)).json.code)
    .toMatch(/^server-(unreachable|not-found)$/);
});
