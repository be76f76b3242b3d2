import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { realWorld } from '../base/ports-real.ts';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { drained } from '../base/steps.ts';
import { SnapshotWriter } from '../model/snapshot/snapshot-file.ts';
import { type CrashFate, MemoryDisk } from './engine/memory.ts';
import { SharedLog, SharedMemoryEngine } from './engine/shared-memory.ts';
import { SqliteEngine } from './engine/sqlite.ts';
import {
  DataDirectoryFull,
  NotLeading,
  StateCorrupted,
  StateFormatUnknown,
  WritesClosed,
} from './errors.ts';
import {
  dump,
  item,
  items,
  orders,
  others,
  ranges,
  runScript,
  script,
  tables,
} from './items.test-helper.ts';
import { memoryState } from './state.test-helper.ts';
import { openState } from './state.ts';
import type { Restoring, Snapshot, State } from './types.ts';

const open = (disk = new MemoryDisk(), limits = {}): Promise<State> =>
  memoryState(tables, new SimulatedWorld(1), disk, { limits });

const put = (state: State, name: string, weight = 0) =>
  state.write((transaction) => transaction.table(items).put(item(name, { Weight: weight })));

/** The file of the newest view. */
function fileOf(state: State): Uint8Array[] {
  const saved = state.saved();
  const writer = new SnapshotWriter();
  const header = { Format: 1, Version: '', ClusterID: '', CreateTime: 0, Tables: [] };
  const pieces = [writer.begin({ ...header, Index: saved.index })];
  for (const text of saved.texts(100)) if (text !== undefined) pieces.push(writer.rows(text));
  return [...pieces, writer.end()];
}

/** A restore of the newest view of `from`, which leaves a row beside it. */
function restoring(state: State, from: State, more: Partial<Restoring<unknown>> = {}) {
  const draft = state.draft();
  for (const text of from.saved().texts(100)) {
    if (text !== undefined) draft.add(Uint8Array.from(text));
  }
  drained(draft.settle());
  const run: Restoring<unknown>['run'] = (transaction) =>
    transaction.table(others).put(item('restored'));
  return { draft, file: fileOf(from), above: from.read().index, run, ...more };
}

/** The index of each range and of each key, in every order. */
function indexesOf(state: State): number[] {
  const { snapshot } = state.track();
  const table = snapshot.table(items);
  const readers = orders.map((order) => (order === '' ? table : table.by(order)));
  const keys = ['', 's', 't'].flatMap((space) =>
    ['', 'a', 'ab', 'b', 'x'].map((name) => [space, name]),
  );
  return [
    ...readers.flatMap((reader) => ranges.map((range) => reader.lastIndex(range))),
    ...keys.map((key) => {
      const tracked = state.track();
      tracked.snapshot.table(items).get(...key);
      return tracked.footprint.index;
    }),
  ];
}

const rowsOf = (snapshot: Snapshot) => [...snapshot.table(items).scan()];
const bytesOf = (disk: MemoryDisk) => disk.log.length;

