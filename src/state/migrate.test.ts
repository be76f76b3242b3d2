/** The move of the state between the embedded store and etcd: M1 to M4 of migrate.ts, O1 to O3 of offline.ts. */
import { afterAll, describe, expect, test } from 'vitest';
import type { LoadStep } from './engine/engine.ts';
import type { EtcdClient, TxnRequest } from './engine/etcd/client.ts';
import { changed, EtcdBench, heedless, outcomeOf, prefix } from './engine/etcd/etcd.test-helper.ts';
import { EtcdEngine } from './engine/etcd/etcd.ts';
import { textBytes } from './engine/etcd/head.ts';
import { EtcdOffline } from './engine/etcd/offline.ts';
import type { EtcdEngineOptions } from './engine/etcd/options.ts';
import type { OfflineStore } from './engine/offline.ts';
import { SameThreadEngine, Scratch } from './engine/sqlite.test-helper.ts';
import { SqliteOffline } from './engine/sqlite-offline.ts';
import { type MigrationStep, migrate, viewOf } from './migrate.ts';
import { openState } from './state.ts';
import { allTables, clusterIdentity, namespaces } from './tables.ts';
import type { State } from './types.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

/** A data directory and an etcd. */
class Stores {
  readonly bench = new EtcdBench({ valueBytes: 2000 });
  readonly directory = scratch.next();

  during = <T>(promise: Promise<T>): Promise<T> => this.bench.during(promise);

  get embedded(): SqliteOffline {
    return new SqliteOffline(this.directory);
  }

