/** The way out after the log in etcd has diverged: V1 and V2 of recovery.ts. */
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type { EtcdClient } from '../../state/engine/etcd/client.ts';
import {
  changed,
  EtcdBench,
  heedless,
  KeptCopy,
  prefix,
} from '../../state/engine/etcd/etcd.test-helper.ts';
import { EtcdEngine } from '../../state/engine/etcd/etcd.ts';
import type { EtcdEngineOptions } from '../../state/engine/etcd/options.ts';
import type { Position } from '../../state/engine/etcd/position.ts';
import { EtcdRecovery } from '../../state/engine/etcd/recovery.ts';
import { openState } from '../../state/state.ts';
import { allTables, clusterIdentity, namespaces } from '../../state/tables.ts';
import type { State } from '../../state/types.ts';
import { recoverLog } from './recover.ts';

/** The files of a server. */
class Disk {
  readonly copy = new KeptCopy();
  position: Position | undefined;

  readonly seen = {
    read: async () => this.position,
    keep: async (position: Position) => {
      this.position = position;
    },
  };
}

class Servers {
  readonly bench = new EtcdBench();
  readonly disks = [new Disk(), new Disk(), new Disk()];
  states: State[] = [];
  /** How far the clocks of the machines are ahead. */
  aheadMs = 0;

  during = <T>(promise: Promise<T>): Promise<T> => this.bench.during(promise);

  async start(disk: Disk): Promise<State> {
    const engine = new EtcdEngine(this.optionsOf(disk));
    const { timers } = this.bench.world;
    const { clock } = this;
    const state = await this.during(openState({ tables: allTables, engine, timers, clock }));
    await this.during(engine.settled());
    this.states.push(state);
    return state;
  }

  async stop(): Promise<void> {
    for (const state of this.states.splice(0)) await this.during(state.close());
  }

  recover(disk: Disk, from: 'etcd' | 'disk', between?: (client: EtcdClient) => EtcdClient) {
    const recovery = new EtcdRecovery(this.optionsOf(disk, between));
    const world = { ...this.bench.world, clock: this.clock };
    return this.during(recoverLog({ recovery, from, world, version: '1' }));
  }

  get clock(): Clock {
    const { aheadMs } = this;
    const { clock } = this.bench.world;
    return { nowMs: () => clock.nowMs() + aheadMs, monotonicMs: () => clock.monotonicMs() };
  }

  optionsOf(disk: Disk, between = (client: EtcdClient) => client): EtcdEngineOptions {
    const { world, limits: bounds } = this.bench;
    const client = between(changed(this.bench.etcd.connect(), {}));
    const { seen, copy } = disk;
    return {
      ...world,
      client,
      prefix,
      limits: bounds,
      where: 'etcd',
      report: () => {},
      seen,
      copy,
    };
  }
}

const put = (servers: Servers, state: State, Name: string) =>
  servers.during(
    state.write((transaction) => {
      transaction.table(clusterIdentity).put({ ID: 'this-one' });
      return transaction.table(namespaces).put({ Name, Partition: 'default' } as never);
    }),
  );

const namesIn = (state: State) =>
  [...state.read().table(namespaces).scan()].map(({ Name }) => Name);

/** Three servers run when etcd comes back as it was before the last write. */
async function diverged(id?: string, aheadMs = 0) {
  const servers = new Servers();
  servers.aheadMs = aheadMs;
  for (const disk of servers.disks) await servers.start(disk);
  const leader = servers.states.find(({ leading }) => leading !== undefined)!;
  await put(servers, leader, 'before');
  const older = servers.bench.etcd.store.copy();
  await put(servers, leader, 'after');
  await servers.bench.advance(100);
  servers.bench.etcd.restore(older, id);
  await servers.bench.advance(2 * servers.bench.settleMs);
  return servers;
}

const both = ['before', 'after'];

