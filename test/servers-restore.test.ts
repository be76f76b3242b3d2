/** A snapshot is restored through a server that does not lead, which hands the file on while it comes. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../src/sdk/client.ts';
import { eventually } from './support/agent.ts';
import { rootToken } from './support/api.ts';
import { type ClusterServer, call, ServerCluster } from './support/server-cluster.ts';

let cluster: ServerCluster;
const clients: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  cluster = new ServerCluster();
  await Promise.all([cluster.start(), cluster.start()]);
  await cluster.settled();
});

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await cluster.close();
});

const clientOf = ({ agent }: ClusterServer, token = rootToken) => {
  const client = createClient({ address: agent.address, token });
  clients.push(client);
  return client;
};

const putNamespace = (server: ClusterServer, Name: string) =>
  call(server, 'PUT', `/v1/namespace/${Name}`, { Name });
const has = async (server: ClusterServer, Name: string) =>
  (await call(server, 'GET', `/v1/namespace/${Name}`)).status === 200;

async function saved(server: ClusterServer): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of clientOf(server).snapshots.save()) pieces.push(piece);
  return pieces;
}

async function* each(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

describe('a restore through a follower', () => {
  test('is that of the leader, and shows on both when it is answered', async () => {
    const [follower] = cluster.followers as [ClusterServer];
    await putNamespace(follower, 'kept');
    const { ClusterID } = (await clientOf(follower).snapshots.lastRestore()).value;
    const file = await saved(follower);
    await putNamespace(follower, 'gone');
    const variable = { Path: 'app', Items: { a: 'b' } };
    await call(follower, 'PUT', '/v1/var/app', variable);
    const client = clientOf(follower);
    await expect(client.snapshots.restore(each(file))).rejects.toMatchObject({
      code: 'state-not-empty',
    });
    const { value } = await client.snapshots.restore(each(file), { force: ClusterID });
    expect(value).toMatchObject({ ClusterID, Restore: { Generation: 1 } });
    for (const server of cluster.servers) {
      expect([await has(server, 'kept'), await has(server, 'gone')]).toEqual([true, false]);
    }
    expect((await putNamespace(follower, 'later')).status).toBe(200);
  });

  test('is refused before the file is read, if the caller may not do it', async () => {
    const [follower] = cluster.followers as [ClusterServer];
    let read = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (; read < 10_000; read++) yield new Uint8Array(65_536);
    }
    const anonymous = clientOf(follower, '');
    await expect(anonymous.snapshots.restore(endless())).rejects.toMatchObject({ status: 403 });
    expect(read).toBeLessThan(10_000);
  });

  test('changes nothing if the file breaks off, is damaged, or the leader is gone meanwhile', async () => {
    const [follower] = cluster.followers as [ClusterServer];
    await putNamespace(follower, 'kept');
    const client = clientOf(follower);
    const file = await saved(follower);
    const whole = Buffer.concat(file);
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield whole.subarray(0, 1000);
      throw new Error('the disk is gone');
    }
    await expect(client.snapshots.restore(broken())).rejects.toThrow();
    const damaged = Uint8Array.from(whole);
    damaged[damaged.length - 40]! ^= 1;
    // The leader hears of the broken file a moment after the client does.
    await eventually(() =>
      expect(client.snapshots.restore(each([damaged]))).rejects.toMatchObject({
        code: 'snapshot-damaged',
      }),
    );
    const { leader } = cluster;
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield whole.subarray(0, 1000);
      await leader!.relay.cut();
      await follower.relay.cut();
      yield whole.subarray(1000);
    }
    await expect(client.snapshots.restore(slow())).rejects.toMatchObject({
      // Certainly not run, in both cases.
      code: expect.stringMatching(/^(not|no)-leader$/),
    });
    await Promise.all([leader!.relay.mend(), follower.relay.mend()]);
    await cluster.settled();
    const { value } = await client.snapshots.lastRestore();
    expect(value.Restore).toBeNull();
    expect(await has(follower, 'kept')).toBe(true);
  });
});
