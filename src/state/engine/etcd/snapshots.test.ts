/** R4 of DESIGN.md: snapshots in etcd, the log behind them, and a database that fills up. */
import { describe, expect, test } from 'vitest';
import { delay } from '../../../base/ports.ts';
import { dump } from '../../items.test-helper.ts';
import { hasRow, putRow } from '../shared-engine.test-helper.ts';
import { EtcdError } from './client.ts';
import {
  changed,
  connectionOf,
  type EtcdBench,
  type EtcdServers,
  etcdServers,
  outcomeOf,
  prefix,
} from './etcd.test-helper.ts';
import type { EtcdEngine } from './etcd.ts';
import { encodeHead } from './head.ts';
import type { StoredCopy } from './model-store.ts';
import { decodePointer, type Pointer } from './snapshot-form.ts';

/** A snapshot after nearly every write. */
const state = { logBytes: 1, logPerSnapshot: 0, snapshotPartBytes: 100 };
const etcd = { valueBytes: 150 };

const pointerOf = ({ etcd: model, keys }: EtcdBench): Pointer | undefined => {
  const [found] = model.store.range({ key: keys.pointer }).keys;
  return found && decodePointer(found.value, found.key);
};

const namesOf = (bench: EtcdBench, kind: string) =>
  bench.etcd.names.filter((name) => name.startsWith(`${prefix}${kind}/`));

async function written(count: number): Promise<EtcdServers> {
  const servers = await etcdServers(2, { state, etcd });
  for (let number = 0; number < count; number++) {
    await servers.put(servers.leader, `row ${number}`);
    await servers.bench.advance(50);
  }
  return servers;
}

/** Writes another value over a key, as damage would. */
function damage({ etcd: model }: EtcdBench, key: string): void {
  const [found] = model.store.range({ key }).keys;
  const value = new Uint8Array(found!.value);
  value[value.length - 1]! ^= 1;
  model.store.transact({ compare: [], success: [{ kind: 'put', key, value }] });
}

