/** A step-down with an `Idempotency-Key` ends a single term, however often it is sent. */
import { afterEach, expect, test, vi } from 'vitest';
import { limits } from '../src/model/limits.ts';
import { requestOf } from './support/agent-requests.ts';
import { rootToken } from './support/api.ts';
import { type LocalAgent, LocalCluster, settleMs } from './support/local-cluster.ts';

let cluster: LocalCluster;
afterEach(() => cluster.close());

async function startServers(count: number): Promise<void> {
  cluster = new LocalCluster();
  for (let number = 0; number < count; number++) await startServer();
}

const startServer = () => {
  const address = `server-${cluster.servers.length}:4646`;
  return cluster.start({ network: { address, allowsPlaintext: true } });
};

const stepDown = ({ agent }: LocalAgent, key = 'once') => {
  const request = requestOf('PUT', '/v1/operator/leader/step-down', rootToken);
  const headers = { ...request.headers, 'idempotency-key': key };
  return cluster.send(agent, { ...request, headers });
};

const asked = [
  ['the leader', () => cluster.leader],
  ['a follower', () => cluster.followers[0]!],
] as const;

const leaderAddress = () => `server-${cluster.servers.indexOf(cluster.leader)}:4646`;

test.for(asked)(
  'repetitions of a step-down at %s have the answer of the first',
  async ([, asked]) => {
    await startServers(3);
    const { epoch } = cluster.log;
    const first = await stepDown(asked());
    expect(first).toMatchObject({ status: 200, json: { Leader: leaderAddress() } });
    expect(cluster.log.epoch).toBe(epoch + 1);
    for (const server of cluster.servers) expect(await stepDown(server)).toEqual(first);
    expect(cluster.log.epoch).toBe(epoch + 1);
    await stepDown(asked(), 'another');
    expect(cluster.log.epoch).toBe(epoch + 2);
    expect(await stepDown(asked())).toEqual(first);
    await cluster.world.advance(limits.idempotency.keptMs);
    await stepDown(asked());
    expect(cluster.log.epoch).toBe(epoch + 3);
  },
);

test.for(asked)(
  'the outcome of a step-down at %s after which nobody leads is unknown',
  async ([, asked]) => {
    await startServers(3);
    const { epoch } = cluster.log;
    const campaigns = vi.spyOn(cluster.log, 'campaign').mockReturnValue(undefined);
    const server = asked();
    const lost = await stepDown(server);
    expect([lost.status, lost.json.code]).toEqual([503, 'outcome-unknown']);
    campaigns.mockRestore();
    await cluster.world.advance(settleMs);
    expect((await stepDown(server)).json).toEqual({ Leader: leaderAddress() });
    expect(cluster.log.epoch).toBe(epoch + 1);
  },
);

test('a step-down whose server ends before it answers is answered by the next leader', async () => {
  await startServers(2);
  const { leader } = cluster;
  const { epoch } = cluster.log;
  const lost = stepDown(leader);
  while (leader.agent.state.leading !== undefined) await cluster.world.advance(1);
  await cluster.kill(leader);
  await lost.catch(() => {});
  const again = await stepDown(cluster.leader);
  expect(again).toMatchObject({ status: 200, json: { Leader: 'server-1:4646' } });
  expect(cluster.log.epoch).toBe(epoch + 1);
});

test('a step-down that was refused is tried again', async () => {
  await startServers(1);
  const { epoch } = cluster.log;
  expect((await stepDown(cluster.leader)).json.code).toBe('no-other-server');
  await startServer();
  expect((await stepDown(cluster.leader)).status).toBe(200);
  expect(cluster.log.epoch).toBe(epoch + 1);
});