test.each([undefined, '2002'])(
  'three servers under which etcd came back older (%s)',
  async (id) => {
    const servers = await diverged(id);
    for (const [number, state] of servers.states.entries()) {
      expect(state.leading).toBeUndefined();
      expect(state.closed?.message).toMatch(/this server has applied index 2 .*, the log /);
      expect(namesIn(state).sort()).toEqual(both.toSorted());
      expect(servers.disks[number]!.copy.kept?.record.index).toBe(2);
    }
    await servers.stop();
    for (const disk of servers.disks) {
      await expect(servers.start(disk)).rejects.toMatchObject({ code: 'diverged' });
    }
  },
);

describe('a recovery', () => {
  test.each([
    ['disk', both],
    ['etcd', ['before']],
  ] as const)('from %s goes on from what that has, above every index', async (from, names) => {
    const servers = await diverged('2002');
    const { cluster } = servers.bench.head;
    await servers.stop();
    const [first, ...others] = servers.disks;
    const recovered = await servers.recover(first!, from);
    const { index } = servers.bench.head;
    expect(index).toBe(2 + limits.snapshot.indexLeap + 1);
    expect(recovered).toEqual({ from: names.length, index, wasRecovered: false });
    expect(servers.bench.head.cluster).not.toBe(cluster);
    const state = await servers.start(first!);
    expect(namesIn(state).sort()).toEqual([...names].sort());
    expect(state.read().table(namespaces).lastIndex()).toBeGreaterThan(2);
    const Restore = state.read().table(clusterIdentity).get('cluster')?.Restore;
    expect(Restore).toMatchObject({ Generation: 1, SnapshotIndex: names.length });
    await put(servers, state, 'more');
    await servers.stop();
    for (const disk of others) {
      await expect(servers.start(disk)).rejects.toMatchObject({ code: 'diverged' });
      await expect(servers.recover(disk, 'disk')).rejects.toThrow(/was recovered already/);
      expect((await servers.recover(disk, 'etcd')).wasRecovered).toBe(true);
    }
    for (const disk of servers.disks) await servers.start(disk);
    for (const one of servers.states) {
      await servers.during(one.exact()!);
      expect(namesIn(one).sort()).toEqual([...names, 'more'].sort());
    }
  });

  test('from disk brings the state back to an etcd that lost everything', async () => {
    const servers = await diverged();
    await servers.stop();
    const { store } = servers.bench.etcd;
    store.transact({ compare: [], success: [{ kind: 'delete', key: '/', end: '0' }] });
    await expect(servers.recover(servers.disks[0]!, 'etcd')).rejects.toThrow(/holds no state/);
    await servers.recover(servers.disks[0]!, 'disk');
    expect(namesIn(await servers.start(servers.disks[0]!)).sort()).toEqual(both.toSorted());
  });

  test.each(['etcd', 'disk'] as const)('from %s carries its time', async (from) => {
    const servers = await diverged();
    await servers.stop();
    const startMs = servers.clock.nowMs();
    await servers.recover(servers.disks[0]!, from);
    const { clock } = await servers.start(servers.disks[0]!);
    expect(clock!.batchMs).toBeGreaterThanOrEqual(startMs);
  });

  test('by a machine whose clock is behind does not let time go back', async () => {
    const servers = await diverged(undefined, 3_600_000);
    const writtenMs = servers.states[0]!.clock!.batchMs;
    await servers.stop();
    servers.aheadMs = 0;
    const { store } = servers.bench.etcd;
    store.transact({ compare: [], success: [{ kind: 'delete', key: '/', end: '0' }] });
    expect(servers.clock.nowMs()).toBeLessThan(writtenMs);
    await servers.recover(servers.disks[0]!, 'disk');
    const { clock } = await servers.start(servers.disks[0]!);
    expect(clock!.nowMs()).toBeGreaterThanOrEqual(writtenMs);
  });

  test.each(['etcd', 'disk'] as const)(
    'from %s that is interrupted is done again',
    async (from) => {
      let isWhole = false;
      for (let number = 1; !isWhole; number++) {
        for (const isApplied of [true, false]) {
          const servers = await diverged();
          await servers.stop();
          const [disk] = servers.disks;
          let count = 0;
          const between = (client: EtcdClient): EtcdClient => ({
            ...client,
            transact: async (request) => {
              if (++count < number) return client.transact(request);
              if (count === number && isApplied) await client.transact(request);
              throw new Error('interrupted');
            },
          });
          const outcome = await servers.recover(disk!, from, between).catch(() => undefined);
          isWhole = outcome !== undefined;
          const again = await servers.recover(disk!, from).catch((error) => error.message);
          const isDone = typeof again === 'string';
          if (isDone) expect(again).toMatch(/nothing to recover|was recovered already/);
          if (isDone && !isWhole) await servers.recover(disk!, 'etcd').catch(() => {});
          const state = await servers.start(disk!);
          expect(namesIn(state).sort()).toEqual(from === 'disk' ? both.toSorted() : ['before']);
          await servers.stop();
        }
      }
    },
  );
});

