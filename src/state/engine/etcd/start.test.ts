/** Starts without the log: M1 to M3 of memory.ts, and readAtStart. */
import { describe, expect, test } from 'vitest';
import { minuteMs, secondMs } from '../../../base/units.ts';
import { Diverged } from '../../errors.ts';
import { dump } from '../../items.test-helper.ts';
import { type BenchServer, BenchServers, hasRow, putRow } from '../shared-engine.test-helper.ts';
import { EtcdError } from './client.ts';
import { changed, EtcdBench, KeptCopy, KeptNote, outcomeOf } from './etcd.test-helper.ts';
import type { EtcdEngine } from './etcd.ts';
import { encodeHead } from './head.ts';
import type { ModelClient } from './model.ts';

const engineOf = (server: BenchServer): EtcdEngine => server.engine as EtcdEngine;

interface EndedOptions {
  /** Of the state. */
  readonly limits?: object;
  /** Done while the server runs. */
  readonly meanwhile?: (servers: BenchServers<EtcdBench>) => Promise<unknown>;
}

/** A server that follows has shown the row `a`, kept a copy, and ended. Another one leads on. */
async function ended({ limits = {}, meanwhile }: EndedOptions = {}) {
  const bench = new EtcdBench();
  const servers = await new BenchServers(bench, limits).open(1);
  const other = servers.leader;
  const [note, copy, waits] = [new KeptNote(), new KeptCopy(), [] as Error[]];
  Object.assign(bench, { seen: note, copy, waits });
  await servers.put(other, 'a');
  const server = await servers.start(1);
  await bench.until(() => copy.kept !== undefined);
  await meanwhile?.(servers);
  if (servers.all[1] === server) await bench.during(server.state.close());
  servers.all[1] = undefined;
  return { bench, servers, other, note, copy, waits, start: () => servers.start(1) };
}

const copyIn = (bench: EtcdBench) => (bench.copy as KeptCopy).kept?.record.index;

/** Etcd answers nobody, and no server that starts. */
function away(bench: EtcdBench): void {
  for (const client of bench.clients) client.isCutOff = true;
  bench.between = (client) => {
    client.isCutOff = true;
    return client;
  };
}

function back(bench: EtcdBench): void {
  for (const client of bench.clients) {
    client.isCutOff = false;
    client.breakWatches();
  }
  bench.between = (client) => client;
}

const told = ({ reports }: EtcdBench) => reports.map(String).join('\n');
const textOf = (unixMs: number) => new Date(unixMs).toISOString().slice(0, 19);

