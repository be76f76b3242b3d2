/** The list of servers in etcd. */
import { describe, expect, test } from 'vitest';
import { EtcdBench } from './etcd.test-helper.ts';
import { etcdLimits } from './limits.ts';
import { EtcdMembers } from './members.ts';

const bench = () => {
  const etcd = new EtcdBench();
  const faults: unknown[] = [];
  const log = { isOwn: true };
  const start = (id: string, version = '1') => {
    const client = etcd.etcd.connect();
    const { timers } = etcd.world;
    const limits = { ...etcdLimits, ...etcd.limits };
    const report = (fault: unknown) => faults.push(fault);
    const mayJoin = () => log.isOwn;
    const members = new EtcdMembers({ client, timers, keys: etcd.keys, limits, report, mayJoin });
    let changes = 0;
    members.onChange(() => changes++);
    const leave = members.announce({ id, address: `${id}:1`, version });
    const known = () => members.members().map((one) => one.id);
    return { client, members, leave, known, changes: () => changes };
  };
  return { etcd, start, faults, log };
};

const beatMs = etcdLimits.memberBeatMs;
const ttlMs = etcdLimits.memberTtlMs;

describe('the list of servers in etcd', () => {
  test('has every server that announced itself, with address and version', async () => {
    const { etcd, start, faults } = bench();
    const [first, second] = [start('a'), start('b', '2')];
    await etcd.advance(100);
    expect(first.members.members()).toEqual([
      { id: 'a', address: 'a:1', version: '1' },
      { id: 'b', address: 'b:1', version: '2' },
    ]);
    expect(second.known()).toEqual(['a', 'b']);
    const before = first.changes();
    await etcd.advance(4 * ttlMs);
    expect([first.known(), first.changes(), faults]).toEqual([['a', 'b'], before, []]);
  });

  test('loses a server that leaves at once, and a server that dies with its lease', async () => {
    const { etcd, start } = bench();
    const [first, second, third] = [start('a'), start('b'), start('c')];
    await etcd.advance(100);
    second.leave();
    await etcd.advance(10);
    expect(first.known()).toEqual(['a', 'c']);
    third.client.crash();
    await etcd.advance(ttlMs - beatMs - 200);
    expect(first.known()).toEqual(['a', 'c']);
    await etcd.advance(beatMs + 400);
    expect(first.known()).toEqual(['a']);
  });

  test('has a server only while the log is that of the server', async () => {
    const { etcd, start, log } = bench();
    log.isOwn = false;
    const { known } = start('a');
    await etcd.advance(2 * beatMs);
    expect(known()).toEqual([]);
    log.isOwn = true;
    await etcd.advance(1000);
    expect(known()).toEqual(['a']);
    log.isOwn = false;
    await etcd.advance(beatMs + 100);
    expect(known()).toEqual([]);
  });

  test('has a server again whose lease had ended, or that was cut off', async () => {
    const { etcd, start, faults } = bench();
    const [first, second] = [start('a'), start('b')];
    await etcd.advance(100);
    for (const id of etcd.etcd.store.leases.keys()) etcd.etcd.store.expire(id);
    await etcd.advance(100);
    expect(first.known()).toEqual([]);
    await etcd.advance(beatMs);
    expect([first.known(), second.known()]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    second.client.isCutOff = true;
    await etcd.advance(2 * ttlMs);
    expect(first.known()).toEqual(['a']);
    expect(second.known()).toEqual(['a', 'b']);
    second.client.isCutOff = false;
    second.client.breakWatches();
    await etcd.advance(beatMs);
    expect([first.known(), second.known()]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(faults).toHaveLength(1);
  });

  test('leaves out entries that are no server', async () => {
    const { etcd, start } = bench();
    const first = start('a');
    for (const [key, value] of [
      ['x', 'no JSON'],
      ['y', '{"id":"y"}'],
    ] as const) {
      const put = { kind: 'put' as const, key: etcd.keys.member(key), value: Buffer.from(value) };
      etcd.etcd.store.transact({ compare: [], success: [put] });
    }
    await etcd.advance(100);
    expect(first.known()).toEqual(['a']);
  });
});
