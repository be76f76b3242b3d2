/** Three servers of one cluster, which reach each other over real sockets. */
import { afterEach, describe, expect, test } from 'vitest';
import { startNode } from '../src/agent-node.ts';
import { realWorld } from '../src/base/ports-real.ts';
import { limits } from '../src/model/limits.ts';
import type { ServersHealth } from '../src/model/server-health/server-health.ts';
import { createClient } from '../src/sdk/client.ts';
import { rootToken } from './support/api.ts';
import { type Answer, type ClusterServer, call, ServerCluster } from './support/server-cluster.ts';

let cluster: ServerCluster;
afterEach(() => cluster?.close());

async function three(): Promise<ServerCluster> {
  cluster = new ServerCluster();
  await Promise.all([cluster.start(), cluster.start(), cluster.start()]);
  await cluster.settled();
  return cluster;
}

const job = (ID: string) => ({
  Job: {
    ID,
    Datacenters: ['dc1'],
    TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'mock' }] }],
  },
});

const contactOf = ({ headers }: Answer) => ({
  known: headers['x-registry-knownleader'],
  ms: Number(headers['x-registry-lastcontact']),
});

const names = ({ json }: Answer) => json.map(({ Name }: { Name: string }) => Name);

describe('three servers over the network', () => {
  test('take writes everywhere, and show them in every mode', async () => {
    const { servers, followers } = await three();
    for (const [at, server] of servers.entries()) {
      const Name = `blue-${at}`;
      expect((await call(server, 'PUT', `/v1/namespace/${Name}`, { Name })).status).toBe(200);
      // The server that took it shows it at once, also with `stale`.
      expect((await call(server, 'GET', `/v1/namespace/${Name}?stale`)).status).toBe(200);
      for (const other of servers) {
        for (const mode of ['', '?consistent']) {
          expect((await call(other, 'GET', `/v1/namespace/${Name}${mode}`)).status).toBe(200);
        }
      }
    }
    const stale = contactOf(await call(followers[0]!, 'GET', '/v1/namespaces?stale'));
    expect(stale.known).toBe('true');
    expect(stale.ms).toBeLessThan(5000);
    const large = { Name: 'large', Description: 'x'.repeat(200), Meta: { text: 'y'.repeat(400) } };
    expect((await call(followers[0]!, 'PUT', '/v1/namespace/large', large)).status).toBe(200);
    const manyTasks = job('many');
    manyTasks.Job.TaskGroups[0]!.Tasks = Array.from({ length: 100 }, (_, at) => ({
      Name: `t${at}`,
      Driver: 'mock',
      Env: { text: 'z'.repeat(2000) },
    }));
    expect((await call(followers[1]!, 'POST', '/v1/jobs', manyTasks)).status).toBe(200);
    const plan = await call(followers[0]!, 'POST', '/v1/job/many/plan', {
      ...manyTasks,
      Diff: true,
    });
    expect(plan.status).toBe(200);
  });

  test('list each other, with the leader, until one of them is gone', async () => {
    const { servers, leader, followers } = await three();
    const members = async () => (await call(followers[0]!, 'GET', '/v1/servers')).json as Listed[];
    const ids = servers.map(({ id }) => id).sort();
    await expect
      .poll(async () => (await members()).map(({ Status }) => Status))
      .toEqual(ids.map(() => 'alive'));
    const listed = await members();
    expect(listed.map(({ ID }) => ID)).toEqual(ids);
    expect(listed.find(({ Self }) => Self)?.ID).toBe(followers[0]!.id);
    expect(listed.find(({ Leader }) => Leader)?.ID).toBe(leader!.id);
    for (const { Behind, ClockSkewMs } of listed) {
      expect(Behind).toBeLessThan(5);
      expect(Math.abs(ClockSkewMs)).toBeLessThan(5000);
    }
    const gone = followers[1]!;
    await cluster.kill(gone);
    await expect
      .poll(async () => (await members()).find(({ ID }) => ID === gone.id)?.Status)
      .toBe('unreachable');
    const attention = '/v1/attention?kind=server-away';
    const { Items: away } = (await call(followers[0]!, 'GET', attention)).json;
    expect(away).toMatchObject([
      {
        Severity: 'warning',
        Noun: 'server',
        ID: gone.id,
        Reason: expect.stringContaining('does not answer'),
      },
    ]);
    const stranger = { ...followers[0]!, token: '00000000-0000-0000-0000-000000000002' };
    expect((await call(stranger, 'GET', '/v1/servers')).status).toBe(403);
  });

  test('tell their health, and why a server is not healthy', async () => {
    const { servers, leader, followers } = await three();
    const [asked, other] = followers;
    const health = async () =>
      (await call(asked!, 'GET', '/v1/servers/health')).json as ServersHealth;
    const of = async ({ id }: { readonly id: string }) =>
      (await health()).Servers.find(({ ID }) => ID === id)!;
    await expect.poll(async () => (await health()).Healthy).toBe(true);
    const told = await health();
    expect([told.Leader, told.FailureTolerance]).toEqual([leader!.id, 2]);
    expect(Date.now() - told.LeaderSince / 1e6).toBeLessThan(60_000);
    for (const server of servers) {
      const one = await of(server);
      expect(one).toMatchObject({ Status: 'alive', Faults: [], Warnings: [] });
      expect(one.LogMs).toBeLessThan(2000);
      expect([one.Leader, one.Self]).toEqual([server === leader, server === asked]);
    }
    other!.engine.end = () => Promise.reject(new Error('connection refused'));
    expect(await of(other!)).toMatchObject({
      Healthy: false,
      Faults: ['the log cannot be reached: connection refused'],
    });
    expect(await health()).toMatchObject({ Healthy: false, FailureTolerance: 1 });
    await cluster.kill(other!);
    await expect
      .poll(async () => of(other!))
      .toMatchObject({ Status: 'unreachable', Faults: ['it does not answer'] });
    expect((await of(other!)).Index).toBeUndefined();
    const stranger = { ...asked!, token: '00000000-0000-0000-0000-000000000002' };
    expect((await call(stranger, 'GET', '/v1/servers/health')).status).toBe(403);
  });

  test('tell and log a clock that differs', async () => {
    const { leader, followers } = await three();
    const { clock } = realWorld;
    const ahead = { ...clock, nowMs: () => clock.nowMs() + 5000 };
    const fast = await cluster.start({ world: { ...realWorld, clock: ahead } });
    const warnings = async () => {
      const { json } = await call(leader!, 'GET', '/v1/servers/health');
      const { Servers } = json as ServersHealth;
      return Servers.map(({ ID, Warnings }) => [ID, Warnings.join().replace(/\d+\.?\d*s/, 'N')]);
    };
    await expect
      .poll(warnings)
      .toContainEqual([fast.id, 'its clock is N ahead of that of the leader']);
    const quiet = [leader!, ...followers].map(({ id }) => [id, '']);
    expect(await warnings()).toEqual(expect.arrayContaining(quiet));
    const differs = 'the clock of another server differs';
    for (const { logged, id } of [leader!, ...followers]) {
      await expect.poll(() => logged.filter((one) => one.startsWith(differs)).length).toBe(1);
      expect(logged.find((one) => one.startsWith(differs))).toContain(fast.id);
      expect(fast.logged.some((one) => one.startsWith(differs) && one.includes(id))).toBe(true);
    }
  });

  test('a server that is cut off from the log alone tells the age of its state, and refuses what is too old', async () => {
    const staleMaxMs = 3000;
    cluster = new ServerCluster();
    const start = () => cluster.start({ staleMaxMs });
    await Promise.all([start(), start(), start()]);
    const leader = await cluster.settled();
    const [follower] = cluster.followers;
    const { json } = await call(leader, 'PUT', '/v1/acl/token', { Policies: [] });
    const revoked = { ...follower!, token: json.SecretID as string };
    const own = '/v1/acl/token/self?stale';
    await expect.poll(async () => (await call(revoked, 'GET', own)).status).toBe(200);
    // It hears of the leader all the while.
    follower!.engine.deliveryDelayMs = 3_600_000;
    await call(leader, 'DELETE', `/v1/acl/token/${json.AccessorID}`);
    await expect
      .poll(async () => contactOf(await call(follower!, 'GET', '/v1/namespaces?stale')).ms)
      .toBeGreaterThan(1000);
    await expect.poll(async () => (await call(revoked, 'GET', own)).json.code).toBe('no-leader');
    const health = await call(leader, 'GET', '/v1/servers/health');
    const { Servers } = health.json as ServersHealth;
    expect(Servers.find(({ ID }) => ID === follower!.id)?.Faults).toContainEqual(
      expect.stringContaining('stale requests are refused'),
    );
    for (const other of cluster.servers.filter((one) => one !== follower)) {
      const answer = await call(other, 'GET', '/v1/namespaces?stale');
      expect([answer.status, contactOf(answer).ms < 2000]).toEqual([200, true]);
    }
  });

  test('a refusal of the leader comes back as it is', async () => {
    const { followers } = await three();
    const refused = await call(followers[0]!, 'PUT', '/v1/namespace/x', { Name: 'y' });
    expect([refused.status, refused.headers['content-type']]).toEqual([
      400,
      'application/problem+json',
    ]);
    const stranger = { ...followers[0]!, token: '99999999-9999-4999-8999-999999999999' };
    const denied = await call(stranger, 'PUT', '/v1/namespace/x', { Name: 'x' });
    expect(denied.status).toBe(403);
  });

  test('a blocking query and an event stream at a follower go on over a change of leader', async () => {
    const { followers, leader } = await three();
    const [follower] = followers;
    const first = await call(follower!, 'GET', '/v1/namespaces');
    const index = first.headers['x-scheduler-index'] ?? first.headers['x-registry-index'];
    const waiting = call(follower!, 'GET', `/v1/namespaces?index=${index}&wait=60s`);
    const gone = new AbortController();
    const events = await eventsOf(follower!, gone.signal);
    await cluster.kill(leader!);
    await cluster.settled();
    const [asked] = cluster.followers;
    expect((await call(asked!, 'PUT', '/v1/namespace/green', { Name: 'green' })).status).toBe(200);
    expect((await call(asked!, 'POST', '/v1/jobs', job('late'))).status).toBe(200);
    const woken = await waiting;
    expect([woken.status, woken.json.detail]).toEqual([200, undefined]);
    expect(names(woken)).toContain('green');
    await expect.poll(() => events.join('')).toContain('"late"');
    gone.abort();
  });

  test('logs and commands of a node that is connected to one server are had from every server', async () => {
    const { servers, followers } = await three();
    const introduction = await call(followers[0]!, 'PUT', '/v1/node/introduction-token');
    const node = await startNode(
      {
        node: { name: 'only', address: '127.0.0.1' },
        drivers: { allow: ['raw_exec'] },
        environment: process.env,
      },
      {
        addresses: [followers[1]!.agent.address],
        introduction: async () => introduction.json.SecretID,
      },
    );
    try {
      await node.registered();
      expect((await call(servers[0]!, 'POST', '/v1/jobs', talking)).status).toBe(200);
      const allocations = () => call(servers[0]!, 'GET', '/v1/job/talk/allocations');
      await expect.poll(async () => (await allocations()).json[0]?.ClientStatus).toBe('running');
      const allocation = (await allocations()).json[0].ID;
      for (const { agent } of servers) {
        const client = createClient({ address: agent.address, token: rootToken });
        const told = { allocation, task: 't' };
        await expect.poll(async () => text(client.logs.read(told))).toBe('hello\n');
        const session = await client.exec.run({
          ...told,
          command: ['/bin/sh', '-c', 'read x; echo $x'],
        });
        await session.write(Buffer.from('echoed\n'));
        const parts: Uint8Array[] = [];
        for await (const { data } of session.output) parts.push(data);
        expect(Buffer.concat(parts).toString()).toBe('echoed\n');
        expect(await session.exited).toEqual({ exitCode: 0 });
        await client.close();
      }
      const path = `/v1/client/allocation/${allocation}/restart`;
      expect((await call(followers[0]!, 'PUT', path)).status).toBe(200);
    } finally {
      await node.close('stop');
    }
  });

  test('a server ends although a node that is connected to it does not answer any more', async () => {
    cluster = new ServerCluster();
    const server = await cluster.start();
    await cluster.settled();
    const introduction = await call(server, 'PUT', '/v1/node/introduction-token');
    const node = await startNode(
      { node: { name: 'silent', address: '127.0.0.1' }, environment: process.env },
      {
        addresses: [server.relay.address],
        introduction: async () => introduction.json.SecretID,
      },
    );
    try {
      await node.registered();
      await expect
        .poll(async () => (await call(server, 'GET', '/v1/client/stats')).status)
        .toBe(200);
      server.relay.freeze();
      const beganMs = performance.now();
      await server.agent.close('stop');
      // By then it would have noticed by itself.
      expect(performance.now() - beganMs).toBeLessThan(limits.stream.pongTimeoutMs);
    } finally {
      await server.relay.cut();
      await node.close('stop');
    }
  });

  test('a leader that is killed under load loses nothing that it has acknowledged', async () => {
    const { leader, followers } = await three();
    let isOver = false;
    const [acknowledged, certainlyNot] = [new Set<string>(), new Set<string>()];
    const load = followers.map(async (follower, worker) => {
      for (let round = 0; !isOver; round++) {
        const Name = `load-${worker}-${round}`;
        const { status, json } = await call(follower, 'PUT', `/v1/namespace/${Name}`, { Name });
        if (status === 200) acknowledged.add(Name);
        else if (['no-leader', 'not-leader'].includes(json.code)) certainlyNot.add(Name);
        else expect([status, json.code]).toEqual([503, 'outcome-unknown']);
      }
    });
    await expect.poll(() => acknowledged.size).toBeGreaterThan(20);
    await cluster.kill(leader!);
    const before = acknowledged.size;
    await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 20);
    isOver = true;
    await Promise.all(load);
    for (const server of cluster.servers) {
      const there = new Set(names(await call(server, 'GET', '/v1/namespaces')));
      expect([...acknowledged].filter((name) => !there.has(name))).toEqual([]);
      expect([...certainlyNot].filter((name) => there.has(name))).toEqual([]);
    }
  });

  test('a request on a connection that is cut is of unknown outcome only if it was sent', async () => {
    const { leader, followers } = await three();
    const [follower] = followers;
    // The leader takes the write, and its answer never comes.
    cluster.log.faults.appendDelayMs = 1000;
    const sent = call(follower!, 'PUT', '/v1/namespace/sent', { Name: 'sent' });
    await expect
      .poll(() => leader!.agent.state.head().index)
      .toBeGreaterThan(leader!.agent.state.read().index);
    await leader!.relay.cut();
    for (const one of followers) await one.relay.cut();
    expect((await sent).json.code).toBe('outcome-unknown');
    cluster.log.faults.appendDelayMs = undefined;
    await expect
      .poll(async () => (await call(leader!, 'GET', '/v1/namespace/sent')).status)
      .toBe(200);
    const unsent = await call(follower!, 'PUT', '/v1/namespace/unsent', { Name: 'unsent' });
    expect([unsent.status, unsent.json.code]).toEqual([503, 'no-leader']);
    for (const one of cluster.servers) await one.relay.mend();
    await cluster.settled();
    expect((await call(follower!, 'GET', '/v1/namespace/unsent')).status).toBe(404);
    expect((await call(follower!, 'PUT', '/v1/namespace/unsent', { Name: 'unsent' })).status).toBe(
      200,
    );
  });
});

interface Listed {
  readonly ID: string;
  readonly Status: string;
  readonly Leader: boolean;
  readonly Self: boolean;
  readonly Behind: number;
  readonly ClockSkewMs: number;
}

const talking = {
  Job: {
    ID: 'talk',
    Datacenters: ['dc1'],
    TaskGroups: [
      {
        Name: 'g',
        Tasks: [
          {
            Name: 't',
            Driver: 'raw_exec',
            Config: { command: '/bin/sh', args: ['-c', 'echo hello; exec sleep 600'] },
          },
        ],
      },
    ],
  },
};

async function text(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

async function eventsOf({ agent }: ClusterServer, signal: AbortSignal): Promise<string[]> {
  const parts: string[] = [];
  const { body } = await fetch(`${agent.address}/v1/event/stream?namespace=*`, {
    headers: { 'x-registry-token': rootToken },
    signal,
  });
  void (async () => {
    for await (const part of body!) parts.push(Buffer.from(part).toString());
  })().catch(() => {});
  return parts;
}