describe('snapshots', () => {
  test('lie in chunks, the newest and the one before it, with the log from that one on', async () => {
    const { bench, leader } = await written(8);
    const { current, before } = pointerOf(bench)!;
    expect(current.index).toBeGreaterThan(before!.index);
    const ids = new Set(namesOf(bench, 'chunk').map((name) => bench.keys.snapshotOf(name)));
    expect([...ids].sort()).toEqual([current.id, before!.id].sort());
    const first = Number(namesOf(bench, 'log')[0]!.slice(`${prefix}log/`.length));
    expect(first).toBe(before!.index + 1);
    expect(namesOf(bench, 'log').length).toBe(leader.state.read().index - before!.index);
  });

  test('a server that starts shows the same as the others', async () => {
    const servers = await written(8);
    const late = await servers.start(2);
    expect(dump(late.state.read())).toEqual(dump(servers.leader.state.read()));
    await servers.put(servers.leader, 'more');
    await servers.bench.advance(20);
    expect(hasRow(late, 'more')).toBe(true);
  });

  test('a snapshot that is damaged is named, and the one before it takes its place', async () => {
    const servers = await written(8);
    const { bench } = servers;
    damage(bench, bench.keys.chunk(pointerOf(bench)!.current.id, 0));
    const late = await servers.start(2);
    expect(dump(late.state.read())).toEqual(dump(servers.leader.state.read()));
    expect(bench.reports.map(String).join()).toContain('its hash does not match');
  });

  test('two damaged snapshots end the start, and nothing is guessed', async () => {
    const servers = await written(8);
    const { bench } = servers;
    const { current, before } = pointerOf(bench)!;
    for (const { id } of [current, before!]) damage(bench, bench.keys.chunk(id, 0));
    await expect(servers.start(2)).rejects.toMatchObject({ code: 'state-corrupted' });
  });

  test('a snapshot that cannot be read back as it was is never pointed to, and the log stays', async () => {
    const servers = await written(4);
    const { bench, leader } = servers;
    const before = pointerOf(bench)!;
    const stored = namesOf(bench, 'log').length;
    // Each chunk is damaged as soon as it is put.
    bench.etcd.faults.fate = ({ success: [operation] }) => {
      if (operation?.kind === 'put' && operation.key.startsWith(`${prefix}chunk/`)) {
        const { key } = operation;
        bench.world.timers.after(0, () => bench.world.timers.after(0, () => damage(bench, key)));
      }
      return 'arrives';
    };
    for (const name of ['x', 'y', 'z']) await servers.put(leader, name);
    await bench.advance(100);
    expect(pointerOf(bench)).toEqual(before);
    expect(namesOf(bench, 'log').length).toBe(stored + 3);
    expect(leader.reports.map(String).join()).toContain('damaged at the snapshot');
    expect(leader.state.leading).toBeDefined();
  });

  test.each<[string, (servers: EtcdServers, older: StoredCopy) => void, RegExp]>([
    ['etcd came back older', ({ bench }, older) => bench.etcd.restore(older), /^Diverged: /],
    [
      'another leader swept its chunks away',
      ({ bench: { etcd, head, keys } }) => {
        const value = encodeHead({ ...head, epoch: head.epoch + 1 });
        const put = { kind: 'put' as const, key: keys.head, value };
        const swept = { kind: 'delete' as const, ...keys.everyChunk };
        etcd.store.transact({ compare: [], success: [put, swept] });
      },
      /^Fenced: epoch 1 has passed/,
    ],
  ])('a snapshot that is gone when it is read back is not damaged: %s', async (_, strike, told) => {
    const servers = await written(4);
    const { bench, leader } = servers;
    const older = bench.etcd.store.copy();
    await servers.put(leader, 'x');
    const connection = connectionOf(servers, leader);
    const range = connection.range.bind(connection);
    let hasStruck = false;
    connection.range = (request) => {
      const isReadBack = request.key.startsWith(`${prefix}chunk/`) && request.keysOnly !== true;
      if (isReadBack && !hasStruck) {
        hasStruck = true;
        strike(servers, older);
      }
      return range(request);
    };
    for (const name of ['y', 'z']) await servers.put(leader, name).catch(() => {});
    await bench.advance(100);
    const reports = leader.reports.map(String);
    expect(reports).toContainEqual(expect.stringMatching(told));
    expect(reports.join()).not.toContain('damaged');
  });

  test('the pointer never goes back to an older snapshot', async () => {
    const servers = await written(6);
    const { bench, leader } = servers;
    const { current } = pointerOf(bench)!;
    const { epoch } = leader.state.leading!;
    async function* parts() {
      yield new Uint8Array(Buffer.from('{"Index":1}'));
    }
    const saved = leader.engine.saveSnapshot(1, epoch, parts());
    await expect(servers.bench.during(saved)).rejects.toMatchObject({ code: 'fenced' });
    expect(pointerOf(bench)!.current).toEqual(current);
  });

  test('history is compacted while servers read, and a server that starts meanwhile begins anew', async () => {
    const servers = await written(4);
    const { bench } = servers;
    bench.etcd.faults.delayMs = () => 3;
    const compacting = () => {
      bench.etcd.store.compact(bench.etcd.store.revision);
      void putRow(servers.leader.state, 'more').catch(() => {});
    };
    for (const afterMs of [8, 20, 30]) bench.world.timers.after(afterMs, compacting);
    const late = await servers.start(2);
    bench.etcd.faults.delayMs = undefined;
    await bench.advance(bench.settleMs);
    expect(dump(late.state.read())).toEqual(dump(servers.leader.state.read()));
  });

  /** A start during which the log is cut so many times behind what was read. Every second read of the log fails then. */
  async function startOverCuts(cuts: number, startCutsMax: number) {
    const servers = await written(2);
    const { bench, leader } = servers;
    Object.assign(bench.limits, { startCutsMax });
    let [left, reads, rows] = [cuts, 0, 0];
    const put = () => putRow(leader.state, `meanwhile ${rows++}`);
    bench.between = (client) =>
      changed(client, {
        range: async (request) => {
          const isOf = (kind: string) => request.key.startsWith(`${prefix}${kind}/`);
          // So that the log goes on from every snapshot.
          if (request.key === bench.keys.front.key && left > 0) await put();
          if (!isOf('log') || left === 0 || reads++ % 2 === 1) return client.range(request);
          left--;
          for (let number = 0; number < 4; number++) {
            await put();
            await delay(bench.world.timers, 50);
          }
          throw new EtcdError('unknown', 'etcd did not answer in time');
        },
      });
    return { servers, starting: servers.start(2) };
  }

  test.each([1, 3])(
    'a start over %i cuts of the log begins anew with the newest snapshot',
    async (cuts) => {
      const { servers, starting } = await startOverCuts(cuts, 3);
      const late = await starting;
      expect(dump(late.state.read())).toEqual(dump(servers.leader.state.read()));
      await servers.put(servers.leader, 'more');
      await servers.bench.advance(20);
      expect(hasRow(late, 'more')).toBe(true);
    },
  );

  test('a start that meets too many cuts of the log ends', async () => {
    const { starting } = await startOverCuts(4, 3);
    await expect(starting).rejects.toMatchObject({ code: 'log-cut' });
  });

  test('a server that was away until the log was cut goes on, even if two of its reads find the cut', async () => {
    const servers = await written(2);
    const { bench, leader } = servers;
    const follower = servers.living.find((server) => server !== leader)!;
    const replaced: number[] = [];
    follower.state.onReplaced((index) => replaced.push(index));
    const connection = connectionOf(servers, follower);
    connection.isCutOff = true;
    for (let number = 0; number < 8; number++) {
      await servers.put(leader, `missed ${number}`);
      await bench.advance(50);
    }
    expect(pointerOf(bench)!.before!.index).toBeGreaterThan(follower.state.read().index);
    // A read takes longer than the pause between two beats, each of which begins another one.
    bench.etcd.faults.delayMs = () => 40;
    connection.isCutOff = false;
    connection.breakWatches();
    await bench.advance(bench.settleMs);
    expect(follower.state.closed).toBeUndefined();
    expect(dump(follower.state.read())).toEqual(dump(leader.state.read()));
    // So a reader of events is told of a gap.
    expect(replaced).toEqual([pointerOf(bench)!.current.index]);
  });

  test('the leader compacts old revisions', async () => {
    const servers = await etcdServers(2, { etcd: { historyMs: 1000, statusMs: 200 } });
    const { bench } = servers;
    for (let number = 0; number < 20; number++) await servers.put(servers.leader, `${number}`);
    const { revision } = bench.etcd.store;
    await bench.advance(4000);
    expect(bench.etcd.store.compacted).toBeGreaterThanOrEqual(revision);
    expect(bench.etcd.store.history.length).toBeLessThan(20);
  });
});

