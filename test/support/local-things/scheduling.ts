import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Allocation } from '../../../src/model/allocation/allocation.ts';
import { limits } from '../../../src/model/limits.ts';
import { isSnapshotName } from '../../../src/model/snapshot/snapshot-header.ts';
import { requestOf } from '../agent-requests.ts';
import { jobBody, rootToken } from '../api.ts';
import { idOf, secretOf } from '../fleet.ts';
import { type LocalAgent, type LocalCluster, settleMs, startAgents } from '../local-cluster.ts';
import { countsOf, valuesOf } from '../metrics.ts';
import { sized } from '../plans.ts';
import { callOf, fleetOf, register, type Things, withAgents } from './agents.ts';

const read = async (cluster: LocalCluster, path: string) =>
  (await callOf(cluster)('GET', path)).json;

const nodesOf = async (cluster: LocalCluster, job: string): Promise<readonly string[]> => {
  const all: Allocation[] = await read(cluster, `/v1/job/${job}/allocations`);
  return all.filter(({ DesiredStatus }) => DesiredStatus === 'run').map(({ NodeID }) => NodeID);
};

/** A snapshot of the state, as a file. */
async function saved(cluster: LocalCluster): Promise<Uint8Array> {
  const { agent } = cluster.leader;
  const request = requestOf('GET', '/v1/operator/snapshot', rootToken);
  const { body } = await cluster.during(agent.handle({ ...request, onGone: () => () => {} }));
  const parts: Uint8Array[] = [];
  const read = async () => {
    for await (const part of body as AsyncIterable<Uint8Array>) parts.push(part);
  };
  await cluster.during(read());
  return Buffer.concat(parts);
}