  etcd(between: (client: EtcdClient) => EtcdClient = (client) => client): EtcdOffline {
    const client = this.bench.etcd.connect();
    return new EtcdOffline(this.#etcdOptions(between(changed(client, {}))));
  }

  /** Moves the state, and closes both stores whatever happens. */
  async move(source: OfflineStore, target: OfflineStore, progress: Progress = () => {}) {
    const { timers } = this.bench.world;
    try {
      return await this.during(migrate({ source, target, timers, progress }));
    } finally {
      await source.close();
      await this.during(target.close());
    }
  }

  /** The state as an agent opens it. */
  async openEmbedded(): Promise<State> {
    const engine = new SameThreadEngine({ directory: this.directory });
    const { timers } = this.bench.world;
    return this.during(openState({ tables: allTables, engine, timers }));
  }

  async openEtcd(): Promise<State> {
    const engine = new EtcdEngine(this.#etcdOptions(this.bench.etcd.connect()));
    const { timers } = this.bench.world;
    const state = await this.during(openState({ tables: allTables, engine, timers }));
    await this.during(engine.settled());
    return state;
  }

  #etcdOptions(client: EtcdClient): EtcdEngineOptions {
    const { world, limits } = this.bench;
    return { ...world, client, prefix, limits, where: 'etcd', report: () => {} };
  }
}

type Progress = (step: MigrationStep, bytes: number) => void;

async function fill(stores: Stores, state: State, names: readonly string[]): Promise<void> {
  const write = (run: Parameters<State['write']>[0]) => stores.during(state.write(run));
  await write((transaction) => transaction.table(clusterIdentity).put({ ID: 'this-one' }));
  for (const Name of names) {
    await write((transaction) => transaction.table(namespaces).put(namespaceOf(Name)));
  }
  await write((transaction) => transaction.table(namespaces).delete('default', names[0]!));
}

const putNamespace = (state: State, name: string) =>
  state.write((tx) => tx.table(namespaces).put(namespaceOf(name)));

const namespaceOf = (Name: string) =>
  ({ Name, Partition: 'default', Description: 'x'.repeat(100), Meta: {} }) as never;

const names = Array.from({ length: 30 }, (_, number) => `name-${number}`);

const shown = (state: State) => {
  const snapshot = state.read();
  const table = snapshot.table(namespaces);
  return { index: snapshot.index, rows: [...table.scan()], last: table.lastIndex() };
};

async function filledDirectory(): Promise<{ stores: Stores; before: ReturnType<typeof shown> }> {
  const stores = new Stores();
  const state = await stores.openEmbedded();
  await fill(stores, state, names);
  const before = shown(state);
  await stores.during(state.close());
  return { stores, before };
}

/** What an agent finds: `done` is a state, `empty` none. */
async function codeOf(opened: Promise<State>): Promise<string> {
  let isEmpty = false;
  const outcome = await outcomeOf(
    opened.then((state) => {
      isEmpty = state.read().index === 0;
      void state.close();
    }),
  );
  return isEmpty ? 'empty' : outcome;
}

describe('a move to etcd and back', () => {
  test('leaves the same rows, numbers and indexes, and seals the store that they came from', async () => {
    const { stores, before } = await filledDirectory();
    const there = await stores.move(stores.embedded, stores.etcd());
    expect(await codeOf(stores.openEmbedded())).toBe('store-moved');
    const onEtcd = await stores.openEtcd();
    expect(shown(onEtcd)).toEqual(before);
    await stores.during(putNamespace(onEtcd, 'later'));
    const later = shown(onEtcd);
    await stores.during(onEtcd.close());
    const back = await stores.move(stores.etcd(), stores.embedded);
    expect(await codeOf(stores.openEtcd())).toBe('store-moved');
    const home = await stores.openEmbedded();
    expect(shown(home)).toEqual(later);
    await stores.during(home.close());
    expect([there.index, back.index]).toEqual([before.index, later.index]);
    expect(back.hash).not.toBe(there.hash);
  });

  test('a second time as well, and the log in etcd goes on from where it was sealed', async () => {
    const { stores, before } = await filledDirectory();
    await stores.move(stores.embedded, stores.etcd());
    const { cluster, hash } = stores.bench.head;
    await stores.move(stores.etcd(), stores.embedded);
    await stores.move(stores.embedded, stores.etcd());
    expect(stores.bench.head).toMatchObject({ cluster, hash, index: before.index });
    const state = await stores.openEtcd();
    expect(shown(state)).toEqual(before);
    await stores.during(state.close());
  });
});

describe('a move is refused', () => {
  test('to an etcd that holds another state', async () => {
    const { stores } = await filledDirectory();
    const other = await stores.openEtcd();
    await stores.during(putNamespace(other, 'other'));
    await stores.during(other.close());
    const moved = stores.move(stores.embedded, stores.etcd());
    await expect(moved).rejects.toThrow('etcd (/test/) is not empty');
    expect(await codeOf(stores.openEmbedded())).toBe('done');
  });

  test('to a data directory that holds a later state of the cluster', async () => {
    const { stores } = await filledDirectory();
    await stores.move(stores.embedded, stores.etcd());
    // As if the seal were that of a later index.
    const later = stores.embedded;
    await later.open();
    await later.seal({ to: 'etcd', cluster: 'this-one', index: 1000 });
    await later.close();
    const moved = stores.move(stores.etcd(), stores.embedded);
    await expect(moved).rejects.toThrow(/is not empty/);
    expect(await codeOf(stores.openEtcd())).toBe('done');
  });

  test.each(['leader', 'members'] as const)('while a server uses etcd: %s', async (key) => {
    const { stores } = await filledDirectory();
    const { keys, etcd } = stores.bench;
    const name = key === 'leader' ? keys.leader : keys.member('a');
    const put = { kind: 'put' as const, key: name, value: textBytes('{"id":"a"}') };
    etcd.store.transact({ compare: [], success: [put] });
    const moved = stores.move(stores.embedded, stores.etcd());
    await expect(moved).rejects.toThrow(/is in use: .*Stop all its servers first/);
    expect(await codeOf(stores.openEmbedded())).toBe('done');
  });

  test('counter-proof: a move that heeds no server takes the state from under it', async () => {
    const { stores } = await filledDirectory();
    const state = await stores.openEtcd();
    expect(state.leading).toBeDefined();
    await stores.move(stores.embedded, stores.etcd(heedless));
    await expect(stores.during(putNamespace(state, 'lost'))).rejects.toThrow();
  });

  test('while an agent runs on the data directory', async () => {
    const { stores } = await filledDirectory();
    const state = await stores.openEmbedded();
    const moved = stores.move(stores.embedded, stores.etcd());
    await expect(moved).rejects.toMatchObject({ code: 'data-directory-in-use' });
    await stores.during(state.close());
  });

  test('from an empty store, and nothing is made', async () => {
    const stores = new Stores();
    const moved = stores.move(stores.embedded, stores.etcd());
    await expect(moved).rejects.toThrow(/is empty/);
    expect(stores.bench.etcd.names).toEqual([]);
  });

  test('if the copy differs, and then the source stays as it is', async () => {
    const { stores } = await filledDirectory();
    const target = stores.etcd();
    const lossy: OfflineStore = Object.assign(Object.create(target), {
      async *load(): AsyncGenerator<LoadStep> {
        for await (const loaded of target.load()) {
          if (loaded.kind !== 'snapshot-part') yield loaded;
          else {
            const text = Buffer.from(loaded.bytes).toString().replace('name-7', 'name-x');
            yield { kind: 'snapshot-part', bytes: textBytes(text) };
          }
        }
      },
      name: target.name,
      open: () => target.open(),
      fill: (filling: never) => target.fill(filling),
      complete: () => target.complete(),
      close: () => target.close(),
    });
    await expect(stores.move(stores.embedded, lossy)).rejects.toThrow(/differs/);
    expect(await codeOf(stores.openEmbedded())).toBe('done');
    expect(await codeOf(stores.openEtcd())).toBe('store-unfinished');
  });

  test('if a server begins to use etcd meanwhile', async () => {
    const { stores } = await filledDirectory();
    await stores.move(stores.embedded, stores.etcd());
    const usurp = (step: MigrationStep) => {
      if (step === 'compare') stores.bench.usurp();
    };
    const moved = stores.move(stores.etcd(), stores.embedded, usurp);
    await expect(moved).rejects.toThrow(/a server has begun to use it/);
    expect(await codeOf(stores.openEtcd())).toBe('done');
    expect(await codeOf(stores.openEmbedded())).toBe('store-unfinished');
  });

  test('counter-proof: without its comparisons, the move seals a log that a server has begun to use', async () => {
    const { stores } = await filledDirectory();
    await stores.move(stores.embedded, stores.etcd());
    const usurp = (step: MigrationStep) => {
      if (step === 'compare') stores.bench.usurp();
    };
    await stores.move(stores.etcd(heedless), stores.embedded, usurp);
    expect(await codeOf(stores.openEtcd())).toBe('store-moved');
  });

  test('counter-proof: a move that takes every store for empty loses the state that is there', async () => {
    const { stores, before } = await filledDirectory();
    const other = await stores.openEtcd();
    await stores.during(putNamespace(other, 'other'));
    await stores.during(other.close());
    const target = stores.etcd();
    const open = target.open.bind(target);
    target.open = async () => ({ ...(await open()), isEmpty: true });
    await stores.move(stores.embedded, target);
    const state = await stores.openEtcd();
    expect(shown(state)).toEqual(before);
    await stores.during(state.close());
  });
});

describe('a move that is interrupted', () => {
  /** Ends the move with the given change of etcd, before or after it was applied. */
  const endingAt =
    (number: number, isApplied: boolean, done: () => void) =>
    (client: EtcdClient): EtcdClient => {
      let count = 0;
      const transact = async (request: TxnRequest) => {
        count++;
        if (count < number) return client.transact(request);
        if (count === number && isApplied) await client.transact(request);
        throw new Interrupted();
      };
      const close = async () => {
        if (count < number) done();
        await client.close();
      };
      return { ...client, transact, close };
    };

  class Interrupted extends Error {
    readonly kind = 'refused';
  }

  test.each([
    ['to etcd', true],
    ['to etcd', false],
    ['to sqlite', true],
    ['to sqlite', false],
  ] as const)(
    '%s at any of its changes (applied: %s) is done by doing it again',
    async (way, isApplied) => {
      let isWhole = false;
      for (let number = 1; !isWhole; number++) {
        const { stores, before } = await filledDirectory();
        if (way === 'to sqlite') await stores.move(stores.embedded, stores.etcd());
        const between = endingAt(number, isApplied, () => {
          isWhole = true;
        });
        const move = (etcd: EtcdOffline) =>
          way === 'to etcd'
            ? stores.move(stores.embedded, etcd)
            : stores.move(etcd, stores.embedded);
        await move(stores.etcd(between)).catch(() => {});
        const opened = [await codeOf(stores.openEmbedded()), await codeOf(stores.openEtcd())];
        expect(opened.filter((code) => code === 'done').length, opened.join()).toBeLessThan(2);
        await stores.bench.advance(stores.bench.settleMs);
        const [source, target] = way === 'to etcd' ? opened : opened.toReversed();
        // Either the source is as it was, or the move is done, or it goes on.
        if (target !== 'done') {
          expect(target).toMatch(/store-unfinished|empty|store-moved/);
          await move(stores.etcd());
        } else expect(source).toBe('store-moved');
        const view = await stores.during(
          viewOf(way === 'to etcd' ? stores.etcd() : stores.embedded, () => {}),
        );
        expect(view.index).toBeGreaterThanOrEqual(before.index);
      }
    },
  );
});
