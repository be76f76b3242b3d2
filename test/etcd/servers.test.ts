/** Three agents on one etcd, joined by their flags alone. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import { endAgents, eventually, kill, newDirectory, startAgent } from '../support/agent.ts';
import { EtcdCluster, etcdServer } from '../support/etcd.ts';

type Started = Awaited<ReturnType<typeof startAgent>>;

interface Listed {
  readonly ID: string;
  readonly Address: string;
  readonly Status: string;
  readonly Leader: boolean;
}

describe('three agents on one etcd', needing(etcdServer), () => {
  let cluster: EtcdCluster;
  const directories = [0, 1, 2].map((number) => newDirectory(`server-${number}`));
  const agents: Started[] = [];

  const start = (number: number): Promise<Started> => {
    const dataDirectory = directories[number]!;
    const keyFile = join(dataDirectory, 'given-key');
    writeFileSync(keyFile, Buffer.alloc(32, 7).toString('base64'));
    const config = join(dataDirectory, 'config.json');
    const node = { name: `node-${number}` };
    writeFileSync(config, JSON.stringify({ keyring: { root_key_file: keyFile }, node }));
    const endpoints = cluster.endpoints.join(',');
    const args = ['--engine', 'etcd', '--etcd-endpoints', endpoints, '--config', config];
    return startAgent({ dataDirectory, args });
  };

  const members = (agent: Started): Promise<readonly Listed[]> => agent.get('/v1/servers');
  const settled = (agent: Started) =>
    eventually(async () => {
      const listed = await members(agent);
      expect(listed.map(({ Status }) => Status)).toEqual(['alive', 'alive', 'alive']);
      expect(listed.filter(({ Leader }) => Leader)).toHaveLength(1);
      return listed;
    });
  const numberOf = (address: string) =>
    agents.findIndex((agent) => agent.address === `http://${address}`);

  beforeAll(async () => {
    cluster = await EtcdCluster.start(3);
    agents.push(...(await Promise.all([start(0), start(1), start(2)])));
    for (const agent of agents) await settled(agent);
  }, 90_000);

  afterAll(async () => {
    await endAgents();
    await cluster?.stop();
  }, 60_000);

  test('take writes everywhere, and show them everywhere at once', async () => {
    for (const [at, agent] of agents.entries()) {
      const Name = `space-${at}`;
      expect((await agent.request('PUT', `/v1/namespace/${Name}`, { Name })).status).toBe(200);
      for (const other of agents) {
        expect((await other.get(`/v1/namespace/${Name}`)).Name).toBe(Name);
      }
    }
  });

  test('are listed by the command, with the leader', async () => {
    const { code, stdout } = await agents[0]!.cli('server', 'members');
    expect([code, stdout.match(/ alive /g)?.length, stdout.match(/ yes /g)?.length]).toEqual([
      0, 3, 1,
    ]);
  });

  test('have a node each, whose tasks run and whose logs come through any of them', async () => {
    const task = { Driver: 'raw_exec', Config: { command: '/bin/sh', args: ['-c', script] } };
    const group = {
      Name: 'g',
      Count: 3,
      Constraints: [{ Operand: 'distinct_hosts' }],
      Tasks: [{ Name: 't', ...task, Resources: { CPU: 10, MemoryMB: 16 } }],
    };
    await eventually(async () => {
      const nodes = await agents[0]!.get('/v1/nodes');
      expect(nodes.map(({ Status }: { Status: string }) => Status)).toEqual(Array(3).fill('ready'));
    });
    await agents[1]!.register({ ID: 'wide', Datacenters: ['dc1'], TaskGroups: [group] });
    const running = await agents[2]!.until('/v1/job/wide/allocations', (allocations) => {
      const states = allocations.map(({ ClientStatus }: { ClientStatus: string }) => ClientStatus);
      expect(states).toEqual(['running', 'running', 'running']);
      return allocations as readonly { readonly ID: string }[];
    });
    for (const { ID } of running) {
      for (const agent of agents) {
        await eventually(async () => {
          const path = `/v1/client/fs/logs/${ID}?task=t&type=stdout&plain=true`;
          expect((await agent.request('GET', path)).text).toBe('hello\n');
        });
      }
    }
  });

  test('restore a snapshot that is sent to a follower', async () => {
    const leader = (await settled(agents[0]!)).find(({ Leader }) => Leader)!;
    const follower = agents.find((_, at) => at !== numberOf(leader.Address))!;
    const put = async (Name: string) =>
      expect((await follower.request('PUT', `/v1/namespace/${Name}`, { Name })).status).toBe(200);
    const file = join(directories[0]!, 'kept.snapshot');
    const snapshot = (...words: string[]) => follower.cli('operator', 'snapshot', ...words);
    await put('kept');
    const variable = { Path: 'app', Items: { a: 'b' } };
    expect((await follower.request('PUT', '/v1/var/app', variable)).status).toBe(200);
    expect((await snapshot('save', file)).code).toBe(0);
    await put('gone');
    const refused = await snapshot('restore', file);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is not empty')]);
    const { ClusterID } = JSON.parse((await snapshot('inspect', '-json', file)).stdout);
    expect((await snapshot('restore', '-force', ClusterID, file)).code).toBe(0);
    for (const agent of agents) {
      const found = ['kept', 'gone'].map((name) => agent.request('GET', `/v1/namespace/${name}`));
      expect((await Promise.all(found)).map(({ status }) => status)).toEqual([200, 404]);
    }
    await put('later');
  });

  test.each([
    ['steps down', (agent: Started) => agent.cli('operator', 'leader', 'step-down')],
    ['ends by a signal', (agent: Started) => agent.stop()],
  ] as const)(
    'answer every request while the leader %s',
    async (_title, end) => {
      const leader = (await settled(agents[0]!)).find(({ Leader }) => Leader)!;
      const number = numberOf(leader.Address);
      const others = agents.filter((_, at) => at !== number);
      const answers: string[] = [];
      let isOver = false;
      const write = async (writer: number) => {
        for (let at = 0; !isOver; at++) {
          const agent = others[writer % 2]!;
          const Name = `writer-${writer}`;
          const space = { Name, Description: `${at}` };
          const { status, text } = await agent.request('PUT', `/v1/namespace/${Name}`, space);
          if (status !== 200) answers.push(text);
          const read = await agent.request('GET', `/v1/namespace/${Name}`);
          if (read.status !== 200 || read.json.Description !== `${at}`) answers.push(read.text);
        }
      };
      const writers = Array.from({ length: 8 }, (_, writer) => write(writer));
      const { code, stderr } = await end(agents[number]!);
      await eventually(async () => {
        const listed = await members(others[0]!);
        const now = listed.find(({ Leader, Status }) => Leader && Status === 'alive');
        expect([undefined, leader.ID]).not.toContain(now?.ID);
      });
      isOver = true;
      await Promise.all(writers);
      expect([code, stderr, answers]).toEqual([0, expect.anything(), []]);
      if (_title === 'ends by a signal') agents[number] = await start(number);
      for (const agent of agents) await settled(agent);
    },
    60_000,
  );

  test('lose nothing and go on when the leader is killed, and take it back', async () => {
    const leader = (await settled(agents[0]!)).find(({ Leader }) => Leader)!;
    const number = numberOf(leader.Address);
    const others = agents.filter((_, at) => at !== number);
    const last = { Name: 'last' };
    expect((await others[0]!.request('PUT', '/v1/namespace/last', last)).status).toBe(200);
    kill(agents[number]!.pid, 'SIGKILL');
    await agents[number]!.ended;
    await eventually(async () => {
      const written = await others[0]!.request('PUT', '/v1/namespace/next', { Name: 'next' });
      expect(written.status).toBe(200);
    });
    for (const agent of others) {
      for (const name of ['last', 'next']) await agent.get(`/v1/namespace/${name}`);
    }
    agents[number] = await start(number);
    for (const agent of agents) await settled(agent);
    expect((await agents[number]!.get('/v1/namespace/next')).Name).toBe('next');
  }, 90_000);
});

const script = 'echo hello; exec sleep 1000';
