/** Traces and metrics for a collector. Source: docs/operations/telemetry.md. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startNode } from '../src/agent-node.ts';
import { serverMetrics } from '../src/api/metrics/definitions.ts';
import { createAgent } from '../src/main.ts';
import { jobBody, rootToken } from './support/api.ts';
import { Collector } from './support/collector.ts';
import { ServerCluster } from './support/server-cluster.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const above = '00f067aa0ba902b7';

let collector: Collector;
beforeEach(async () => {
  collector = new Collector();
  await collector.start();
});
afterEach(() => collector.stop());

const sleeps = {
  Driver: 'raw_exec',
  Config: { command: '/bin/sleep', args: ['600'] },
  Env: { PASSWORD: 'planted-in-the-job' },
};

const send = async (
  address: string,
  method: string,
  path: string,
  { body, traceparent = '' }: { body?: object; traceparent?: string } = {},
) => {
  const answer = await fetch(`${address}${path}`, {
    method,
    headers: { 'x-registry-token': rootToken, ...(traceparent && { traceparent }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect([path, answer.status]).toEqual([path, 200]);
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  return (await answer.json()) as any;
};

test('a request is one trace, from its caller to the start of the task', async () => {
  const headersFile = join(mkdtempSync(join(tmpdir(), 'roster-headers-')), 'headers');
  writeFileSync(headersFile, 'Authorization: Bearer of-the-collector\n');
  const agent = await createAgent({
    http: { host: '127.0.0.1', port: 0 },
    rootToken,
    node: { name: 'alpha', address: '127.0.0.1' },
    drivers: { allow: ['raw_exec'] },
    environment: process.env,
    telemetry: { endpoint: collector.endpoint, headersFile },
  });
  const { address } = agent;
  const traceparent = `00-${traceId}-${above}-01`;
  const body = jobBody({}, {}, sleeps);
  await send(address, 'POST', '/v1/jobs', { body, traceparent });
  await expect
    .poll(async () => (await send(address, 'GET', '/v1/job/web/allocations'))[0]?.ClientStatus)
    .toBe('running');
  // The rest of this test is other traces, or none.
  await send(address, 'GET', '/v1/jobs', { traceparent });
  await send(address, 'GET', '/v1/jobs', { traceparent: `00-${traceId}-${above}-00` });
  await send(address, 'PUT', '/v1/job/web/evaluate', { body: { JobID: 'web' } });
  const shown = await fetch(`${address}/v1/metrics?format=openmetrics`, {
    headers: { 'x-registry-token': rootToken },
  });
  // The duration of the request has its trace as an exemplar.
  expect(await shown.text()).toMatch(
    new RegExp(
      `^roster_http_request_seconds_bucket.*/v1/jobs.* # \\{trace_id="${traceId}"\\} `,
      'm',
    ),
  );
  await agent.close('stop');

  expect(collector.treeOf(traceId, above)).toEqual([
    'GET /v1/jobs',
    {
      'POST /v1/jobs': [{ evaluation: ['commit', 'plan', { 'start allocation': ['start task'] }] }],
    },
  ]);
  const alone = collector.spans.filter((span) => span.traceId !== traceId);
  expect(alone.map(({ name }) => name).sort()).toEqual([
    'PUT /v1/job/:job_id+/evaluate',
    'commit',
    'evaluation',
    'plan',
  ]);
  expect(new Set(alone.map((span) => span.traceId)).size).toBe(1);
  for (const { name, startTimeUnixNano: start, endTimeUnixNano: end } of collector.spans) {
    expect([name, BigInt(end) >= BigInt(start)]).toEqual([name, true]);
  }
  const started = collector.spans.find(({ name }) => name === 'start allocation');
  expect(started!.attributes).toContainEqual({
    key: 'roster.node.name',
    value: { stringValue: 'alpha' },
  });
  expect(collector.headers[0]).toMatchObject({ authorization: 'Bearer of-the-collector' });
  const told = collector.bodies.join('\n');
  for (const secret of [rootToken, 'planted-in-the-job', 'of-the-collector']) {
    expect([secret, told.includes(secret)]).toEqual([secret, false]);
  }
});

test('a node alone sends its metrics, and the spans of its tasks in the trace of the request', async () => {
  const telemetry = { endpoint: collector.endpoint };
  const agent = await createAgent({
    http: { host: '127.0.0.1', port: 0 },
    rootToken,
    server: { name: 'server' },
    telemetry,
  });
  const { address } = agent;
  const { SecretID } = await send(address, 'PUT', '/v1/node/introduction-token', { body: {} });
  const node = await startNode(
    {
      node: { name: 'alone', address: '127.0.0.1' },
      drivers: { allow: ['raw_exec'] },
      environment: process.env,
      telemetry,
    },
    { addresses: [address], introduction: async () => SecretID },
  );
  await node.registered();
  const body = jobBody({}, {}, sleeps);
  await send(address, 'POST', '/v1/jobs', { body, traceparent: `00-${traceId}-${above}-01` });
  await expect
    .poll(async () => (await send(address, 'GET', '/v1/job/web/allocations'))[0]?.ClientStatus)
    .toBe('running');
  await node.close('stop');
  await agent.close('stop');

  expect(collector.treeOf(traceId, above)).toEqual([
    {
      'POST /v1/jobs': [{ evaluation: ['commit', 'plan', { 'start allocation': ['start task'] }] }],
    },
  ]);
  const sentBy = (name: string) =>
    collector.spans.filter((span) => span.name === name).map(({ instance }) => instance);
  expect([sentBy('start allocation'), sentBy('start task')]).toEqual([['server'], ['alone']]);
  const metrics = collector.metricsBy.get('alone');
  for (const name of ['node_cpu_cores', 'task_memory_bytes']) {
    expect([name, metrics?.has(`roster_${name}`)]).toEqual([name, true]);
  }
  expect(metrics).toContain('process_resident_memory_bytes');
});