export const scheduling: Things = {
  'queues of evaluations, back-pressure': withAgents(async (cluster) => {
    await register(cluster);
    await cluster.loseLeader();
    const fleet = await fleetOf(cluster);
    await fleet.join(1);
    await fleet.pass(2000);
    expect(await nodesOf(cluster, 'web')).toEqual([idOf(1)]);
  }),

  "the scheduler's memory, the copy of the decider": withAgents(async (cluster) => {
    const fleet = await fleetOf(cluster);
    await fleet.join(1, sized(150));
    await register(cluster);
    await cluster.loseLeader();
    // The first node is full, and the next leader knows.
    await register(cluster, { ID: 'other' });
    expect(await nodesOf(cluster, 'other')).toEqual([]);
    await fleet.join(1, sized(150));
    await fleet.pass(2000);
    expect(await nodesOf(cluster, 'other')).toEqual([idOf(2)]);
  }),

  'deadlines of nodes': withAgents(async (cluster) => {
    const fleet = await fleetOf(cluster);
    await fleet.join(1);
    const status = async () => (await read(cluster, `/v1/node/${idOf(1)}`)).Status;
    await cluster.world.advance(15_000);
    await cluster.loseLeader();
    // Far beyond the deadline that the leader before had given.
    await cluster.world.advance(limits.node.heartbeatFailoverTtlMs - 60_000);
    expect(await status()).toBe('ready');
    await cluster.world.advance(60_000);
    expect(await status()).toBe('down');
  }),

  'deployments, drains, launches, garbage': withAgents(async (cluster) => {
    const fleet = await fleetOf(cluster);
    await fleet.join(1);
    await register(cluster, {}, { Count: 2, Update: { MaxParallel: 1 } });
    const Periodic = { Specs: ['* * * * *'] };
    await register(cluster, { ID: 'minutely', Type: 'batch', Periodic });
    await cluster.loseLeader();
    const deployment = async () => (await read(cluster, '/v1/job/web/deployment')).Status;
    expect(await deployment()).toBe('running');
    const fate = ({ JobID }: Allocation) => (JobID === 'web' ? 'running' : 'complete');
    await fleet.pass(65_000, fate);
    expect(await deployment()).toBe('successful');
    const children: { ID: string }[] = await read(cluster, '/v1/jobs?prefix=minutely/');
    expect(children.length).toBeGreaterThan(0);
    await fleet.join(1);
    const drain = { DrainSpec: { Deadline: 0 } };
    await callOf(cluster)('PUT', `/v1/node/${idOf(1)}/drain`, { body: drain });
    await cluster.start();
    await cluster.loseLeader();
    await fleet.pass(60_000, fate);
    const { LastDrain } = await read(cluster, `/v1/node/${idOf(1)}`);
    expect([LastDrain.Status, await nodesOf(cluster, 'web')]).toEqual([
      'complete',
      [idOf(2), idOf(2)],
    ]);
    await callOf(cluster)('DELETE', '/v1/job/web');
    await fleet.pass(2000);
    await callOf(cluster)('PUT', '/v1/system/gc');
    expect((await callOf(cluster)('GET', '/v1/job/web')).status).toBe(404);
  }),

  'snapshots on a schedule': async () => {
    const directory = mkdtempSync(join(tmpdir(), 'roster-things-'));
    const intervalMs = 60 * 60_000;
    const cluster = await startAgents(3, { snapshots: { directory, intervalMs, keep: 9 } });
    const files = () => readdirSync(directory).filter(isSnapshotName);
    const until = async (count: number) => {
      while (files().length < count) await cluster.world.advance(1);
    };
    try {
      await until(1);
      await cluster.loseLeader();
      await cluster.world.advance(intervalMs / 2);
      expect(files()).toHaveLength(1);
      await cluster.world.advance(intervalMs / 2);
      await until(2);
    } finally {
      await cluster.close();
      rmSync(directory, { recursive: true });
    }
  },

  'allocations that a restored snapshot does not know': withAgents(async (cluster) => {
    const fleet = await fleetOf(cluster);
    await fleet.join(1);
    const file = await saved(cluster);
    const force = `force=${(await read(cluster, '/v1/operator/snapshot/restored')).ClusterID}`;
    const url = `/v1/operator/snapshot?${force}`;
    const { agent } = cluster.leader;
    await cluster.send(agent, { ...requestOf('PUT', url, rootToken), body: file });
    const report = async () => {
      await fleet.register(1);
      const Allocations = [{ ID: idOf(5), ClientStatus: 'running' }];
      const asNode = { body: { Allocations }, token: secretOf(1) };
      return callOf(cluster)('PUT', `/v1/node/${idOf(1)}/status`, asNode);
    };
    const listed = async () =>
      (await read(cluster, '/v1/operator/snapshot/restored')).Allocations.length;
    await report();
    expect(await listed()).toBe(1);
    await cluster.loseLeader();
    expect(await listed()).toBe(0);
    const beat = { token: secretOf(1) };
    const heartbeat = await callOf(cluster)('PUT', `/v1/node/${idOf(1)}/heartbeat`, beat);
    expect(heartbeat.status).toBe(404);
    await report();
    expect(await listed()).toBe(1);
  }),

  'plans that can be carried out': withAgents(async (cluster) => {
    const [maker] = cluster.followers;
    const made = await cluster.call(maker!, 'POST', '/v1/job/web/plan', jobBody());
    const { PlanID } = made.json;
    const Entry = { Kind: 'service-defaults', Name: 'web', Protocol: 'http' };
    const act = { Kind: 'configuration-entry', Entry };
    const { ID } = (await cluster.call(maker!, 'POST', '/v1/plan', act)).json;
    await cluster.loseLeader();
    const byId = (at: LocalAgent, method: string, path = '') =>
      cluster.call(at, method, `/v1/plan/${ID}${path}`);
    const shown = await byId(cluster.followers[0]!, 'GET');
    expect(shown.json.Differences).toContainEqual(expect.objectContaining({ New: 'http' }));
    expect((await byId(cluster.followers[0]!, 'PUT', '/apply')).status).toBe(200);
    const entry = await cluster.call(cluster.leader, 'GET', '/v1/config/service-defaults/web');
    expect(entry.json.Protocol).toBe('http');
    const carryOut = (at: LocalAgent) =>
      cluster.call(at, 'POST', '/v1/jobs', { ...jobBody(), PlanID });
    expect((await carryOut(cluster.followers[0]!)).status).toBe(200);
    await cluster.loseLeader();
    const again = await carryOut(cluster.leader);
    expect([again.status, again.json.code]).toEqual([404, 'plan-not-found']);
    expect((await byId(cluster.leader, 'PUT', '/apply')).json.code).toBe('plan-carried-out');
  }),

  'counts of rows for metrics': withAgents(async (cluster) => {
    const counts = async () =>
      Promise.all(
        cluster.servers.map(async (server) => {
          const { json } = await cluster.call(server, 'GET', '/v1/metrics?format=json');
          const leads = valuesOf(json, 'roster_server_leader')[''] === 1;
          const hasQueue = 'blocked' in valuesOf(json, 'roster_evaluation_queue', {});
          expect([leads, hasQueue]).toEqual([server === cluster.leader, server === cluster.leader]);
          return countsOf(json, 'roster_jobs');
        }),
      );
    await register(cluster);
    const one = { 'default service running': 1 };
    expect(await counts()).toEqual([one, one, one]);
    await cluster.loseLeader();
    const { status } = await cluster.call(cluster.leader, 'POST', '/v1/jobs', jobBody({ ID: 'b' }));
    expect(status).toBe(200);
    await cluster.world.advance(settleMs);
    const two = { 'default service running': 2 };
    expect(await counts()).toEqual([two, two]);
  }),

  'decisions with their view': withAgents(async (cluster) => {
    const fleet = await fleetOf(cluster);
    await fleet.join(1);
    await register(cluster);
    const [{ ID }] = await read(cluster, '/v1/job/web/allocations');
    const basis = async () => (await read(cluster, `/v1/allocation/${ID}/why`)).Basis;
    expect(await basis()).toBe('decision');
    await cluster.loseLeader();
    expect(await basis()).toBe('now');
  }),
};
