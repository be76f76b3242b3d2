/** An agent whose state is in etcd. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import { type Agent, createAgent } from '../../src/main.ts';
import { decodeEntry } from '../../src/state/engine/etcd/log-entry.ts';
import { endAgents, eventually, newDirectory, startAgent } from '../support/agent.ts';
import { parseAnswer, requestOf } from '../support/agent-requests.ts';
import { EtcdCluster, etcdServer } from '../support/etcd.ts';

interface Metric {
  readonly name: string;
  readonly values: readonly { readonly value: number }[];
}

const token = '11111111-1111-4111-8111-111111111111';
const rootKey = new Uint8Array(32).fill(7);

describe('an agent on etcd', needing(etcdServer), () => {
  let cluster: EtcdCluster;
  const agents: Agent[] = [];

  beforeAll(async () => {
    cluster = await EtcdCluster.start(1);
  });

  afterAll(async () => {
    for (const agent of agents) await agent.close('stop');
    await cluster?.stop();
    await endAgents();
  });

  const start = async (
    dataDirectory: string,
    prefix: string,
    key: Uint8Array | undefined = rootKey,
  ): Promise<Agent> => {
    const etcd = { endpoints: cluster.endpoints, prefix };
    const agent = await createAgent({ dataDirectory, etcd, rootKey: key, rootToken: token });
    agents.push(agent);
    return agent;
  };
  const end = async (agent: Agent) => {
    agents.splice(agents.indexOf(agent), 1);
    await agent.close('stop');
  };
  const call = async (agent: Agent, method: string, url: string, body?: object) =>
    parseAnswer(await agent.handle(requestOf(method, url, token, body)));
  const directory = () => mkdtempSync(join(tmpdir(), 'on-etcd-'));

  test('keeps its state there, whatever becomes of its data directory', async () => {
    const first = await start(directory(), '/restart/');
    expect((await call(first, 'PUT', '/v1/namespace/blue', { Name: 'blue' })).status).toBe(200);
    await end(first);
    const second = await start(directory(), '/restart/');
    expect((await call(second, 'GET', '/v1/namespace/blue')).status).toBe(200);
    expect((await call(second, 'PUT', '/v1/namespace/red', { Name: 'red' })).status).toBe(200);
  });

  test('compresses large batches once the cluster has its version', async () => {
    const agent = await start(directory(), '/packed/');
    const client = cluster.client();
    const Rules = `# ${'long '.repeat(400)}`;
    let made = 0;
    await expect
      .poll(async () => {
        await call(agent, 'PUT', '/v1/acl/policy', { Name: `long-${++made}`, Rules });
        const { keys } = await client.range({ key: '/packed/log/', end: '/packed/log0' });
        const entries = keys.map(({ key, value }) => decodeEntry(value, key));
        return entries.at(-1)?.packing;
      })
      .toBe('zstd');
    await end(agent);
    const again = await start(directory(), '/packed/');
    const read = await call(again, 'GET', `/v1/acl/policy/name/long-${made}`);
    expect(read.json).toMatchObject({ Rules });
  });

  test('a second agent follows: it reads exactly, refuses writes, and leads when the first ends', async () => {
    const first = await start(directory(), '/two/');
    const second = await start(directory(), '/two/');
    expect([first.state.leading !== undefined, second.state.leading]).toEqual([true, undefined]);
    for (const name of ['a', 'b', 'c']) {
      await call(first, 'PUT', `/v1/namespace/${name}`, { Name: name });
      expect((await call(second, 'GET', `/v1/namespace/${name}`)).status).toBe(200);
    }
    const refused = await call(second, 'PUT', '/v1/namespace/d', { Name: 'd' });
    expect([refused.status, refused.json.code]).toEqual([503, 'no-leader']);
    await end(first);
    await expect
      .poll(async () => (await call(second, 'PUT', '/v1/namespace/d', { Name: 'd' })).status)
      .toBe(200);
  });

  test('without the root key of its cluster it takes no term, although nobody leads', async () => {
    await end(await start(directory(), '/keyed/'));
    const front = async () => {
      const { keys } = await cluster.client().range({ key: '/keyed/head', end: '/keyed/leader0' });
      return keys.map(({ key, modRevision }) => [key, modRevision]);
    };
    const before = await front();
    expect(before.map(([key]) => key)).toEqual(['/keyed/head']);
    const other = await start(directory(), '/keyed/', new Uint8Array(32).fill(8));
    const { status, json } = await call(other, 'GET', '/v1/namespaces');
    expect([status, json.code]).toEqual([503, 'not-ready']);
    expect(other.fault).toMatch(/^with errors alone: its root key is missing/);
    const right = await start(directory(), '/keyed/');
    expect((await call(right, 'PUT', '/v1/namespace/a', { Name: 'a' })).status).toBe(200);
    // It cannot prove itself to the others, so they do not hear of it.
    const listed = await eventually(async () => {
      const { keys } = await cluster
        .client()
        .range({ key: '/keyed/member/', end: '/keyed/member0' });
      expect(keys).not.toEqual([]);
      return keys;
    });
    expect(listed).toHaveLength(1);
    await end(right);
    const after = await front();
    await end(other);
    expect(await front()).toEqual(after);
  });

  test('holds its data directory, which has the note of its log and its copy of the state', async () => {
    const own = directory();
    const first = await start(own, '/held/');
    await expect(start(own, '/held/')).rejects.toThrow('is in use by another agent');
    await end(first);
    await end(await start(own, '/held/'));
  });

  test('does not follow an etcd that is not the one of before, and is not in its list of servers', async () => {
    const own = directory();
    const first = await start(own, '/own/');
    await end(first);
    const other = await start(directory(), '/another/');
    const again = await start(own, '/another/');
    await eventually(() => expect(again.state.closed?.message).toContain('the log has diverged'));
    expect(again.state.leading).toBeUndefined();
    const listed = await cluster
      .client()
      .range({ key: '/another/member/', end: '/another/member0' });
    expect(listed.keys).toHaveLength(1);
    expect((await call(other, 'PUT', '/v1/namespace/blue', { Name: 'blue' })).status).toBe(200);
    await end(again);
  });

  test('tells the health of the log, and what etcd says of its size', async () => {
    const first = await start(directory(), '/health/');
    const second = await start(directory(), '/health/');
    await call(first, 'PUT', '/v1/namespace/a', { Name: 'a' });
    const { log } = await eventually(async () => {
      const { json } = await call(first, 'GET', '/v1/agent/health');
      expect(json.log.Store).toBeDefined();
      return json;
    });
    expect(log).toMatchObject({ ok: true, message: 'ok', Term: 1, Store: { Full: false } });
    expect(log.Store.Bytes).toBeGreaterThan(log.Store.BytesInUse - 1);
    expect(log.LeaseAgeMs).toBeLessThan(10_000);
    const ofFollower = (await call(second, 'GET', '/v1/metrics')).json;
    const value = (metrics: Metric[], name: string) =>
      metrics.find((metric) => metric.name === `roster_${name}`)?.values[0]?.value;
    const ofLeader = (await call(first, 'GET', '/v1/metrics')).json;
    expect(value(ofLeader, 'log_appends_total')).toBeGreaterThan(0);
    expect(value(ofLeader, 'log_append_seconds_total')).toBeGreaterThan(0);
    expect(value(ofLeader, 'log_lease_age_seconds')).toBeLessThan(10);
    expect(value(ofLeader, 'etcd_db_bytes')).toBe(log.Store.Bytes);
    expect(value(ofLeader, 'log_outcomes_unknown_total')).toBe(0);
    expect(value(ofFollower, 'log_appends_total')).toBe(0);
    expect(value(ofFollower, 'log_lease_age_seconds')).toBeUndefined();
    expect([value(ofFollower, 'log_term'), value(ofFollower, 'log_diverged')]).toEqual([1, 0]);
  });

  test('the program takes its flags, runs tasks, and finds its state again', async () => {
    const dataDirectory = newDirectory();
    const args = ['--engine', 'etcd', '--etcd-endpoints', cluster.endpoints.join(',')];
    const first = await startAgent({ dataDirectory, args });
    const Tasks = [
      { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/sleep', args: ['1000'] } },
    ];
    await first.register({ ID: 'web', Datacenters: ['dc1'], TaskGroups: [{ Name: 'g', Tasks }] });
    await first.until('/v1/job/web/allocations', ([allocation]) =>
      expect(allocation.ClientStatus).toBe('running'),
    );
    expect((await first.stop()).code).toBe(0);
    const second = await startAgent({ dataDirectory, args });
    expect((await second.get('/v1/job/web')).ID).toBe('web');
    await second.until('/v1/job/web/allocations', ([allocation]) =>
      expect(allocation.ClientStatus).toBe('running'),
    );
    await second.stop();
  }, 90_000);
});
