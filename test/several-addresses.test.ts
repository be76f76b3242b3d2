/** Clients with the addresses of three servers, of which one is lost. */
import { afterEach, expect, test } from 'vitest';
import { startNode } from '../src/agent-node.ts';
import { type Client, createClient } from '../src/sdk/client.ts';
import { rootToken } from './support/api.ts';
import { type ClusterServer, ServerCluster } from './support/server-cluster.ts';

let cluster: ServerCluster;
const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
  await cluster.close();
});

async function three(): Promise<readonly ClusterServer[]> {
  cluster = new ServerCluster();
  await Promise.all([cluster.start(), cluster.start(), cluster.start()]);
  await cluster.settled();
  return cluster.servers;
}

/** A client that asks the servers in the given order. */
function clientOf(servers: readonly ClusterServer[]): Client {
  const address = servers.map(({ agent }) => agent.address);
  // Swaps nothing.
  const random = { below: (bound: number) => bound - 1 };
  const client = createClient({ address, token: rootToken, random });
  closings.push(() => client.close());
  return client;
}

test('reads, writes and blocking queries move on from a server that is lost', async () => {
  const { followers, leader } = (await three()) && cluster;
  const [first, other] = followers;
  const client = clientOf([first!, other!, leader!]);
  await client.namespaces.write('blue', { Name: 'blue' });
  const { index } = await client.namespaces.list();
  const waiting = client.namespaces.list({ index });
  // The query is at the server before that is lost.
  await expect.poll(() => first!.agent.state.head().index).toBeGreaterThanOrEqual(index);
  await cluster.kill(first!);
  await client.namespaces.write('red', { Name: 'red' });
  const names = (await waiting).value.map(({ Name }) => Name);
  expect(names).toEqual(expect.arrayContaining(['blue', 'red']));
});

test('writes go on when the leader, whom they were sent to, is lost', async () => {
  const { leader, followers } = (await three()) && cluster;
  const client = clientOf([leader!, ...followers]);
  const names = Array.from({ length: 40 }, (_, at) => `space-${at}`);
  const written = names.map((Name, at) =>
    (at < 20 ? Promise.resolve() : cluster.settled()).then(() =>
      client.namespaces.write(Name, { Name }),
    ),
  );
  await written[0];
  await cluster.kill(leader!);
  await Promise.all(written);
  const there = (await client.namespaces.list()).value.map(({ Name }) => Name);
  expect(there).toEqual(expect.arrayContaining(names));
});

test('events and logs go on at another server, and nothing is missing or told twice', async () => {
  const { leader, followers } = (await three()) && cluster;
  const [first, other] = followers;
  const node = await startNode(
    { node: { name: 'n' }, drivers: { allow: ['raw_exec'] } },
    {
      addresses: [first!.agent.address, other!.agent.address],
      introduction: async () =>
        (await clientOf([leader!]).introductionTokens.create({})).value.SecretID,
    },
  );
  closings.push(() => node.close('stop'));
  await node.registered();
  const client = clientOf([first!, other!, leader!]);
  const stop = new AbortController();
  closings.push(async () => stop.abort());
  const broken: unknown[] = [];
  const note = (error: unknown) => !stop.signal.aborted && broken.push(error);
  const seen: string[] = [];
  void (async () => {
    const topics = ['Job'];
    for await (const { Events = [] } of client.events.follow({ topics, signal: stop.signal })) {
      seen.push(...Events.map(({ Type, Key, Index }) => `${Type} ${Key} ${Index}`));
    }
  })().catch(note);
  const { EvalID } = (await client.jobs.register(counting)).value;
  expect(EvalID).not.toBe('');
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  const running = async () => (await client.jobs.allocations('count')).value[0];
  await expect.poll(async () => (await running())?.ClientStatus).toBe('running');
  let told = '';
  void (async () => {
    const allocation = (await running())!.ID;
    const of = { allocation, task: 't', follow: true, signal: stop.signal };
    for await (const { data } of client.logs.pieces(of)) told += Buffer.from(data);
  })().catch(note);
  await expect.poll(() => told.split('\n').length).toBeGreaterThan(5);
  await cluster.kill(first!);
  const before = told.split('\n').length;
  await expect.poll(() => broken.length > 0 || told.split('\n').length > before + 5).toBe(true);
  expect(broken).toEqual([]);
  const lines = told.split('\n').slice(0, -1).map(Number);
  expect(lines).toEqual(lines.map((_, at) => at + 1));
  await client.jobs.stop('count');
  await expect.poll(() => seen.at(-1)).toContain('JobUpdated count');
  expect(new Set(seen).size).toBe(seen.length);
  expect(broken).toEqual([]);
});

const counting = {
  Job: {
    ID: 'count',
    Datacenters: ['dc1'],
    TaskGroups: [
      {
        Name: 'g',
        Tasks: [
          {
            Name: 't',
            Driver: 'raw_exec',
            Config: {
              command: '/bin/sh',
              args: ['-c', 'at=0; while sleep 0.05; do at=$((at + 1)); echo $at; done'],
            },
          },
        ],
      },
    ],
  },
};

test('a server that is not ready is passed over', async () => {
  await three();
  const foreign = await cluster.start({ rootKey: new Uint8Array(32).fill(9) });
  const client = clientOf([foreign, ...cluster.servers]);
  expect((await client.namespaces.write('blue', { Name: 'blue' })).value).toBeDefined();
  expect((await client.namespaces.read('blue')).value.Name).toBe('blue');
});

test('a host name stands for its machines, for clients and nodes', async () => {
  const [first] = await three();
  const address = `http://roster.example:${new URL(first!.agent.address).port}`;
  // Nothing listens at the first of them.
  const resolve = async () => ['127.0.0.9', '127.0.0.1'];
  const client = createClient({ address, token: rootToken, resolve });
  closings.push(() => client.close());
  const introduction = async () => (await client.introductionTokens.create({})).value.SecretID;
  const node = await startNode(
    { node: { name: 'n' } },
    { addresses: [address], introduction, resolve },
  );
  closings.push(() => node.close('stop'));
  await node.registered();
  expect(node.server).toBe(`${address} (127.0.0.1)`);
  // Over the connection that the node keeps open.
  const usage = () => client.nodes.usage(node.id).then(() => true);
  await expect.poll(() => usage().catch(() => false)).toBe(true);
});

test('every address is named when none works', async () => {
  await three();
  const servers = [...cluster.servers];
  const client = clientOf(servers);
  await cluster.close();
  await expect(client.namespaces.list()).rejects.toMatchObject({
    name: 'ConnectionError',
    message: [
      'None of the 3 servers took the request.',
      ...servers.map(({ agent }) => `Nothing listens at ${agent.address}.`),
    ].join(' '),
  });
});
