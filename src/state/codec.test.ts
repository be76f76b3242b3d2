import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { MemoryDisk } from './engine/memory.ts';
import { StateCorrupted, StateFormatUnknown } from './errors.ts';
import { dump, type Item, item, items, others, tables } from './items.test-helper.ts';
import type { StateLimits } from './limits.ts';
import { memoryState } from './state.test-helper.ts';
import type { AnyDefinition } from './table.ts';
import type { Stamps, TableDefinition } from './types.ts';

const world = new SimulatedWorld(1);
const inSnapshot: Partial<StateLimits> = { logBytes: 1, logPerSnapshot: 0 };
const inLog: Partial<StateLimits> = {};

/** A disk with the rows a and c, and a row b that was deleted. */
async function stored(limits: Partial<StateLimits>): Promise<MemoryDisk> {
  const disk = new MemoryDisk();
  const state = await memoryState(tables, world, disk, { limits });
  for (const name of ['a', 'b', 'c']) {
    await state.write((t) => t.table(items).put(item(name, { Color: 'red' })));
    await world.advance(1);
  }
  await state.write((t) => t.table(items).delete('s', 'b'));
  await world.advance(1);
  await state.close();
  expect(disk.snapshot.index).toBe(limits === inSnapshot ? 4 : 0);
  return disk;
}

const reopen = (disk: MemoryDisk, definitions: readonly AnyDefinition[]) =>
  memoryState(definitions, world, disk);

interface ItemV2 extends Stamps {
  readonly Space: string;
  readonly Name: string;
  readonly Colors: readonly string[];
}

const itemsV2: TableDefinition<ItemV2, 'color'> = {
  name: 'items',
  version: 2,
  key: ({ Space, Name }) => [Space, Name],
  indexes: { color: { key: ({ Space, Colors }) => [Space, Colors[0] ?? ''] } },
  upcast(row, version) {
    expect(version).toBe(1);
    const { Weight: _, WeightIndex: __, Color, ...rest } = row as Item;
    return { ...rest, Colors: Color === undefined ? [] : [Color] };
  },
};

test.each([
  ['the log', inLog],
  ['a snapshot', inSnapshot],
])('rows of an older version in %s are lifted', async (_, limits) => {
  const state = await reopen(await stored(limits), [itemsV2, others]);
  const table = state.read().table(itemsV2);
  expect([...table.by('color').scan({ prefix: ['s', 'red'] })]).toEqual([
    { Space: 's', Name: 'a', Colors: ['red'], CreateIndex: 1, ModifyIndex: 1 },
    { Space: 's', Name: 'c', Colors: ['red'], CreateIndex: 3, ModifyIndex: 3 },
  ]);
  expect(table.lastIndex({ prefix: ['s'] })).toBe(4);
  expect(table.by('color').lastIndex({ prefix: ['s'] })).toBe(4);
  await state.write((t) => t.table(itemsV2).put({ Space: 's', Name: 'd', Colors: [] }));
  expect(state.read().index).toBe(5);
});

test.each([
  ['the log', inLog],
  ['a snapshot', inSnapshot],
])('an index that is new since %s counts everything as changed', async (_, limits) => {
  const named = {
    ...items,
    indexes: { ...items.indexes, name: { key: (row: Item) => [row.Name] } },
  };
  const state = await reopen(await stored(limits), [named, others]);
  const byName = state.read().table(named).by('name');
  expect([...byName.scan({ prefix: ['c'] })].length).toBe(1);
  expect(byName.lastIndex({ prefix: ['b'] })).toBe(4);
});

test.each<[string, readonly AnyDefinition[], string]>([
  ['an unknown table', [others], 'has a table items'],
  ['a newer version', [{ ...items, version: 0 }, others], 'items has version 1'],
  ['an older version without an upcast', [{ ...items, version: 2 }, others], 'cannot lift it to 2'],
])('the store is refused: %s', async (_, definitions, message) => {
  for (const limits of [inLog, inSnapshot]) {
    const opened = reopen(await stored(limits), definitions);
    await expect(opened).rejects.toThrow(message);
    await expect(opened).rejects.toBeInstanceOf(StateFormatUnknown);
  }
});

