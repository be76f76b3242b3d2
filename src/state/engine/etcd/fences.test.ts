/** R3 of DESIGN.md: a leader is stopped before a change of etcd, and the change arrives two terms later. */
import { describe, expect, test } from 'vitest';
import { item, items } from '../../items.test-helper.ts';
import type { State } from '../../types.ts';
import { hasRow, putRow } from '../shared-engine.test-helper.ts';
import type { TxnRequest } from './client.ts';
import {
  changed,
  type EtcdServers,
  etcdServers,
  isAppend,
  keysOf,
  outcomeOf,
  prefix,
} from './etcd.test-helper.ts';

const valueBytes = 200;

/** A row that does not fit one value. */
const putLarge = (state: State, name: string) =>
  state.write((transaction) =>
    transaction.table(items).put(item(name, { Color: 'x'.repeat(3 * valueBytes) })),
  );

const touches = (part: string) => (request: TxnRequest) =>
  keysOf(request).some((key) => key.startsWith(`${prefix}${part}`));
const deletes = (part: string) => (request: TxnRequest) =>
  touches(part)(request) && request.success.every(({ kind }) => kind === 'delete');
const puts = (part: string) => (request: TxnRequest) =>
  touches(part)(request) && request.success.every(({ kind }) => kind === 'put');

/** A change of etcd, and what a leader does that brings it about. */
const changes: readonly (readonly [string, (request: TxnRequest) => boolean])[] = [
  ['an append', isAppend],
  ['a part of a batch', puts('part/')],
  ['a chunk of a snapshot', puts('chunk/')],
  ['the pointer to a snapshot', puts('snapshot')],
  ['a cut of the log', deletes('log/')],
  ['a sweep of chunks', deletes('chunk/')],
  ['a sweep of parts', deletes('part/')],
  ['the mark of a compaction', puts('compaction')],
];

/** Two servers, whose first change of that kind in this test is held until two terms have passed. */
async function held(isHeld: (request: TxnRequest) => boolean, isFenced: boolean) {
  const gate = Promise.withResolvers<void>();
  const seen: { request?: TxnRequest; succeeded?: boolean } = {};
  let isArmed = false;
  const servers = await etcdServers(2, {
    etcd: { valueBytes, historyMs: 1000, statusMs: 500 },
    state: { logBytes: 1, logPerSnapshot: 0, snapshotPartBytes: 100 },
    between: (client) =>
      changed(client, {
        transact: async (request) => {
          if (!isArmed || seen.request !== undefined || !isHeld(request)) {
            return client.transact(request);
          }
          seen.request = request;
          await gate.promise;
          const answer = await client.transact(isFenced ? request : { ...request, compare: [] });
          seen.succeeded = answer.succeeded;
          return answer;
        },
      }),
  });
  const { bench } = servers;
  for (const name of ['a', 'b']) await settled(servers, putLarge(servers.leader.state, name));
  plantGarbage(servers);
  isArmed = true;
  const { leader } = servers;
  let number = 0;
  for (let round = 0; round < 10 && seen.request === undefined; round++) {
    void putLarge(leader.state, `held ${number++}`).catch(() => {});
    await bench.advance(300);
  }
  expect(seen.request).toBeDefined();
  for (let term = 0; term < 2; term++) {
    bench.usurp();
    bench.depose();
    await bench.advance(2 * bench.settleMs);
    await settled(servers, putRow(servers.leader.state, `term ${term}`));
  }
  const before = bench.etcd.store.revision;
  gate.resolve();
  await bench.advance(0);
  return { servers, succeeded: seen.succeeded, before };
}

const settled = (servers: EtcdServers, written: Promise<unknown>) =>
  servers.bench.during(outcomeOf(written));

/** Leaders of terms that are over left it behind. */
function plantGarbage({ bench }: EtcdServers): void {
  const { keys, etcd } = bench;
  const value = new Uint8Array(8);
  for (const key of [keys.chunk('garbage', 0), keys.part(1, 'garbage', 0)]) {
    etcd.store.transact({ compare: [], success: [{ kind: 'put', key, value }] });
  }
}

describe('a change of a leader that slept through two terms', () => {
  test.each(changes)('%s does nothing', async (_, isHeld) => {
    const { servers, succeeded } = await held(isHeld, true);
    expect(succeeded).toBe(false);
    const { bench } = servers;
    await bench.advance(2 * bench.settleMs);
    await settled(servers, putRow(servers.leader.state, 'last'));
    await bench.advance(20);
    for (const server of servers.living) {
      expect(server.state.closed).toBeUndefined();
      expect(['a', 'b', 'term 0', 'term 1', 'last'].filter((row) => !hasRow(server, row))).toEqual(
        [],
      );
    }
    await servers.start(2);
    expect(servers.all[2]!.state.read().index).toBe(servers.leader.state.read().index);
  });

  test.each(changes)('counter-proof: without its comparison %s is done', async (_, isHeld) => {
    const { succeeded } = await held(isHeld, false);
    expect(succeeded).toBe(true);
  });

  test('a late compaction forgets nothing that a reader of a newer revision needs', async () => {
    let late: number | undefined;
    const servers = await etcdServers(2, {
      etcd: { historyMs: 1000, statusMs: 500 },
      between: (client) =>
        changed(client, {
          compact: async (revision) => {
            late ??= revision;
          },
        }),
    });
    const { bench } = servers;
    await servers.put(servers.leader, 'a');
    await bench.advance(5000);
    expect(late).toBeDefined();
    const { revision } = bench.etcd.store;
    expect(late).toBeLessThan(revision);
    bench.etcd.store.compact(late!);
    expect(() => bench.etcd.store.range({ key: bench.keys.head, revision })).not.toThrow();
  });
});

describe('parts', () => {
  test('a batch above the limit of a value is there for all, and gone when the log is cut', async () => {
    const servers = await etcdServers(2, { etcd: { valueBytes } });
    const { bench } = servers;
    await settled(servers, putLarge(servers.leader.state, 'large'));
    await bench.advance(20);
    expect(bench.etcd.names.filter((name) => name.startsWith(`${prefix}part/`)).length).toBe(4);
    for (const server of servers.living) expect(hasRow(server, 'large')).toBe(true);
    await servers.start(2);
    expect(hasRow(servers.all[2]!, 'large')).toBe(true);
  });

  test('are nothing as long as no head names them, and are swept by a later leader', async () => {
    const servers = await etcdServers(2, { etcd: { valueBytes } });
    const { bench, leader } = servers;
    bench.etcd.faults.fate = (request) => (isAppend(request) ? 'lost' : 'arrives');
    const outcome = await settled(servers, putLarge(leader.state, 'large'));
    expect(outcome).toBe('not-leading');
    bench.etcd.faults.fate = undefined;
    await bench.advance(bench.settleMs);
    await servers.put(servers.leader, 'small');
    bench.depose();
    await bench.advance(2 * bench.settleMs);
    expect(bench.etcd.names.filter((name) => name.startsWith(`${prefix}part/`))).toEqual([]);
    for (const server of servers.living) {
      expect([hasRow(server, 'large'), hasRow(server, 'small')]).toEqual([false, true]);
    }
  });

  test('a batch of more parts than may be is refused as not done', async () => {
    const servers = await etcdServers(1, { etcd: { valueBytes, partsMax: 2 } });
    expect(await settled(servers, putLarge(servers.leader.state, 'large'))).toBe('not-leading');
    await servers.bench.advance(servers.bench.settleMs);
    expect((await servers.put(servers.leader, 'small')).index).toBe(1);
  });
});
