import { expect } from 'vitest';
import { startNode } from '../../../src/agent-node.ts';
import { createAgent } from '../../../src/main.ts';
import { createClient } from '../../../src/sdk/client.ts';
import { jobBody, rootToken } from '../api.ts';
import { type Answer, type ClusterServer, call, ServerCluster } from '../server-cluster.ts';
import { type Things, withAgents } from './agents.ts';

/** Runs a test with three servers that reach each other over real sockets. */
export const withServers = (test: (cluster: ServerCluster) => Promise<void>) => async () => {
  const cluster = new ServerCluster();
  try {
    await Promise.all([cluster.start(), cluster.start(), cluster.start()]);
    await cluster.settled();
    await test(cluster);
  } finally {
    await cluster.close();
  }
};

/** A node that is connected to one server, and runs a shell. */
async function nodeAt({ agent }: ClusterServer) {
  const introduction = await call({ agent }, 'PUT', '/v1/node/introduction-token');
  const node = await startNode(
    {
      node: { name: 'only', address: '127.0.0.1' },
      drivers: { allow: ['raw_exec'] },
      environment: process.env,
    },
    { addresses: [agent.address], introduction: async () => introduction.json.SecretID },
  );
  await node.registered();
  const task = { Driver: 'raw_exec', Config: { command: '/bin/sleep', args: ['600'] } };
  await call({ agent }, 'POST', '/v1/jobs', jobBody({}, {}, task));
  const first = async () => (await call({ agent }, 'GET', '/v1/job/web/allocations')).json[0];
  await expect.poll(async () => (await first())?.ClientStatus).toBe('running');
  return { node, allocation: (await first()).ID as string };
}

/** The process of the leader, which is not that of `kept`, ends. Resolves when another one leads. */
export async function leaderLost(cluster: ServerCluster, kept?: ClusterServer): Promise<void> {
  // On a busy machine another server may lead by now.
  while ((await cluster.settled()) === kept) await kept.agent.state.stepDown();
  await cluster.kill(cluster.leader!);
  await cluster.settled();
}

const indexOf = ({ headers }: Answer) =>
  Number(headers['x-scheduler-index'] ?? headers['x-registry-index']);

export const connections: Things = {
  'streams of peerings, exchange of services': withServers(async (cluster) => {
    const east = await createAgent({ http: { host: '127.0.0.1', port: 0 }, rootToken });
    try {
      const made = await call({ agent: east }, 'POST', '/v1/peering/token', { PeerName: 'west' });
      const { PeeringToken } = made.json;
      const peer = { PeerName: 'east', PeeringToken };
      await call(cluster.servers[0]!, 'POST', '/v1/peering/establish', peer);
      const states = async () => [
        (await call(cluster.servers[1]!, 'GET', '/v1/peering/east')).json.State,
        (await call({ agent: east }, 'GET', '/v1/peering/west')).json.State,
      ];
      await expect.poll(states).toEqual(['ACTIVE', 'ACTIVE']);
      await leaderLost(cluster);
      await expect.poll(states).toEqual(['ACTIVE', 'ACTIVE']);
    } finally {
      await east.close('stop');
    }
  }),

  'connections of nodes': withServers(async (cluster) => {
    const [chosen] = cluster.followers;
    const { node, allocation } = await nodeAt(chosen!);
    try {
      await leaderLost(cluster, chosen);
      for (const server of cluster.servers) {
        const path = `/v1/client/fs/ls/${allocation}?path=/`;
        expect((await call(server, 'GET', path)).status).toBe(200);
      }
    } finally {
      await node.close('stop');
    }
  }),

  'the newest commits': withAgents(async (cluster) => {
    for (const Name of ['a', 'b', 'c']) {
      await cluster.call(cluster.leader, 'PUT', `/v1/namespace/${Name}`, { Name });
    }
    await cluster.loseLeader();
    const late = await cluster.start();
    const { index } = late.agent.state.read();
    const gone = new AbortController();
    const answer = await cluster.during(
      late.agent.handle({
        method: 'GET',
        path: '/v1/event/stream',
        query: 'index=2',
        headers: { 'x-registry-token': rootToken },
        body: undefined,
        onGone: (run) => {
          gone.signal.addEventListener('abort', run);
          return () => {};
        },
      }),
    );
    const lines: { readonly Index?: number }[] = [];
    for await (const part of answer.body as AsyncIterable<Uint8Array>) {
      lines.push(JSON.parse(Buffer.from(part).toString()));
      if (lines.length === 2) break;
    }
    gone.abort();
    // A transaction may have come since the start.
    expect(lines).toEqual([{}, { Index: expect.any(Number), Events: [], Missed: true }]);
    expect(lines[1]!.Index).toBeGreaterThan(2);
    expect(lines[1]!.Index).toBeLessThanOrEqual(index + 1);
  }),

  'blocking queries, sessions of `exec`': withServers(async (cluster) => {
    const [asked] = cluster.followers;
    const { node, allocation } = await nodeAt(asked!);
    const client = createClient({ address: asked!.agent.address, token: rootToken });
    try {
      const index = indexOf(await call(asked!, 'GET', '/v1/namespaces'));
      const waiting = call(asked!, 'GET', `/v1/namespaces?index=${index}&wait=60s`);
      const command = ['/bin/sh', '-c', 'read x; echo $x'];
      const session = await client.exec.run({ allocation, task: 'server', command });
      await leaderLost(cluster, asked);
      await session.write(Buffer.from('echoed\n'));
      const parts: Uint8Array[] = [];
      for await (const { data } of session.output) parts.push(data);
      expect(Buffer.concat(parts).toString()).toBe('echoed\n');
      await call(cluster.servers[0]!, 'PUT', '/v1/namespace/green', { Name: 'green' });
      const { json } = await waiting;
      expect(json.map(({ Name }: { Name: string }) => Name)).toContain('green');
    } finally {
      await client.close();
      await node.close('stop');
    }
  }),
};