test('an upcast that moves a row to another key is refused', async () => {
  const moved = {
    ...items,
    version: 2,
    upcast: (row: unknown) => ({ ...(row as Item), Name: 'z' }),
  };
  const opened = reopen(await stored(inLog), [moved, others]);
  await expect(opened).rejects.toThrow('does not have the key of its entry');
});

test.each<[string, (disk: MemoryDisk) => void, string]>([
  ['a byte of a batch', (disk) => disk.flip(disk.usedBytes - 5), 'its checksum does not match'],
  ['a byte of a snapshot', (disk) => disk.flip(9), 'part 0 of the snapshot'],
  ['a part of a snapshot', (disk) => disk.parts.splice(1, 1), 'part 1 of the snapshot'],
  ['the last part of a snapshot', (disk) => disk.parts.pop(), 'parts are there'],
  ['the first batch', (disk) => disk.log.shift(), 'it is missing'],
  ['a batch in the middle', (disk) => disk.log.splice(1, 1), 'it is missing'],
  ['the last batch', (disk) => disk.cut(1), 'the end of the log'],
  ['the whole log', (disk) => disk.cut(9), 'the end of the log'],
])('damage is named: %s', async (_, damage, message) => {
  const disk = await stored(inSnapshot);
  const state = await reopen(disk, tables);
  for (const name of ['d', 'e', 'f']) await state.write((t) => t.table(items).put(item(name)));
  expect(disk.log.length).toBe(3);
  await state.close();
  damage(disk);
  const opened = reopen(disk, tables);
  await expect(opened).rejects.toThrow(message);
  await expect(opened).rejects.toBeInstanceOf(StateCorrupted);
});

test.each([
  ['lost', 2],
  ['torn', 2],
  ['kept', 4],
] as const)(
  'a crash during an append leaves the whole batch or nothing of it: %s',
  async (fate, index) => {
    const disk = new MemoryDisk();
    const state = await memoryState(tables, world, disk);
    for (const name of ['a', 'b']) await state.write((t) => t.table(items).put(item(name)));
    const before = dump(state.read());
    disk.faults.appendDelayMs = 10;
    let acknowledged = 0;
    for (const name of ['c', 'd']) {
      const written = state.write((t) => t.table(items).put(item(name)));
      written.then(() => acknowledged++).catch(() => {});
    }
    await world.advance(5);
    disk.crash(fate);
    await world.advance(10);
    expect(acknowledged).toBe(0);
    const again = await reopen(disk, tables);
    expect(again.read().index).toBe(index);
    if (fate !== 'kept') expect(dump(again.read())).toEqual(before);
    const written = again.write((t) => t.table(items).put(item('e')));
    await world.advance(10);
    await written;
    expect((await reopen(disk, tables)).read().index).toBe(index + 1);
  },
);

test('a snapshot holds the state of one moment while writes go on', async () => {
  const disk = new MemoryDisk();
  const limits = { logBytes: 1_000, snapshotPartBytes: 100 };
  const state = await memoryState(tables, world, disk, { limits });
  for (let number = 0; number < 200; number++) {
    await state.write((t) => t.table(items).put(item(`row-${number % 40}`)));
    if (number % 3 === 0) await world.advance(0);
  }
  await world.advance(1);
  expect(disk.snapshot.index).toBeGreaterThan(0);
  expect(disk.parts.length).toBeGreaterThan(10);
  const was = dump(state.read());
  expect(dump((await reopen(disk, tables)).read())).toEqual(was);
});

test('a failed snapshot is reported, does no harm, and is tried again later', async () => {
  const disk = new MemoryDisk();
  const reports: unknown[] = [];
  const options = { limits: { logBytes: 500 }, report: (error: unknown) => reports.push(error) };
  const state = await memoryState(tables, world, disk, options);
  const fill = async (count: number) => {
    for (let number = 0; number < count; number++) {
      await state.write((t) => t.table(items).put(item('a', { Color: 'x'.repeat(20) })));
      await world.advance(1);
    }
  };
  const fault = new Error('no snapshot today');
  disk.faults.failSnapshot = () => fault;
  await fill(6);
  expect(reports).toEqual([fault]);
  disk.faults.failSnapshot = undefined;
  await fill(1);
  expect(disk.snapshot.index).toBe(0);
  await fill(5);
  expect(disk.snapshot.index).toBeGreaterThan(6);
  expect((await reopen(disk, tables)).read().index).toBe(12);
});