test('an evaluation of the servers is in the trace of the evaluation that has led to it', async () => {
  const agent = await createAgent({
    http: { host: '127.0.0.1', port: 0 },
    rootToken,
    node: { name: 'alpha', address: '127.0.0.1' },
    drivers: { allow: ['raw_exec'] },
    environment: process.env,
    telemetry: { endpoint: collector.endpoint },
  });
  const { address } = agent;
  const Constraints = [{ LTarget: '${meta.rack}', RTarget: 'r2', Operand: '=' }];
  const body = jobBody({ Constraints }, {}, sleeps);
  await send(address, 'POST', '/v1/jobs', { body, traceparent: `00-${traceId}-${above}-01` });
  const evaluations = () => send(address, 'GET', '/v1/job/web/evaluations');
  await expect
    .poll(async () => (await evaluations()).map(({ Status }: { Status: string }) => Status))
    .toContain('blocked');
  await agent.configure({
    drivers: { allow: ['raw_exec'] },
    meta: { rack: 'r2' },
    nodeClass: '',
    isRemoteExecDisabled: false,
    isVerbose: false,
  });
  await expect
    .poll(async () => (await send(address, 'GET', '/v1/job/web/allocations'))[0]?.ClientStatus)
    .toBe('running');
  await agent.close('stop');
  expect(collector.treeOf(traceId, above)).toEqual([
    {
      'POST /v1/jobs': [
        {
          evaluation: [
            'commit',
            { evaluation: ['commit', 'plan', { 'start allocation': ['start task'] }] },
            'plan',
          ],
        },
      ],
    },
  ]);
});

test('a request that a reader answers is in its trace', async () => {
  const agent = await createAgent({
    http: { host: '127.0.0.1', port: 0 },
    rootToken,
    readers: 1,
    telemetry: { endpoint: collector.endpoint },
  });
  const traceparent = `00-${traceId}-${above}-01`;
  await send(agent.address, 'GET', '/v1/jobs', { traceparent });
  await send(agent.address, 'POST', '/v1/jobs', { body: jobBody(), traceparent });
  await agent.close('stop');
  expect(collector.treeOf(traceId, above)).toEqual([
    'GET /v1/jobs',
    { 'POST /v1/jobs': [{ evaluation: ['commit', 'plan'] }] },
  ]);
});

test('a request that another server runs is in the trace once', async () => {
  const cluster = new ServerCluster();
  try {
    const telemetry = { endpoint: collector.endpoint };
    await Promise.all([cluster.start({ telemetry }), cluster.start({ telemetry })]);
    await cluster.settled();
    const [follower] = cluster.followers;
    const traceparent = `00-${traceId}-${above}-01`;
    const made = await send(follower!.agent.address, 'POST', '/v1/jobs', {
      body: jobBody(),
      traceparent,
    });
    const path = `/v1/evaluation/${made.EvalID}`;
    await expect
      .poll(async () => (await send(follower!.agent.address, 'GET', path)).Status)
      .toBe('complete');
  } finally {
    await cluster.close();
  }
  expect(collector.treeOf(traceId, above)).toEqual([
    { 'POST /v1/jobs': [{ evaluation: ['commit', 'plan'] }] },
  ]);
});

test('metrics are sent under the names that they have elsewhere', async () => {
  const agent = await createAgent({
    http: { host: '127.0.0.1', port: 0 },
    rootToken,
    telemetry: { endpoint: collector.endpoint },
  });
  const shown = await send(agent.address, 'GET', '/v1/metrics');
  await agent.close('stop');
  const names: string[] = shown
    .filter(({ values }: { values: unknown[] }) => values.length > 0)
    .map(({ name }: { name: string }) => name);
  expect(names.length).toBeGreaterThan(10);
  // They are sent when the agent has ended to lead.
  const everywhere = names.filter((name) => serverMetrics[name]?.only !== 'leader');
  expect(everywhere.filter((name) => !collector.metrics.has(name))).toEqual([]);
});

test('an agent goes on without its collector', async () => {
  const agent = await createAgent({
    http: { host: '127.0.0.1', port: 0 },
    rootToken,
    telemetry: { endpoint: 'http://127.0.0.1:1' },
  });
  await send(agent.address, 'POST', '/v1/jobs', { body: jobBody() });
  await agent.close('stop');
  await expect(
    createAgent({ telemetry: { endpoint: 'http://127.0.0.1:1', headersFile: '/nowhere' } }),
  ).rejects.toThrow('telemetry.otlp.headers_file cannot be read');
});
