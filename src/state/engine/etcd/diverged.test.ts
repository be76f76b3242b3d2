/** R5 and R6 of DESIGN.md: an etcd that came back older or is another one, exact reads, lying watches. */
import { describe, expect, test } from 'vitest';
import { Diverged, StateError } from '../../errors.ts';
import { type BenchServer, hasRow, putRow } from '../shared-engine.test-helper.ts';
import type { WatchEvent } from './client.ts';
import {
  changed,
  connectionOf,
  type EtcdServers,
  etcdServers,
  prefix,
} from './etcd.test-helper.ts';
import { encodeHead } from './head.ts';
import type { Deliveries } from './model.ts';

async function three(): Promise<EtcdServers> {
  const servers = await etcdServers(3);
  await servers.put(servers.leader, 'a');
  await servers.bench.advance(20);
  return servers;
}

const setHead = ({ bench }: EtcdServers, change: object) => {
  const value = encodeHead({ ...bench.head, ...change });
  const put = { kind: 'put' as const, key: bench.keys.head, value };
  bench.etcd.store.transact({ compare: [], success: [put] });
};

describe('a log that has diverged', () => {
  const older = async (servers: EtcdServers) => {
    const copy = servers.bench.etcd.store.copy();
    await servers.put(servers.leader, 'b');
    await servers.bench.advance(20);
    return copy;
  };

  test.each<[string, (servers: EtcdServers) => Promise<void> | void, RegExp]>([
    [
      'etcd came back older',
      async (servers) => servers.bench.etcd.restore(await older(servers)),
      /index 2 .* has index 1 /,
    ],
    [
      'etcd came back older as a cluster of its own',
      async (servers) => servers.bench.etcd.restore(await older(servers), '2002'),
      /etcd cluster 1001, the log is in the etcd cluster 2002/,
    ],
    [
      'the cluster of servers is another',
      (servers) => setHead(servers, { cluster: '0'.repeat(36) }),
      /has index 1 .* of the cluster 0000/,
    ],
    [
      'the same index has another hash',
      (servers) => setHead(servers, { hash: 'f'.repeat(32) }),
      /has index 1 \(ffff/,
    ],
    [
      'the head is gone',
      ({ bench }) =>
        void bench.etcd.store.transact({
          compare: [],
          success: [{ kind: 'delete', key: bench.keys.head }],
        }),
      /has no head/,
    ],
  ])(
    '%s: no server leads or follows; all show their own state and name both heads',
    async (_, happen, names) => {
      const servers = await three();
      const { index } = servers.leader.state.read();
      await happen(servers);
      await servers.bench.advance(2 * servers.bench.settleMs);
      for (const server of servers.living) {
        const { state } = server;
        expect(state.leading).toBeUndefined();
        expect(state.closed?.cause).toBeInstanceOf(Diverged);
        expect(state.closed?.message).toMatch(names);
        expect(hasRow(server, 'a')).toBe(true);
        expect(state.read().index).toBeGreaterThanOrEqual(index);
        await expect(putRow(state, 'c')).rejects.toMatchObject({ code: 'writes-closed' });
        const exact = servers.bench.during(state.exact()!);
        await expect(exact).rejects.toBeInstanceOf(StateError);
      }
      expect(hasRow(servers.living[0]!, 'c')).toBe(false);
    },
  );

  test('an older etcd that has gone on since is found by the chain of hashes', async () => {
    const servers = await three();
    const [, , third] = servers.living;
    const copy = await older(servers);
    for (const server of servers.living) {
      if (server !== third) servers.crash(server);
    }
    const connection = connectionOf(servers, third!);
    connection.isCutOff = true;
    servers.bench.etcd.restore(copy);
    // Another server goes on from the older log.
    const other = await servers.start(0);
    await servers.bench.advance(2 * servers.bench.settleMs);
    for (const name of ['x', 'y', 'z']) await servers.put(other, name);
    connection.isCutOff = false;
    connection.breakWatches();
    await servers.bench.advance(servers.bench.settleMs);
    expect(third!.state.closed?.message).toMatch(/index 2 .* goes on from/);
    expect(other.state.closed).toBeUndefined();
  });
});

describe('watches', () => {
  const rows = Array.from({ length: 12 }, (_, number) => `row ${number}`);

  test.each<[string, (number: number, event: WatchEvent) => Deliveries]>([
    ['loses every event', () => []],
    ['loses every third event', (number) => (number % 3 === 0 ? [] : [1])],
    ['repeats events', () => [1, 2, 30]],
    ['turns events around', (number) => [number % 2 === 0 ? 25 : 1]],
  ])('a watch that %s holds up followers at most until they look', async (_, deliveries) => {
    const servers = await etcdServers(3);
    const { bench } = servers;
    let number = 0;
    bench.etcd.faults.deliveries = (event) => deliveries(number++, event);
    for (const name of rows) await servers.put(servers.leader, name);
    for (const { state } of servers.living) await servers.bench.during(state.exact()!);
    for (const server of servers.living) {
      expect(rows.filter((name) => !hasRow(server, name))).toEqual([]);
      const indexes = server.heard.map(({ index }) => index);
      expect(indexes).toEqual(rows.map((__, at) => at + 1));
    }
  });

  test('events of long ago change nothing', async () => {
    const servers = await etcdServers(2);
    const { bench, follower } = servers;
    for (const name of rows) await servers.put(servers.leader, name);
    bench.depose();
    await bench.advance(bench.settleMs);
    for (const server of servers.living) connectionOf(servers, server).backdate();
    await bench.advance(100);
    for (const server of servers.living) {
      expect(server.state.closed).toBeUndefined();
      expect(server.heard.length).toBe(rows.length);
    }
    expect(follower.state.read().index).toBe(rows.length);
  });

  test('etcd sends the entries of the log to servers that follow, and to no leader', async () => {
    const told = new Map<object, string[]>();
    const servers = await etcdServers(2, {
      between(client) {
        const names: string[] = [];
        told.set(client, names);
        return changed(client, {
          watch: (span, { began, events }) =>
            client.watch(span, {
              began,
              events(all) {
                names.push(...all.map(({ keyValue }) => keyValue.key));
                events(all);
              },
            }),
        });
      },
    });
    const { bench } = servers;
    const toldOf = (server: BenchServer): number =>
      told.get(connectionOf(servers, server))!.filter((key) => key.startsWith(`${prefix}log/`))
        .length;
    const [first, second] = [servers.leader, servers.follower];
    const before = [toldOf(first), toldOf(second)] as const;
    for (const name of rows) await servers.put(first, name);
    await bench.advance(100);
    expect([toldOf(first), toldOf(second)]).toEqual([before[0], before[1] + rows.length]);
    await bench.during(first.state.stepDown(false));
    await bench.advance(bench.settleMs);
    expect(servers.leader).toBe(second);
    for (const name of rows) await servers.put(second, `${name} again`);
    await bench.advance(100);
    expect([toldOf(first), toldOf(second)]).toEqual([
      before[0] + rows.length,
      before[1] + rows.length,
    ]);
  });

  test('a watch that is dead without a word is found by the next look', async () => {
    const servers = await etcdServers(2);
    const { bench, follower } = servers;
    bench.etcd.faults.deliveries = () => [];
    await servers.put(servers.leader, 'a');
    await bench.advance(bench.settleMs);
    expect(hasRow(follower, 'a')).toBe(true);
  });
});

describe('exact reads', () => {
  /** Reads of the head are answered by a member that is behind, as a serializable read may be. */
  const read = async (serializable: boolean) => {
    const servers = await etcdServers(2, {
      between: (client) =>
        changed(client, {
          range: (request) =>
            client.range({ ...request, serializable: serializable || request.serializable }),
        }),
    });
    const { bench, follower } = servers;
    bench.etcd.faults.deliveries = () => [500];
    await servers.put(servers.leader, 'a');
    bench.etcd.faults.lag = () => 1;
    await servers.bench.during(follower.state.exact()!);
    return hasRow(follower, 'a');
  };

  test('a follower shows every write that was acknowledged before the question, however far a member is behind', async () => {
    expect(await read(false)).toBe(true);
  });

  test('counter-proof: a head that is read serializably misses an acknowledged write', async () => {
    expect(await read(true)).toBe(false);
  });

  test('a former leader that does not know of its successor answers exactly as well', async () => {
    const servers = await etcdServers(2);
    const { bench, leader, follower } = servers;
    const connection = connectionOf(servers, leader);
    connection.isCutOff = true;
    bench.depose();
    await bench.advance(600);
    await servers.put(follower, 'a');
    connection.isCutOff = false;
    await servers.bench.during(leader.state.exact()!);
    expect(hasRow(leader, 'a')).toBe(true);
  });
});