describe('a start while etcd is away', () => {
  test('goes on from the copy within a bounded time, tells that, and takes no write', async () => {
    const { bench, start } = await ended();
    away(bench);
    const { clock } = bench.world;
    const [sinceMs, asOf] = [clock.monotonicMs(), textOf(clock.nowMs())];
    const server = await start();
    await bench.during(engineOf(server).settled());
    expect(clock.monotonicMs() - sinceMs).toBeLessThan(6 * secondMs);
    expect(hasRow(server, 'a')).toBe(true);
    expect(server.state.closed).toBeUndefined();
    await expect(putRow(server.state, 'b')).rejects.toMatchObject({ code: 'not-leading' });
    await expect(bench.during(server.state.exact()!)).rejects.toThrow();
    expect(engineOf(server).health).toMatchObject({ isUnconfirmed: true, isDiverged: false });
    expect(told(bench)).toContain(`it shows its copy of the state, of index 1 as of ${asOf}`);
  });

  test('comes back by itself: takes in what follows the copy, and may lead', async () => {
    const { bench, servers, other, start } = await ended();
    await servers.put(other, 'b');
    away(bench);
    const server = await start();
    await bench.advance(minuteMs);
    expect(hasRow(server, 'b')).toBe(false);
    back(bench);
    await bench.until(() => hasRow(server, 'b'));
    expect(engineOf(server).health.isUnconfirmed).toBe(false);
    expect(dump(server.state.read())).toEqual(dump(other.state.read()));
    servers.crash(other);
    await bench.until(() => server.state.leading !== undefined);
    await servers.put(server, 'c');
  });

  test('takes in a snapshot if what follows the copy was cut', async () => {
    const { bench, servers, other, start } = await ended({
      limits: { logBytes: 1, logPerSnapshot: 0 },
    });
    for (let number = 0; number < 5; number++) {
      await servers.put(other, `row ${number}`);
      await bench.advance(secondMs);
    }
    expect(bench.etcd.store.range(bench.keys.entriesAfter(1)).keys[0]?.key).not.toMatch(/2$/);
    away(bench);
    const server = await start();
    expect(hasRow(server, 'row 4')).toBe(false);
    back(bench);
    await bench.until(() => hasRow(server, 'row 4'));
    expect(dump(server.state.read())).toEqual(dump(other.state.read()));
  });

  test('without a copy waits, tells the reason, and goes on when etcd answers', async () => {
    const { bench, copy, waits, servers } = await ended();
    copy.kept = undefined;
    away(bench);
    const starting = servers.start(1);
    await bench.advance(5 * minuteMs);
    expect(waits.length).toBeGreaterThan(10);
    expect(waits[0]?.message).toMatch(/the log cannot be read from the model/);
    back(bench);
    expect(hasRow(await starting, 'a')).toBe(true);
  });

  test('that waits is given up by its signal', async () => {
    const { bench, copy, servers } = await ended();
    copy.kept = undefined;
    const ending = new AbortController();
    Object.assign(bench, { signal: ending.signal });
    away(bench);
    const outcome = outcomeOf(servers.start(1));
    await bench.advance(minuteMs);
    ending.abort();
    expect(await bench.during(outcome)).toBe('log-unreachable');
  });

  test('by a user who may not read it goes on from the copy, and ends without a copy', async () => {
    const { bench, copy, start } = await ended();
    const denied = () => Promise.reject(new EtcdError('denied', 'permission denied'));
    bench.between = (client) => changed(client, { range: denied });
    const sinceMs = bench.world.clock.monotonicMs();
    expect(hasRow(await start(), 'a')).toBe(true);
    expect(bench.world.clock.monotonicMs() - sinceMs).toBeLessThan(secondMs);
    copy.kept = undefined;
    await expect(start()).rejects.toMatchObject({ code: 'log-unreachable' });
  });

  type Remembered = Pick<Awaited<ReturnType<typeof ended>>, 'bench' | 'copy' | 'note'>;
  const alter = ({ copy }: Remembered, change: object) => {
    copy.kept = { parts: copy.kept!.parts, record: { ...copy.kept!.record, ...change } };
  };

  test.each<[string, (remembered: Remembered) => void, RegExp]>([
    ['is of another cluster', (all) => alter(all, { cluster: 'x' }), /it is of the cluster x/],
    ['has another hash', (all) => alter(all, { hash: 'f' }), /its hash at index 1 is another/],
    [
      'does not tell its age',
      (all) => {
        alter(all, { currentMs: undefined });
        Object.assign(all.note.kept!, { currentMs: undefined });
      },
      /it does not tell how old it is/,
    ],
    [
      'is of a time to come',
      ({ bench }) => bench.world.jumpWallClock(-minuteMs),
      /the clock of this machine has gone back/,
    ],
    [
      'cannot be read',
      ({ copy }) => Object.assign(copy, { read: () => Promise.reject(new Error('damaged')) }),
      /its copy of the state is not used: damaged/,
    ],
    [
      'is of a log that nobody remembers',
      ({ note }) => Object.assign(note, { kept: undefined }),
      /it is of the cluster/,
    ],
  ])('does not use a copy that %s, and tells that once', async (_, happen, sentence) => {
    const { bench, waits, servers, ...remembered } = await ended();
    happen({ bench, ...remembered });
    away(bench);
    const starting = servers.start(1);
    await bench.advance(minuteMs);
    expect(waits.length).toBeGreaterThan(2);
    expect(bench.reports.map(String).filter((text) => sentence.test(text))).toHaveLength(1);
    back(bench);
    expect(hasRow(await starting, 'a')).toBe(true);
  });
});

describe('the age of a copy', () => {
  const ageAtStart = async ({ bench, start }: Awaited<ReturnType<typeof ended>>) => {
    away(bench);
    const startMs = bench.world.clock.monotonicMs();
    const server = await start();
    const waitedMs = bench.world.clock.monotonicMs() - startMs;
    return engineOf(server).health.contactMs! - waitedMs;
  };

  test('counts from the last contact if nothing has changed since the copy was made', async () => {
    const all = await ended({ meanwhile: ({ bench }) => bench.advance(20 * minuteMs) });
    await all.bench.advance(3 * minuteMs);
    const ageMs = await ageAtStart(all);
    expect(ageMs).toBeGreaterThanOrEqual(3 * minuteMs);
    expect(ageMs).toBeLessThan(3 * minuteMs + 5 * secondMs);
  });

  test('counts from its making if the state went on, however late the contact was', async () => {
    const all = await ended({
      meanwhile: async ({ bench, leader }) => {
        await bench.advance(minuteMs);
        Object.assign(bench.copy!, { keep: () => Promise.reject(new Error('the disk is full')) });
        await bench.during(putRow(leader.state, 'b'));
        await bench.advance(20 * minuteMs);
      },
    });
    expect(all.note.kept?.index).toBe(2);
    expect(await ageAtStart(all)).toBeGreaterThanOrEqual(20 * minuteMs);
  });

  test('of a server that was cut off counts from when it was cut off', async () => {
    const all = await ended({
      meanwhile: async ({ bench }) => {
        away(bench);
        await bench.advance(4 * minuteMs);
      },
    });
    expect(await ageAtStart(all)).toBeGreaterThanOrEqual(4 * minuteMs);
  });
});