describe('a database that fills up', () => {
  const filled = async (share: number, more: object = {}) => {
    const servers = await etcdServers(1, { etcd: { quotaBytes: 100_000, statusMs: 200, ...more } });
    servers.bench.etcd.store.fileBytes = share * 100_000;
    await servers.bench.advance(500);
    const engine = servers.leader.engine as EtcdEngine;
    return { servers, engine, told: servers.bench.reports.map(String).join('\n') };
  };

  test.each([
    [0.5, false, /^$/],
    [0.7, false, /defragment it/],
    [0.9, true, /new jobs are refused/],
  ])('at %s of the quota new work is refused: %s', async (share, isFull, sentence) => {
    const { engine, told } = await filled(share);
    expect(engine.isFull).toBe(isFull);
    expect(told).toMatch(sentence);
  });

  test.each([
    [50_000, 70_000, false, /the database of etcd at m2 has 70000 of 100000 bytes: defragment it/],
    [50_000, 90_000, true, /the database of etcd at m2 has 90000 of 100000 bytes: new jobs are/],
    [90_000, 50_000, true, /the database of etcd at m1 has 90000 of 100000 bytes: new jobs are/],
  ])('of members with %i and %i of 100,000 bytes the fullest counts: %s', async (...given) => {
    const [first, second, isFull, sentence] = given;
    const member = (endpoint: string, dbBytes: number) => {
      return { endpoint, version: '3.6.1', dbBytes, dbBytesInUse: dbBytes };
    };
    const { bench, leader } = await etcdServers(1, {
      etcd: { quotaBytes: 100_000, statusMs: 200 },
      between: (client) =>
        changed(client, { status: async () => [member('m1', first), member('m2', second)] }),
    });
    await bench.advance(500);
    const { isFull: found, health } = leader.engine as EtcdEngine;
    expect([found, health.store?.bytes]).toEqual([isFull, Math.max(first, second)]);
    expect(bench.reports.map(String).join('\n')).toMatch(sentence);
  });

  test('etcd that takes no writes refuses them as not done, and the server comes back by itself', async () => {
    const { servers } = await filled(0.5);
    const { bench, leader } = servers;
    const { store } = bench.etcd;
    store.quotaBytes = 1;
    expect(await servers.bench.during(outcomeOf(putRow(leader.state, 'a')))).toBe('not-leading');
    await bench.advance(bench.settleMs);
    expect(leader.state.leading).toBeUndefined();
    expect(leader.state.closed).toBeUndefined();
    expect(bench.reports.map(String).join()).toContain('space exceeded');
    store.quotaBytes = 1_000_000;
    store.disarm();
    await bench.advance(bench.settleMs);
    expect((await servers.put(leader, 'b')).index).toBe(1);
    expect(hasRow(leader, 'a')).toBe(false);
  });

  test('where etcd tells nothing of its size, the health is unknown and all else works', async () => {
    const servers = await etcdServers(1, { etcd: { statusMs: 200 } });
    const { bench, leader } = servers;
    bench.etcd.isMaintenanceDenied = true;
    bench.etcd.isCompactionDenied = true;
    await bench.advance(1000);
    const { health, isFull } = leader.engine as EtcdEngine;
    expect([isFull, health.store]).toEqual([false, undefined]);
    expect((await servers.put(leader, 'a')).index).toBe(1);
    expect(bench.reports.map(String).join()).toContain('its health is unknown');
  });

  test.each([
    ['3.4.23', true],
    ['3.5.12', true],
    ['3.5.13', false],
    ['3.6.16', false],
  ])('etcd %s is warned of: %s', async (version, isWarned) => {
    const servers = await etcdServers(1, { etcd: { statusMs: 200 } });
    servers.bench.etcd.version = version;
    await servers.bench.advance(1000);
    const told = servers.bench.reports.filter((report) => /is older than/.test(String(report)));
    expect(told.length).toBe(isWarned ? 1 : 0);
  });
});