describe('on a single engine', () => {
  test('all rows are those of the snapshot, with their numbers', async () => {
    const state = await open();
    await put(state, 'a');
    await put(state, 'b');
    const was = rowsOf(state.read());
    const restore = restoring(state, state);
    await put(state, 'a', 1);
    await put(state, 'c');
    const { index } = await state.restore(restore);
    expect([index, state.read().index]).toEqual([5, 5]);
    expect(rowsOf(state.read())).toEqual(was);
    const [left] = state.read().table(others).scan();
    expect(left).toMatchObject({ Name: 'restored', CreateIndex: 5, ModifyIndex: 5 });
    expect(await put(state, 'a', 2)).toMatchObject({ index: 6, value: { CreateIndex: 1 } });
  });

  test('the index of no range and of no key goes back, and every change after it moves on', async () => {
    const scripts = fc.array(script, { maxLength: 8 });
    const property = fc.asyncProperty(scripts, scripts, scripts, async (first, second, third) => {
      const disk = new MemoryDisk();
      const limits = { marksPerIndex: 2 };
      const state = await open(disk, limits);
      const runAll = async (all: typeof first) => {
        for (const one of all) {
          await state.write((transaction) => runScript(transaction, one)).catch(() => {});
        }
      };
      await runAll(first);
      const restore = restoring(state, state);
      const rows = rowsOf(state.read());
      await runAll(second);
      const before = indexesOf(state);
      const { index } = await state.restore(restore);
      expect(rowsOf(state.read())).toEqual(rows);
      expect(indexesOf(state)).toEqual(before.map(() => index));
      await runAll(third);
      const after = indexesOf(state);
      expect(Math.min(...after)).toBeGreaterThanOrEqual(index);
      const was = dump(state.read());
      const again = await open(disk, limits);
      expect(dump(again.read())).toEqual(was);
      expect(indexesOf(again)).toEqual(after);
    });
    await fc.assert(property, { numRuns: 40 });
  });

  test('a crash leaves the state before or after it, and nothing in between', async () => {
    const fates: CrashFate[] = ['lost', 'kept', 'torn'];
    for (const fate of fates) {
      const world = new SimulatedWorld(1);
      const disk = new MemoryDisk();
      const state = await memoryState(tables, world, disk);
      await put(state, 'a');
      const restore = restoring(state, state);
      await put(state, 'b');
      disk.faults.appendDelayMs = 10;
      state.restore(restore).catch(() => {});
      await world.advance(5);
      disk.crash(fate);
      disk.faults.appendDelayMs = undefined;
      const again = await open(disk);
      const names = rowsOf(again.read()).map(({ Name }) => Name);
      expect([fate, ...names]).toEqual(fate === 'kept' ? [fate, 'a'] : [fate, 'a', 'b']);
    }
  });

  test('a snapshot of the store takes its place in the log, with the same indexes', async () => {
    const disk = new MemoryDisk();
    const world = new SimulatedWorld(1);
    const state = await memoryState(tables, world, disk);
    await put(state, 'a');
    await state.restore(restoring(state, state));
    await world.advance(1);
    expect([disk.snapshot.index, bytesOf(disk)]).toEqual([2, 0]);
    const again = await open(disk);
    expect(dump(again.read())).toEqual(dump(state.read()));
    expect(indexesOf(again)).toEqual(indexesOf(state));
  });

  test('it gets an index above those of another log', async () => {
    const [from, state] = [await open(), await open()];
    for (const name of ['a', 'b', 'c']) await put(from, name);
    await put(state, 'x');
    const { index } = await state.restore(restoring(state, from, { above: 1000 }));
    expect(index).toBe(1001);
    expect(rowsOf(state.read())).toEqual(rowsOf(from.read()));
    expect((await put(state, 'd')).index).toBe(1002);
  });

  test('the view moves, then listeners hear, then every watch wakes; the next term comes last', async () => {
    const state = await open();
    await put(state, 'a');
    const restore = restoring(state, state);
    const told: unknown[] = [];
    const { snapshot, footprint } = state.track();
    snapshot.table(items).get('s', 'untouched');
    state.watch(footprint, () => told.push('woken'));
    state.onReplaced((index) => told.push(['restored', index, state.read().index]));
    state.onLeadership((term) => told.push(term === undefined ? 'term over' : 'term begins'));
    state.onCommit(() => told.push('commit'));
    await state.restore(restore);
    expect(told).toEqual(['term over', ['restored', 2, 2], 'woken', 'term begins']);
  });

  test('a write of the term before it does not run, and a term before it takes no write', async () => {
    const state = await open();
    await put(state, 'a');
    const [first, second] = [restoring(state, state), restoring(state, state)];
    const restored = state.restore(first);
    const refused = await Promise.allSettled([put(state, 'b'), state.restore(second)]);
    expect(refused.map((one) => one.status === 'rejected' && one.reason.name)).toEqual([
      'NotLeading',
      'NotLeading',
    ]);
    await restored;
    expect(rowsOf(state.read()).map(({ Name }) => Name)).toEqual(['a']);
  });

  test('if its transaction throws nothing is restored, and the process leads on', async () => {
    const state = await open();
    await put(state, 'a');
    const was = dump(state.read());
    const run = () => {
      throw new Error('no');
    };
    await expect(state.restore(restoring(state, state, { run }))).rejects.toThrow('no');
    expect(dump(state.read())).toEqual(was);
    expect((await put(state, 'b')).index).toBe(2);
  });

  test('if it cannot be stored the state stays, and nothing more is written', async () => {
    const disk = new MemoryDisk();
    const state = await open(disk);
    await put(state, 'a');
    const was = dump(state.read());
    disk.faults.failAppend = () => new DataDirectoryFull('x');
    await expect(state.restore(restoring(state, state))).rejects.toBeInstanceOf(WritesClosed);
    expect(dump(state.read())).toEqual(was);
    await expect(put(state, 'b')).rejects.toBeInstanceOf(WritesClosed);
  });

  test('a write under way before it is durable, and lost with it', async () => {
    const world = new SimulatedWorld(1);
    const disk = new MemoryDisk();
    const state = await memoryState(tables, world, disk);
    await put(state, 'a');
    const restore = restoring(state, state);
    disk.faults.appendDelayMs = 10;
    const flying = put(state, 'b');
    await world.advance(1);
    const restored = state.restore(restore);
    await world.advance(100);
    expect([(await flying).index, (await restored).index]).toEqual([2, 3]);
    expect(rowsOf(state.read()).map(({ Name }) => Name)).toEqual(['a']);
  });

  test('rows of a later version, or of an unknown table, are refused by name', async () => {
    const draft = (await open()).draft();
    const rows = (Table: string, Version: number) =>
      new TextEncoder().encode(JSON.stringify({ Table, Version, Rows: [] }));
    expect(() => draft.add(rows('items', 2))).toThrow(StateFormatUnknown);
    expect(() => draft.add(rows('unheard-of', 1))).toThrow('a table unheard-of');
  });
});

