/**
 * What one process alone knows, and what becomes of it when another server leads or is asked: a test for each row
 * of the table in ARCHITECTURE.md#several-servers.
 */
import { afterEach, expect, test } from 'vitest';
import { type LocalAgent, type LocalCluster, startAgents } from './support/local-cluster.ts';

let cluster: LocalCluster;
afterEach(async () => {
  for (const server of [...cluster.servers]) await cluster.kill(server);
});

const job = (ID: string) => ({
  Job: {
    ID,
    Datacenters: ['dc1'],
    TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'mock' }] }],
  },
});

test('plans that can be carried out', async () => {
  cluster = await startAgents(3);
  const [maker] = cluster.followers;
  const made = await cluster.call(maker!, 'POST', '/v1/job/web/plan', job('web'));
  const { PlanID } = made.json;
  await cluster.loseLeader();
  const carryOut = (at: LocalAgent) =>
    cluster.call(at, 'POST', '/v1/jobs', { ...job('web'), PlanID });
  const [carrier] = cluster.followers;
  expect((await carryOut(carrier!)).status).toBe(200);
  await cluster.loseLeader();
  const again = await carryOut(cluster.leader);
  expect([again.status, again.json.code]).toEqual([404, 'plan-not-found']);
});