describe('a start on a log that has diverged', () => {
  /** The server knew an index more than its copy has; then etcd came back without that. */
  const older = async () => {
    const kept: { store?: ReturnType<EtcdBench['etcd']['store']['copy']> } = {};
    const all = await ended({
      meanwhile: async ({ bench, leader }) => {
        kept.store = bench.etcd.store.copy();
        Object.assign(bench.copy!, { keep: () => Promise.reject(new Error('the disk is full')) });
        await bench.during(putRow(leader.state, 'b'));
        await bench.advance(minuteMs);
      },
    });
    all.servers.crash(all.other);
    expect([all.note.kept?.index, all.copy.kept?.record.index]).toEqual([2, 1]);
    return { ...all, restore: () => all.bench.etcd.restore(kept.store!) };
  };

  test('shows the copy, names both heads, and neither leads nor follows', async () => {
    const { bench, note, copy, restore, start } = await older();
    restore();
    const before = [note.kept, copy.kept];
    for (const _ of [0, 1]) {
      const server = await start();
      await bench.until(() => server.state.closed !== undefined);
      await bench.advance(bench.settleMs);
      expect(hasRow(server, 'a')).toBe(true);
      expect(server.state.closed?.cause).toBeInstanceOf(Diverged);
      expect(server.state.closed?.message).toMatch(
        /applied index 2 .* has index 1 .*roster operator recover/,
      );
      expect(engineOf(server).health).toMatchObject({ isDiverged: true });
      expect(server.terms).toEqual([]);
      expect(told(bench)).toContain('it shows its copy of the state, of index 1');
      await bench.during(server.state.close());
    }
    expect([note.kept, copy.kept]).toEqual(before);
  });

  test('is known by the newest copy, also of a server that was killed before it kept another note', async () => {
    const kept: { store?: ReturnType<EtcdBench['etcd']['store']['copy']> } = {};
    const { bench, servers, other, copy, start } = await ended({
      limits: { copyAgeMs: secondMs },
      meanwhile: async (all) => {
        kept.store = all.bench.etcd.store.copy();
        await all.put(all.leader, 'b');
        await all.bench.until(() => copyIn(all.bench) === 2);
        all.crash(all.all[1]!);
      },
    });
    servers.crash(other);
    bench.etcd.restore(kept.store!);
    const server = await start();
    await bench.until(() => server.state.closed !== undefined);
    expect(server.state.closed?.message).toMatch(/applied index 2 .* has index 1/);
    expect([hasRow(server, 'b'), copy.kept?.record.index]).toEqual([true, 2]);
  });

  test('takes nothing from it, though it goes on from the copy and etcd was away at first', async () => {
    const { bench, restore, servers, start } = await older();
    away(bench);
    const server = await start();
    restore();
    Object.assign(bench, { seen: undefined, copy: undefined });
    // Another server goes on from the older log, while this one hears of it by watches alone.
    back(bench);
    bench.clients[2]!.isCutOff = true;
    const other = await servers.start(0);
    await bench.until(() => other.state.leading !== undefined);
    bench.clients[2]!.isCutOff = false;
    await servers.put(other, 'x');
    await bench.advance(bench.settleMs);
    expect(server.state.closed?.cause).toBeInstanceOf(Diverged);
    expect([hasRow(server, 'a'), hasRow(server, 'x')]).toEqual([true, false]);
  });

  test('keeps the note of an index above its copy until it has caught up', async () => {
    const { bench, note, start } = await older();
    away(bench);
    const { between } = bench;
    bench.between = (client) =>
      changed(between(client) as ModelClient, {
        range: (request) =>
          request.key === bench.keys.entry(2)
            ? Promise.reject(new EtcdError('unknown', 'no answer'))
            : client.range(request),
      });
    const server = await start();
    back(bench);
    await bench.until(() => !engineOf(server).health.isUnconfirmed);
    await bench.advance(minuteMs);
    await bench.during(server.state.close());
    expect(hasRow(server, 'b')).toBe(false);
    expect(note.kept?.index).toBe(2);
  });

  test('without a copy waits, names both heads, and goes on if the right one comes back', async () => {
    const { bench, copy, waits, restore, servers } = await older();
    const right = bench.etcd.store.copy();
    copy.kept = undefined;
    restore();
    const starting = servers.start(1);
    await bench.advance(minuteMs);
    expect(waits.map(String).join()).toMatch(/applied index 2 .* has index 1/);
    bench.etcd.restore(right);
    expect(hasRow(await starting, 'b')).toBe(true);
  });

  test('ends if the state was moved away, whatever copy there is', async () => {
    const { bench, start } = await ended();
    const mark = { kind: 'moved', to: 'elsewhere', digest: '' };
    const value = encodeHead({ ...bench.head, mark } as never);
    const put = { kind: 'put' as const, key: bench.keys.head, value };
    bench.etcd.store.transact({ compare: [], success: [put] });
    await expect(start()).rejects.toMatchObject({ code: 'store-moved' });
  });
});
