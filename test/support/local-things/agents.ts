import { requestOf } from '../agent-requests.ts';
import { jobBody, rootToken } from '../api.ts';
import { Fleet, type FleetApi } from '../fleet.ts';
import { letIn } from '../introduction.ts';
import { type LocalCluster, startAgents } from '../local-cluster.ts';

/** Tests by the things that they are about. */
export type Things = Readonly<Record<string, () => Promise<void>>>;

/** Runs a test with three agents on simulated time. */
export const withAgents = (test: (cluster: LocalCluster) => Promise<void>) => async () => {
  const cluster = await startAgents(3);
  try {
    await test(cluster);
  } finally {
    await cluster.close();
  }
};

/** Calls any of the servers, whichever lives. */
export const callOf =
  (cluster: LocalCluster): FleetApi['call'] =>
  (method, url, { body, token } = {}) => {
    const request = requestOf(method, url, token ?? rootToken, body as object | undefined);
    return cluster.send(cluster.servers.at(-1)!.agent, request);
  };

/** Nodes that any of the servers hears. */
export async function fleetOf(cluster: LocalCluster): Promise<Fleet> {
  await letIn(cluster.leader.agent.state, cluster.world);
  return new Fleet({ call: callOf(cluster), world: cluster.world });
}

export async function register(
  cluster: LocalCluster,
  ...changes: Parameters<typeof jobBody>
): Promise<void> {
  const { status, json } = await callOf(cluster)('POST', '/v1/jobs', { body: jobBody(...changes) });
  if (status !== 200) throw new Error(json.detail);
  await cluster.world.advance(1000);
}
