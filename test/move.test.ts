/** A server that is moved to another address: a running node finds it there, and its tasks know nothing of it. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { type Agent, createAgent } from '../src/agent.ts';
import { startNode } from '../src/agent-node.ts';
import { type Client, createClient } from '../src/sdk/client.ts';
import { endAgents, newDirectory, processesOf, rootToken } from './support/agent.ts';
import { freePorts } from './support/etcd.ts';

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});
afterAll(endAgents);

const job = {
  ID: 'sleeper',
  TaskGroups: [
    {
      Name: 'main',
      Tasks: [{ Name: 'sleep', Driver: 'raw_exec', Config: { command: 'sleep', args: ['1000'] } }],
    },
  ],
};

test('a node with both addresses goes on with a server that was moved, and so do its tasks', async () => {
  const directory = newDirectory('move');
  const [oldPort, newPort] = (await freePorts(2)) as [number, number];
  const serve = (name: string, port: number): Promise<Agent> =>
    createAgent({
      dataDirectory: join(directory, name),
      rootToken,
      http: { host: '127.0.0.1', port },
      server: { name: 'server' },
    });
  const clientOf = ({ address }: Agent): Client => {
    const client = createClient({ address, token: rootToken });
    closings.push(() => client.close());
    return client;
  };
  const before = await serve('old', oldPort);
  const first = clientOf(before);
  const node = await startNode(
    {
      node: { name: 'worker' },
      dataDirectory: join(directory, 'worker'),
      drivers: { allow: ['raw_exec'] },
    },
    {
      addresses: [`http://127.0.0.1:${oldPort}`, `http://127.0.0.1:${newPort}`],
      introduction: async () => (await first.introductionTokens.create({})).value.SecretID,
    },
  );
  closings.push(() => node.close('stop'));
  await node.registered();
  await first.jobs.register({ Job: job });
  const runningOf = async (client: Client) => {
    const { value } = await client.allocations.list();
    const [one] = value.filter(({ ClientStatus }) => ClientStatus === 'running');
    return one?.ID;
  };
  await expect.poll(() => runningOf(first)).toBeDefined();
  const ID = (await runningOf(first))!;
  const pids = processesOf({ ID });
  expect(pids.length).toBeGreaterThan(0);
  const { index } = await first.jobs.list();
  await before.close('stop');

  cpSync(join(directory, 'old'), join(directory, 'new'), { recursive: true });
  const after = await serve('new', newPort);
  closings.push(() => after.close('stop'));
  const second = clientOf(after);
  expect((await second.jobs.list()).index).toBeGreaterThanOrEqual(index);
  // The node reports to the new server.
  await expect
    .poll(async () => {
      const { value } = await second.nodes.list();
      return value.map((one) => [one.ID, one.Status]);
    })
    .toEqual([[node.id, 'ready']]);
  expect(processesOf({ ID })).toEqual(pids);
  await second.jobs.stop('sleeper');
  await expect.poll(() => processesOf({ ID })).toEqual([]);
});
