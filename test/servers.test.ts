import { afterEach, describe, expect, test } from 'vitest';
import { requestOf } from './support/agent-requests.ts';
import { rootToken } from './support/api.ts';
import { type LocalCluster, settleMs, startAgents } from './support/local-cluster.ts';

let cluster: LocalCluster;
afterEach(() => cluster.close());

async function three(): Promise<LocalCluster> {
  cluster = await startAgents(3);
  return cluster;
}

const job = (ID: string) => ({
  Job: {
    ID,
    Datacenters: ['dc1'],
    TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'mock' }] }],
  },
});

describe('three agents over one log', () => {
  test('a write through a follower is there on every server, and stays when the leader dies', async () => {
    const { followers, leader } = await three();
    const [first, second] = followers;
    expect((await cluster.call(first!, 'PUT', '/v1/namespace/blue', { Name: 'blue' })).status).toBe(
      200,
    );
    expect((await cluster.call(first!, 'POST', '/v1/jobs', job('web'))).status).toBe(200);
    for (const server of cluster.servers) {
      const read = await cluster.call(server, 'GET', '/v1/job/web');
      expect([read.status, read.json.ID]).toEqual([200, 'web']);
    }
    await cluster.kill(leader);
    expect([first, second]).toContain(cluster.leader);
    expect(
      (await cluster.call(cluster.followers[0]!, 'POST', '/v1/jobs', job('more'))).status,
    ).toBe(200);
    const late = await cluster.start();
    for (const server of [...cluster.servers, late]) {
      const { json } = await cluster.call(server, 'GET', '/v1/jobs');
      expect(json.map(({ ID }: { ID: string }) => ID)).toEqual(['more', 'web']);
    }
  });

  test('the scheduler goes on with a new leader', async () => {
    const { leader } = await three();
    await cluster.call(leader, 'POST', '/v1/jobs', job('web'));
    await cluster.kill(leader);
    const follower = cluster.followers[0]!;
    await cluster.call(follower, 'POST', '/v1/jobs', job('other'));
    await cluster.world.advance(settleMs);
    for (const id of ['web', 'other']) {
      const { json } = await cluster.call(follower, 'GET', `/v1/job/${id}/evaluations`);
      expect(json.map(({ Status }: { Status: string }) => Status)).toContain('blocked');
    }
  });

  test('a blocking query at a follower wakes by a write of the leader', async () => {
    const { leader, followers } = await three();
    const first = await cluster.call(followers[0]!, 'GET', '/v1/namespaces');
    const index = first.headers['x-scheduler-index'] ?? first.headers['x-registry-index'];
    const waiting = cluster.call(followers[0]!, 'GET', `/v1/namespaces?index=${index}&wait=60s`);
    await cluster.call(leader, 'PUT', '/v1/namespace/green', { Name: 'green' });
    const woken = await waiting;
    expect(woken.json.map(({ Name }: { Name: string }) => Name)).toContain('green');
  });

  test('a default read waits for what another server has acknowledged; stale does not', async () => {
    const { leader, followers } = await three();
    const [follower] = followers;
    follower!.engine.deliveryDelayMs = 1000;
    await cluster.call(leader, 'PUT', '/v1/namespace/late', { Name: 'late' });
    expect((await cluster.call(follower!, 'GET', '/v1/namespace/late?stale')).status).toBe(404);
    expect((await cluster.call(follower!, 'GET', '/v1/namespace/late')).status).toBe(200);
    expect((await cluster.call(follower!, 'GET', '/v1/namespace/late?stale')).status).toBe(200);
  });

  test('a server that hears of the leader, and not of its writes, tells the age of its state', async () => {
    const { leader, followers } = await three();
    const [late] = followers;
    const contactMs = async (query = 'stale') => {
      const { headers } = await cluster.call(late!, 'GET', `/v1/namespaces?${query}`);
      return Number(Object.entries(headers).find(([name]) => name.endsWith('lastcontact'))![1]);
    };
    const put = (Name: string) => cluster.call(leader, 'PUT', `/v1/namespace/${Name}`, { Name });
    await cluster.world.advance(60_000);
    expect(await contactMs()).toBe(0);
    late!.engine.deliveryDelayMs = 20_000;
    await put('one');
    await cluster.world.advance(8000);
    expect(await contactMs()).toBeGreaterThanOrEqual(8000);
    await put('two');
    // A state that is older than that waits until it is exact.
    expect(await contactMs('stale&max_stale=1h')).toBeGreaterThanOrEqual(8000);
    const { json } = await cluster.call(late!, 'GET', '/v1/namespaces?stale&max_stale=5s');
    expect(json.map(({ Name }: { Name: string }) => Name)).toContain('two');
    expect(await contactMs()).toBe(0);
    await cluster.world.advance(20_000);
    late!.engine.deliveryDelayMs = 3_600_000;
    const stream = requestOf('GET', '/v1/event/stream', rootToken);
    const events = await cluster.during(late!.agent.handle({ ...stream, onGone: () => () => {} }));
    const told: string[] = [];
    const reading = (async () => {
      for await (const part of events.body as AsyncIterable<Uint8Array>)
        told.push(Buffer.from(part).toString());
    })();
    await put('three');
    await cluster.world.advance(299_000);
    expect((await cluster.call(late!, 'GET', '/v1/namespaces?stale')).status).toBe(200);
    await cluster.world.advance(2000);
    expect((await cluster.call(late!, 'GET', '/v1/namespaces?stale')).json.code).toBe('no-leader');
    await cluster.world.advance(30_000);
    await reading;
    expect(told.at(-1)).toContain('no-leader');
  });

  test('a server that shows nothing new needs attention, by the time since the first change that it lacks', async () => {
    const { leader, followers } = await three();
    const behind = async () =>
      (await cluster.call(leader, 'GET', '/v1/attention?kind=server-behind')).json.Items;
    followers[0]!.engine.deliveryDelayMs = 60_000;
    await cluster.call(leader, 'PUT', '/v1/namespace/one', { Name: 'one' });
    await cluster.world.advance(5000);
    expect(await behind()).toEqual([]);
    await cluster.call(leader, 'PUT', '/v1/namespace/two', { Name: 'two' });
    await cluster.world.advance(8000);
    const [item] = await behind();
    expect(item).toMatchObject({ Severity: 'warning', Noun: 'server' });
    expect(item.Reason).toMatch(/ is 2 transactions and 1[34]s behind the server that you ask$/);
    followers[0]!.engine.deliveryDelayMs = 0;
    await cluster.world.advance(120_000);
    expect(await behind()).toEqual([]);
  });

  test('a follower hands a request on that needs the memory of the leader', async () => {
    const { followers } = await three();
    const peerings = await cluster.call(followers[0]!, 'GET', '/v1/peerings');
    expect([peerings.status, peerings.json]).toEqual([200, []]);
    const plan = { ...job('web'), Diff: true };
    expect((await cluster.call(followers[1]!, 'POST', '/v1/job/web/plan', plan)).status).toBe(200);
  });

  test('without a leader nothing is written, stale reads say for how long, and health says so', async () => {
    const { leader, followers, log } = await three();
    const [follower] = followers;
    // Nobody can begin a term.
    Object.defineProperty(log, 'isFree', { get: () => false });
    await cluster.kill(leader);
    const write = await cluster.call(follower!, 'PUT', '/v1/namespace/x', { Name: 'x' });
    expect([write.status, write.json.code]).toEqual([503, 'no-leader']);
    const stale = await cluster.call(follower!, 'GET', '/v1/namespaces?stale');
    expect(stale.status).toBe(200);
    const told = Object.entries(stale.headers);
    expect(told.find(([name]) => name.endsWith('knownleader'))?.[1]).toBe('false');
    expect(Number(told.find(([name]) => name.endsWith('lastcontact'))?.[1])).toBeGreaterThan(1000);
    // Each server says what needs attention by itself.
    const attention = await cluster.call(follower!, 'GET', '/v1/attention?stale');
    expect(attention.json.Items).toContainEqual(
      expect.objectContaining({ Reason: 'The server that answers knows no leader' }),
    );
    expect((await cluster.call(follower!, 'GET', '/v1/agent/health')).json.code).toBe('no-leader');
    await cluster.world.advance(6 * 60_000);
    expect((await cluster.call(follower!, 'GET', '/v1/namespaces?stale')).status).toBe(503);
  });

  test('a write that nobody answered for is told as of unknown outcome, and is not repeated', async () => {
    const { log, followers } = await three();
    log.faults.loseAnswer = () => true;
    const write = await cluster.call(followers[0]!, 'PUT', '/v1/namespace/maybe', {
      Name: 'maybe',
    });
    expect([write.status, write.json.code]).toEqual([503, 'outcome-unknown']);
    log.faults.loseAnswer = undefined;
    await cluster.world.advance(settleMs);
    for (const server of cluster.servers) {
      expect((await cluster.call(server, 'GET', '/v1/namespace/maybe')).status).toBe(200);
    }
  });

  test('a leader that loses its term, and leads again, leaves nothing of the term before', async () => {
    const { log, leader } = await three();
    await cluster.call(leader, 'POST', '/v1/jobs', job('web'));
    const terms = new Set([log.epoch]);
    for (let round = 0; round < 12; round++) {
      log.depose();
      await cluster.world.advance(settleMs);
      terms.add(log.epoch);
    }
    expect(terms.size).toBe(13);
    const { json } = await cluster.call(cluster.followers[0]!, 'GET', '/v1/jobs');
    expect(json.length).toBe(1);
    const { index } = leader.agent.state.read();
    await cluster.world.advance(60_000);
    expect(leader.agent.state.read().index).toBe(index);
  });
});