describe('no recovery', () => {
  test('of a log that goes on', async () => {
    const servers = new Servers();
    const state = await servers.start(servers.disks[0]!);
    await put(servers, state, 'a');
    await servers.stop();
    const recovered = servers.recover(servers.disks[0]!, 'etcd');
    await expect(recovered).rejects.toThrow(/nothing to recover/);
  });

  test('while a server leads', async () => {
    const servers = await diverged();
    await servers.stop();
    await servers.start(new Disk());
    const recovered = servers.recover(servers.disks[0]!, 'disk');
    await expect(recovered).rejects.toThrow(/is in use: the server .* leads/);
  });

  test('counter-proof: a recovery that heeds no server ends the state of the server that leads', async () => {
    const servers = await diverged();
    await servers.stop();
    const state = await servers.start(new Disk());
    await put(servers, state, 'since');
    await servers.recover(servers.disks[0]!, 'disk', heedless);
    await servers.bench.advance(servers.bench.settleMs);
    expect(state.leading).toBeUndefined();
    await servers.stop();
    expect(namesIn(await servers.start(servers.disks[0]!)).sort()).toEqual(both.toSorted());
  });

  test('counter-proof: a recovery that takes every log for diverged sets a log back to an older copy', async () => {
    const servers = new Servers();
    const [disk] = servers.disks;
    await put(servers, await servers.start(disk!), 'old');
    await servers.stop();
    const { kept } = disk!.copy;
    await put(servers, await servers.start(disk!), 'new');
    await servers.stop();
    disk!.copy.kept = kept;
    disk!.position = { ...disk!.position!, hash: 'another' };
    await servers.recover(disk!, 'disk');
    expect(namesIn(await servers.start(disk!))).toEqual(['old']);
  });

  test.each(['etcd', 'disk'] as const)('from %s at a wrong endpoint', async (from) => {
    const servers = new Servers();
    await put(servers, await servers.start(servers.disks[0]!), 'a');
    await servers.bench.advance(100);
    await servers.stop();
    const other = new Servers();
    const state = await other.start(new Disk());
    await other.during(state.write((tx) => tx.table(clusterIdentity).put({ ID: 'another' })));
    await other.stop();
    other.disks[0]!.position = servers.disks[0]!.position;
    other.disks[0]!.copy.kept = servers.disks[0]!.copy.kept;
    await expect(other.start(other.disks[0]!)).rejects.toMatchObject({ code: 'diverged' });
    const { head } = other.bench;
    const recovered = other.recover(other.disks[0]!, from);
    await expect(recovered).rejects.toThrow(/has the state of the cluster another/);
    expect(other.bench.head).toEqual(head);
  });

  test('by a server that has known no log', async () => {
    const servers = await diverged();
    await servers.stop();
    const recovered = servers.recover(new Disk(), 'disk');
    await expect(recovered).rejects.toThrow(/has known no log/);
  });
});