test('the embedded store shows it after a restart, from its log and from its own snapshot', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'roster-restore-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const { timers } = realWorld;
  const openStore = (limits: object) =>
    openState({ tables, engine: new SqliteEngine({ directory }), timers, limits });
  const state = await openStore({ snapshotPartBytes: 100 });
  await put(state, 'a');
  const restore = restoring(state, state, { above: 1000 });
  await put(state, 'b');
  const { index } = await state.restore(restore);
  await put(state, 'c');
  const [was, indexes] = [dump(state.read()), indexesOf(state)];
  await state.close();
  for (const opening of ['first', 'second']) {
    const again = await openStore({ logBytes: 1 });
    expect([opening, dump(again.read())]).toEqual([opening, was]);
    expect(indexesOf(again)).toEqual(indexes);
    expect([index, again.read().index]).toEqual([1001, 1002]);
    await again.close();
  }
});

describe('on a log that several servers share', () => {
  async function openServers() {
    const world = new SimulatedWorld(1);
    const log = new SharedLog({ clock: world.clock, leaseMs: 40 });
    const { timers, random } = world;
    const engines = [0, 1].map(() => new SharedMemoryEngine({ log, timers, random, beatMs: 10 }));
    const states: State[] = [];
    for (const engine of engines) {
      states.push(await openState({ tables, engine, timers, freeze: true }));
    }
    await world.advance(500);
    const leader = states.find(({ leading }) => leading !== undefined)!;
    const follower = states.find((state) => state !== leader)!;
    const worked = async <T>(work: Promise<T>): Promise<T> => {
      work.catch(() => {});
      await world.advance(50);
      return work;
    };
    return { world, log, leader, follower, worked };
  }

  test('a server that follows shows the same tables, wakes its watches, and goes on', async () => {
    const { leader, follower, worked } = await openServers();
    await worked(put(leader, 'a'));
    const restore = restoring(leader, leader);
    await worked(put(leader, 'b'));
    const told: unknown[] = [];
    const { snapshot, footprint } = follower.track();
    snapshot.table(items).get('s', 'untouched');
    follower.watch(footprint, () => told.push('woken'));
    follower.onReplaced((index) => told.push(index));
    await worked(leader.restore(restore));
    expect(told).toEqual([3, 'woken']);
    await worked(put(leader, 'c'));
    expect(dump(follower.read())).toEqual(dump(leader.read()));
    expect(indexesOf(follower)).toEqual(indexesOf(leader));
    expect(follower.read().index).toBe(4);
  });

  test('batches that come while it is taken in wait for their turn', async () => {
    const { world, leader, follower, worked } = await openServers();
    await worked(put(leader, 'a'));
    const writes = leader.restore(restoring(leader, leader)).then(() => put(leader, 'b'));
    await worked(writes);
    expect(rowsOf(follower.read()).map(({ Name }) => Name)).toEqual(['a', 'b']);
    await expect(
      (async () => {
        const exact = follower.exact();
        await world.advance(10);
        await exact;
        return follower.read().index;
      })(),
    ).resolves.toBe(3);
  });

  test('a leader that another has followed restores nothing', async () => {
    const { world, log, leader, follower } = await openServers();
    const restore = restoring(leader, leader);
    log.faults.appendDelayMs = 200;
    const restored = leader.restore(restore);
    restored.catch(() => {});
    log.depose();
    for (let ms = 0; ms < 90 && follower.leading === undefined; ms++) {
      log.depose();
      await world.advance(1);
    }
    await world.advance(1000);
    await expect(restored).rejects.toBeInstanceOf(NotLeading);
    log.faults.appendDelayMs = undefined;
    await world.advance(1000);
    expect(dump(follower.read())).toEqual(dump(leader.read()));
    expect(follower.read().index).toBe(0);
  });
});

const itemOf = (changes: object) => ({
  Space: 'a',
  Name: 'x',
  Color: 'red',
  Weight: 1,
  WeightIndex: 1,
  CreateIndex: 1,
  ModifyIndex: 1,
  ...changes,
});

test.each([
  ['without a part of its key', { Name: undefined }],
  ['with a number in its key', { Space: 5 }],
  ['with a key that is cut by NUL', { Name: 'x\0y' }],
  ['with a number in the key of an index', { Color: 5 }],
  ['without its touch of an index', { WeightIndex: undefined }],
  ['without the index of its last change', { ModifyIndex: undefined }],
])('a row %s is refused as it comes', async (_, changes) => {
  const draft = (await open()).draft();
  const text = JSON.stringify({ Table: 'items', Version: 1, Rows: [itemOf(changes)] });
  expect(() => draft.add(Buffer.from(text))).toThrow(StateCorrupted);
});
