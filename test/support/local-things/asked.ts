/** Knowledge of the server that is asked, and of requests under way. */
import { expect } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { requestOf } from '../agent-requests.ts';
import { jobBody, rootToken } from '../api.ts';
import { Collector } from '../collector.ts';
import type { LocalAgent, LocalCluster } from '../local-cluster.ts';
import { call, ServerCluster } from '../server-cluster.ts';
import { openUiSocket } from '../ui-stream.ts';
import { register, type Things, withAgents } from './agents.ts';
import { leaderLost, withServers } from './connections.ts';

/** Makes a token under an `Idempotency-Key`. */
const makeToken = (cluster: LocalCluster, { agent }: LocalAgent, Description: string) =>
  cluster.send(agent, {
    ...requestOf('PUT', '/v1/acl/token', rootToken, { Description, Policies: [] }),
    headers: { 'x-registry-token': rootToken, 'idempotency-key': 'once' },
  });

const made = async (cluster: LocalCluster, description: string): Promise<number> => {
  const { json } = await cluster.call(cluster.leader, 'GET', '/v1/acl/tokens');
  return json.filter(({ Description }: { Description: string }) => Description === description)
    .length;
};

export const asked: Things = {
  'writes under way, requests that wait for a leader': withAgents(async (cluster) => {
    const [follower] = cluster.followers;
    const { leader } = cluster;
    leader.engine.crash();
    const waiting = cluster.call(follower!, 'PUT', '/v1/namespace/late', { Name: 'late' });
    expect((await waiting).status).toBe(200);
    cluster.servers.splice(cluster.servers.indexOf(leader), 1);
    await cluster.during(leader.agent.close('stop'));
    for (const server of cluster.servers) {
      expect((await cluster.call(server, 'GET', '/v1/namespace/late')).status).toBe(200);
    }
  }),

  'writes with an `Idempotency-Key` under way': withAgents(async (cluster) => {
    cluster.log.faults.loseAnswer = () => true;
    const lost = await makeToken(cluster, cluster.followers[0]!, 'one');
    expect([lost.status, lost.json.code]).toEqual([503, 'outcome-unknown']);
    cluster.log.faults.loseAnswer = undefined;
    await cluster.loseLeader();
    const again = await makeToken(cluster, cluster.followers[0]!, 'one');
    const third = await makeToken(cluster, cluster.leader, 'one');
    expect([again.status, third.json.SecretID]).toEqual([200, again.json.SecretID]);
    expect(await made(cluster, 'one')).toBe(1);
    const other = await makeToken(cluster, cluster.leader, 'another');
    expect([other.status, other.json.code]).toEqual([409, 'idempotency-key-reused']);
  }),

  'expired tokens': withAgents(async (cluster) => {
    const body = { Description: 'short', Policies: [], ExpirationTTL: '1m' };
    const token = await cluster.call(cluster.leader, 'PUT', '/v1/acl/token', body);
    expect(token.status).toBe(200);
    await cluster.loseLeader();
    expect(await made(cluster, 'short')).toBe(1);
    await cluster.world.advance(61_000);
    expect(await made(cluster, 'short')).toBe(0);
  }),

  'the tables that each server reads': withAgents(async (cluster) => {
    const connected = async () => {
      await cluster.world.advance(2 * limits.upgrade.lookMs);
      const { json } = await cluster.call(cluster.leader, 'GET', '/v1/operator/upgrade');
      const servers: { ID: string; Connected: boolean }[] = json.Servers;
      return servers.filter(({ Connected }) => Connected).map(({ ID }) => ID);
    };
    const before = await connected();
    expect(before).toHaveLength(3);
    await cluster.loseLeader();
    const after = await connected();
    expect(after).toHaveLength(2);
    expect(before).toEqual(expect.arrayContaining(after));
  }),

  'reports of the other servers': withServers(async (cluster) => {
    const [, kept] = cluster.followers;
    const statuses = async () => {
      const { json } = await call(kept!, 'GET', '/v1/servers');
      return (json as { Status: string; Leader: boolean }[]).map(({ Status }) => Status).sort();
    };
    await expect.poll(statuses).toEqual(['alive', 'alive', 'alive']);
    const lost = cluster.leader!.id;
    await leaderLost(cluster, kept);
    await expect.poll(statuses).toEqual(['alive', 'alive', 'unreachable']);
    const { json } = await call(kept!, 'GET', '/v1/servers');
    const [leader] = (json as { ID: string; Leader: boolean }[]).filter(({ Leader }) => Leader);
    expect([leader!.ID === lost, leader!.ID]).toEqual([false, cluster.leader!.id]);
  }),

  'event streams, pages of the web interface': withServers(async (cluster) => {
    const [chosen] = cluster.followers;
    const { address } = chosen!.agent;
    const page = openUiSocket(address, { token: rootToken });
    page.send({ kind: 'watch', id: 1, path: '/v1/namespaces' });
    const names = () => ((page.values.get(1) ?? []) as { Name: string }[]).map(({ Name }) => Name);
    await page.until(() => expect(names()).toContain('default'));
    const gone = new AbortController();
    const headers = { 'x-registry-token': rootToken };
    const stream = await fetch(`${address}/v1/event/stream`, { headers, signal: gone.signal });
    const text: string[] = [];
    const reading = (async () => {
      for await (const part of stream.body!) text.push(Buffer.from(part).toString());
    })().catch(() => {});
    try {
      await leaderLost(cluster, chosen);
      await call(cluster.leader!, 'PUT', '/v1/namespace/green', { Name: 'green' });
      await call(cluster.leader!, 'POST', '/v1/jobs', jobBody({ ID: 'green' }));
      await page.until(() => expect(names()).toContain('green'));
      await expect.poll(() => text.join('')).toContain('green');
    } finally {
      gone.abort();
      await reading;
      page.socket.close();
      await page.closed;
    }
  }),

  'rows and counts that are kept for answers': withAgents(async (cluster) => {
    await register(cluster);
    const paths = ['/v1/jobs', '/v1/namespaces', '/v1/overview', '/v1/nodes'];
    const answers = async () => {
      const read = (server: LocalAgent) =>
        Promise.all(
          paths.map(async (path) => JSON.stringify((await cluster.call(server, 'GET', path)).json)),
        );
      return Promise.all(cluster.servers.map(read));
    };
    const before = await answers();
    expect(before).toEqual([before[0], before[0], before[0]]);
    await cluster.loseLeader();
    expect(await answers()).toEqual([before[0], before[0]]);
    await register(cluster, { ID: 'another' });
    const after = await answers();
    expect(after).toEqual([after[0], after[0]]);
    expect(after[0]).not.toEqual(before[0]);
  }),

  'spans of requests and evaluations': async () => {
    const collector = new Collector();
    await collector.start();
    const cluster = new ServerCluster();
    try {
      const telemetry = { endpoint: collector.endpoint };
      const names = ['first', 'second', 'third'];
      await Promise.all(names.map((name) => cluster.start({ telemetry, server: { name } })));
      await cluster.settled();
      const evaluated = async (ID: string) => {
        const leader = cluster.servers.indexOf(await cluster.settled());
        const { json } = await call(cluster.servers[leader]!, 'POST', '/v1/jobs', jobBody({ ID }));
        const isOf = ({ attributes }: (typeof collector.spans)[number]) =>
          attributes.some(({ value }) => JSON.stringify(value).includes(json.EvalID));
        await expect.poll(() => collector.spans.some(isOf)).toBe(true);
        return collector.spans.find(isOf)!.instance;
      };
      const before = await evaluated('one');
      await leaderLost(cluster);
      expect(await evaluated('two')).not.toBe(before);
    } finally {
      await cluster.close();
      await collector.stop();
    }
  },
};
