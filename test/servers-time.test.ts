/** Time and nodes over a change of leader, of agents in one process. */
import { afterEach, describe, expect, test } from 'vitest';
import { requestOf } from './support/agent-requests.ts';
import { type LocalAgent, LocalCluster, settleMs, startAgents } from './support/local-cluster.ts';

let cluster: LocalCluster;
afterEach(() => cluster.close());

async function three(): Promise<LocalCluster> {
  cluster = await startAgents(3);
  return cluster;
}

/** Nobody can begin a term until the result is called. */
function forbidTerms({ log }: LocalCluster): () => void {
  Object.defineProperty(log, 'isFree', { get: () => false, configurable: true });
  return () => void Reflect.deleteProperty(log, 'isFree');
}

/** Starts a server whose clock is ahead. */
function startAhead(aheadMs: number): Promise<LocalAgent> {
  const { world } = cluster;
  const { monotonicMs } = world.clock;
  const clock = { monotonicMs, nowMs: () => world.clock.nowMs() + aheadMs };
  return cluster.start({ world: { ...world, clock } });
}

const node = {
  SecretID: '33333333-3333-4333-8333-333333333333',
  Node: { ID: '44444444-4444-4444-8444-444444444444', Name: 'one' },
};
const heartbeat = `/v1/node/${node.Node.ID}/heartbeat`;

const job = (ID: string) => ({
  Job: {
    ID,
    Datacenters: ['dc1'],
    TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'mock' }] }],
  },
});

describe('a node, while no server leads', () => {
  /** A follower that has heard of the node before the leader was gone. */
  async function leaderless() {
    const { leader, followers } = await three();
    expect((await cluster.call(followers[0]!, 'PUT', '/v1/node/register', node)).status).toBe(200);
    const allowTerms = forbidTerms(cluster);
    await cluster.kill(leader);
    return { follower: followers[0]!, allowTerms };
  }
  const beat = async (server: LocalAgent) => {
    const { status, json } = await cluster.call(server, 'PUT', heartbeat);
    return { status, code: json.code as string, detail: json.detail as string };
  };

  test('is told so at once, with since when, and is in contact', async () => {
    const { follower } = await leaderless();
    const since = cluster.world.clock.nowMs();
    const answer = await beat(follower);
    expect(answer).toMatchObject({ status: 503, code: 'no-leader-since' });
    const told = Date.parse(/since (\S+)\./.exec(answer.detail)![1]!);
    expect(told).toBeLessThan(since);
    expect(told).toBeGreaterThan(since - 2 * settleMs);
    const again = await cluster.call(follower, 'PUT', '/v1/node/register', node);
    expect([again.status, again.json.code]).toEqual([503, 'no-leader-since']);
  });

  test('is told nothing by a server that can ask neither the log nor the other servers', async () => {
    const { follower } = await leaderless();
    follower.engine.end = () => Promise.reject(new Error('the log is away'));
    expect(await beat(follower)).toMatchObject({ code: 'no-leader-since' });
    // The other one knows more, or may.
    const [other] = cluster.servers.filter((one) => one !== follower);
    Object.defineProperty(other!.agent.state, 'leading', { value: { epoch: 99 } });
    expect(await beat(follower)).toMatchObject({ status: 503, code: 'no-leader' });
  });

  test('is told nothing once a leader has missed it', async () => {
    const { leader, followers } = await three();
    await cluster.call(followers[0]!, 'PUT', '/v1/node/register', node);
    await cluster.world.advance(60_000);
    const read = await cluster.call(leader, 'GET', `/v1/node/${node.Node.ID}`);
    expect(read.json.Status).toBe('down');
    forbidTerms(cluster);
    await cluster.kill(leader);
    expect(await beat(followers[0]!)).toMatchObject({ code: 'no-leader' });
  });

  test('has its whole time with the next leader', async () => {
    const { follower, allowTerms } = await leaderless();
    await cluster.world.advance(10 * 60_000);
    allowTerms();
    await cluster.world.advance(settleMs);
    const status = async () =>
      (await cluster.call(follower, 'GET', `/v1/node/${node.Node.ID}`)).json.Status;
    await cluster.world.advance(4 * 60_000);
    expect(await status()).toBe('ready');
    await cluster.world.advance(2 * 60_000);
    expect(await status()).toBe('down');
  });
});

describe('servers whose clocks differ', () => {
  const hourMs = 3_600_000;

  test('go on from the time of the leader before', async () => {
    cluster = new LocalCluster();
    const first = await startAhead(hourMs);
    const second = await cluster.start();
    await cluster.call(first, 'POST', '/v1/jobs', job('early'));
    await cluster.kill(first);
    await cluster.call(second, 'POST', '/v1/jobs', job('late'));
    const submitted = async (id: string) =>
      (await cluster.call(second, 'GET', `/v1/job/${id}`)).json.SubmitTime as number;
    expect(await submitted('late')).toBeGreaterThan(await submitted('early'));
  });

  test('refuse an expired token by their own clock as well', async () => {
    cluster = new LocalCluster();
    const leader = await cluster.start();
    const follower = await startAhead(hourMs);
    const made = await cluster.call(leader, 'PUT', '/v1/acl/token', { ExpirationTTL: '1m' });
    const self = async ({ agent }: LocalAgent) => {
      const request = requestOf('GET', '/v1/acl/token/self?stale', made.json.SecretID);
      return (await cluster.send(agent, request)).status;
    };
    expect([await self(leader), await self(follower)]).toEqual([200, 403]);
  });
});
