/** The engine on etcd itself: a single member, and three of which one dies. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import type { EtcdClient, WatchEvent } from '../../src/state/engine/etcd/client.ts';
import { textBytes } from '../../src/state/engine/etcd/head.ts';
import {
  BenchServers,
  hasRow,
  testServers,
} from '../../src/state/engine/shared-engine.test-helper.ts';
import { EtcdCluster, etcdServer } from '../support/etcd.ts';
import { RealBench } from './bench.ts';

describe('etcd', needing(etcdServer), () => {
  let one: EtcdCluster;
  let three: EtcdCluster;

  beforeAll(async () => {
    one = await EtcdCluster.start(1);
    three = await EtcdCluster.start(3);
  });

  afterAll(async () => {
    await one?.stop();
    await three?.stop();
  });

  describe('a client', () => {
    const key = (name: string) => `/client/${name}`;
    const put = (client: EtcdClient, name: string, text: string) =>
      client.transact({
        compare: [],
        success: [{ kind: 'put', key: key(name), value: textBytes(text) }],
      });

    test.each([
      ['absent', 'no', false],
      ['absent', 'there', true],
      ['equal', 'there', true],
      ['greater', 'there', false],
    ] as const)('compares as the model does: %s', async (is, name, _) => {
      const client = one.client();
      await put(client, 'there', 'm');
      const value = textBytes(is === 'greater' ? 'l' : 'm');
      const compare = is === 'absent' ? { key: key(name), is } : { key: key(name), is, value };
      const { succeeded } = await client.transact({ compare: [compare], success: [] });
      expect(succeeded).toBe(!(is === 'absent' && name === 'there'));
    });

    test('reads in pages, as of a revision, and by name alone', async () => {
      const client = one.client();
      for (const name of ['p/1', 'p/2', 'p/3']) await put(client, name, name);
      const span = { key: key('p/'), end: key('p0') };
      const { keys, more, header } = await client.range({ ...span, limit: 2 });
      expect(keys.map((one_) => [one_.key, Buffer.from(one_.value).toString()])).toEqual([
        [key('p/1'), 'p/1'],
        [key('p/2'), 'p/2'],
      ]);
      expect(more).toBe(true);
      await put(client, 'p/4', 'later');
      const then = await client.range({ ...span, revision: header.revision, keysOnly: true });
      expect(then.keys.map((one_) => [one_.key, one_.value.length])).toEqual(
        [1, 2, 3].map((number) => [key(`p/${number}`), 0]),
      );
    });

    test('tells a compacted revision from other faults', async () => {
      const client = one.client();
      const { header } = await put(client, 'c', '1');
      await put(client, 'c', '2');
      const { header: last } = await put(client, 'c', '3');
      await client.compact(last.revision);
      const read = client.range({ key: key('c'), revision: header.revision });
      await expect(read).rejects.toMatchObject({ kind: 'compacted' });
    });

    test('watches, with what is deleted, and a lease takes its keys with it', async () => {
      const client = one.client();
      const heard: string[] = [];
      const began = Promise.withResolvers<void>();
      const span = { key: key('w/'), end: key('w0') };
      const tell = ({ kind, keyValue }: WatchEvent) => heard.push(`${kind} ${keyValue.key}`);
      const stop = client.watch(span, {
        began: () => began.resolve(),
        events: (events) => events.forEach(tell),
      });
      await began.promise;
      const lease = await client.grantLease(5);
      await client.transact({
        compare: [],
        success: [{ kind: 'put', key: key('w/a'), value: textBytes('a'), lease }],
      });
      expect(await client.keepAlive(lease)).toBe(true);
      await client.revokeLease(lease);
      expect(await client.keepAlive(lease)).toBe(false);
      await expect.poll(() => heard).toEqual([`put ${key('w/a')}`, `delete ${key('w/a')}`]);
      stop();
    });

    test('tells its version and size', async () => {
      const [status] = await one.client().status();
      expect(status!.endpoint).toBe(one.endpoints[0]);
      expect(status!.version).toMatch(/^3\.6\./);
      expect(status!.dbBytes).toBeGreaterThan(0);
      expect(status!.quotaBytes).toBeGreaterThan(1e9);
      expect(await one.client().isOutOfSpace()).toBe(false);
    });

    test('tells the size of every member that answers', async () => {
      const [own] = one.endpoints;
      const [host, port] = own!.split(':');
      const other = `${host === 'localhost' ? '127.0.0.1' : 'localhost'}:${port}`;
      const client = one.client({ endpoints: ['127.0.0.1:1', own!, other] });
      expect((await client.status()).map(({ endpoint }) => endpoint)).toEqual([own, other]);
      const nobody = one.client({ endpoints: ['127.0.0.1:1'], limits: { callMs: 500 } });
      await expect(nobody.status()).rejects.toMatchObject({ kind: 'unknown' });
    });

    test('a request that is too large is refused, and nobody who listens is unknown', async () => {
      const large = one.client().transact({
        compare: [],
        success: [{ kind: 'put', key: key('l'), value: new Uint8Array(3_000_000) }],
      });
      await expect(large).rejects.toMatchObject({ kind: 'refused' });
      const nobody = one.client({ endpoints: ['127.0.0.1:1'], limits: { callMs: 500 } });
      await expect(nobody.range({ key: 'a' })).rejects.toMatchObject({ kind: 'unknown' });
    });

    test('goes to another endpoint when one does not answer', async () => {
      const client = one.client({ endpoints: ['127.0.0.1:1', ...one.endpoints] });
      await expect(client.range({ key: 'a' })).resolves.toMatchObject({ more: false });
      await put(client, 'other', 'x');
    });
  });

  testServers('one member of etcd', () => new RealBench(one));
  testServers('three members of etcd', () => new RealBench(three));

  test('a member that is killed costs no acknowledged write, and servers go on', async () => {
    const bench = new RealBench(three);
    const servers = await new BenchServers(bench).open(2);
    const acknowledged: string[] = [];
    const write = async (name: string) => {
      const written = await servers.put(servers.leader, name).then(
        () => true,
        () => false,
      );
      if (written) acknowledged.push(name);
    };
    for (let at = 0; at < 10; at++) await write(`before ${at}`);
    for (const victim of [0, 1]) {
      await three.kill(victim);
      for (let at = 0; at < 10; at++) {
        await bench.until(() => servers.leader !== undefined);
        await write(`without ${victim}: ${at}`);
      }
      await bench.until(() => servers.leader !== undefined);
      three.run(victim);
      await three.ready();
    }
    await bench.until(() => servers.leader !== undefined);
    await write('after');
    expect(acknowledged).toContain('after');
    expect(acknowledged.length).toBeGreaterThan(20);
    const late = await servers.start(2);
    for (const server of [...servers.living, late]) {
      await server.state.exact();
      expect(acknowledged.filter((name) => !hasRow(server, name))).toEqual([]);
    }
    servers.end();
  });
});
