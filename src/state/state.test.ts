import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { MemoryDisk } from './engine/memory.ts';
import {
  dump,
  expected,
  item,
  items,
  Oracle,
  others,
  runScript,
  ScriptFailure,
  script,
  tables,
} from './items.test-helper.ts';
import { memoryState } from './state.test-helper.ts';
import type { ScanOptions, State, Transaction } from './types.ts';

const open = (disk = new MemoryDisk(), limits = {}): Promise<State> =>
  memoryState(tables, new SimulatedWorld(1), disk, { limits });

const names = (rows: Iterable<{ readonly Name: string }>): string[] =>
  [...rows].map(({ Name }) => Name);

test('rows, orders and indexes are as the oracle has them, and snapshots never change', async () => {
  const property = fc.asyncProperty(fc.array(script, { maxLength: 12 }), async (scripts) => {
    const state = await open();
    const oracle = new Oracle();
    const seen = [{ snapshot: state.read(), was: expected(oracle) }];
    for (const one of scripts) {
      const written = state.write((transaction) => runScript(transaction, one));
      if (one.throws) await expect(written).rejects.toThrow(ScriptFailure);
      else await written;
      oracle.apply(one);
      seen.push({ snapshot: state.read(), was: expected(oracle) });
    }
    for (const { snapshot, was } of seen) expect(dump(snapshot)).toEqual(was);
  });
  await fc.assert(property, { numRuns: 60 });
});

test('several transactions in one turn have the effect that they have one by one', async () => {
  const property = fc.asyncProperty(fc.array(script, { maxLength: 12 }), async (scripts) => {
    const state = await open();
    const oracle = new Oracle();
    const writes = scripts.map((one) => state.write((transaction) => runScript(transaction, one)));
    for (const one of scripts) oracle.apply(one);
    await Promise.allSettled(writes);
    expect(dump(state.read())).toEqual(expected(oracle));
  });
  await fc.assert(property, { numRuns: 40 });
});

test('a restart loads the same state again', async () => {
  const property = fc.asyncProperty(
    fc.array(script, { maxLength: 15 }),
    fc.constantFrom(1, 3, 1_000),
    fc.constantFrom(1, 2_000, 1_000_000),
    async (scripts, marksPerIndex, logBytes) => {
      const disk = new MemoryDisk();
      const world = new SimulatedWorld(1);
      const limits = { marksPerIndex, logBytes, snapshotPartBytes: 200 };
      const state = await memoryState(tables, world, disk, { limits });
      for (const one of scripts) {
        await state.write((transaction) => runScript(transaction, one)).catch(() => {});
        await world.advance(1);
      }
      const was = dump(state.read());
      const again = await memoryState(tables, world, disk, { limits });
      expect(dump(again.read())).toEqual(was);
      if (logBytes === 1 && state.read().index > 0) expect(disk.snapshot.index).toBeGreaterThan(0);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

test('pruning marks may raise the index of a range, and never lowers it', async () => {
  const property = fc.asyncProperty(fc.array(script, { maxLength: 25 }), async (scripts) => {
    const state = await open(new MemoryDisk(), { marksPerIndex: 2 });
    const oracle = new Oracle();
    for (const one of scripts) {
      await state.write((transaction) => runScript(transaction, one)).catch(() => {});
      oracle.apply(one);
      const { index, orders: found } = dump(state.read()) as ReturnType<typeof shape>;
      const { orders: wanted } = expected(oracle) as ReturnType<typeof shape>;
      for (const [order, list] of found.entries()) {
        for (const [range, { lastIndex, rows }] of list.entries()) {
          expect(rows).toEqual(wanted[order]![range]!.rows);
          expect(lastIndex).toBeGreaterThanOrEqual(wanted[order]![range]!.lastIndex);
          expect(lastIndex).toBeLessThanOrEqual(index);
        }
      }
    }
  });
  await fc.assert(property, { numRuns: 40 });
});

declare function shape(): {
  index: number;
  orders: { rows: unknown; lastIndex: number }[][];
};

test.each<[string, ScanOptions, string[]]>([
  ['all', {}, ['a', 'b', 'ba', 'c', 'a']],
  ['a prefix', { prefix: ['s'] }, ['a', 'b', 'ba', 'c']],
  ['a whole key', { prefix: ['s', 'b'] }, ['b']],
  ['a text', { prefix: ['s'], text: 'b' }, ['b', 'ba']],
  ['from a key that is there', { prefix: ['s'], from: ['s', 'ba'] }, ['ba', 'c']],
  ['from a key that is not there', { prefix: ['s'], from: ['s', 'aa'] }, ['b', 'ba', 'c']],
  ['from before the range', { prefix: ['s'], from: ['a', 'a'] }, ['a', 'b', 'ba', 'c']],
  ['from after the range', { prefix: ['s'], from: ['t', 'a'] }, []],
  ['in reverse', { reverse: true }, ['a', 'c', 'ba', 'b', 'a']],
  ['a prefix in reverse', { prefix: ['s'], reverse: true }, ['c', 'ba', 'b', 'a']],
  ['in reverse from', { prefix: ['s'], from: ['s', 'ba'], reverse: true }, ['ba', 'b', 'a']],
  ['in reverse from no key', { prefix: ['s'], from: ['s', 'bb'], reverse: true }, ['ba', 'b', 'a']],
  ['in reverse from after', { prefix: ['s'], from: ['z'], reverse: true }, ['c', 'ba', 'b', 'a']],
  ['in reverse from before', { prefix: ['s'], from: ['a'], reverse: true }, []],
])('scan: %s', async (_, options, found) => {
  const state = await open();
  await state.write((transaction) => {
    const table = transaction.table(items);
    for (const name of ['c', 'a', 'ba', 'b']) table.put(item(name));
    table.put(item('a', { Space: 't' }));
    expect(names(table.scan(options))).toEqual(found);
  });
  expect(names(state.read().table(items).scan(options))).toEqual(found);
});

test('a transaction sees its own changes, and may change a table while it scans it', async () => {
  const state = await open();
  const { value } = await state.write((transaction) => {
    const table = transaction.table(items);
    for (const name of ['a', 'b', 'c']) table.put(item(name, { Color: 'red' }));
    for (const row of table.by('color').scan()) table.put({ ...row, Color: 'blue' });
    for (const row of table.scan()) if (row.Name !== 'b') table.delete('s', row.Name);
    return { names: names(table.scan()), red: [...table.by('color').scan({ text: 'red' })].length };
  });
  expect(value).toEqual({ names: ['b'], red: 0 });
  expect(
    names(
      state
        .read()
        .table(items)
        .by('color')
        .scan({ prefix: ['s', 'blue'] }),
    ),
  ).toEqual(['b']);
});

test('the stamps of a row that is put are ignored, and CreateIndex stays until a delete', async () => {
  const state = await open();
  const put = async (more = {}) =>
    (await state.write((transaction) => transaction.table(items).put({ ...item('a'), ...more })))
      .value;
  expect(await put({ CreateIndex: 9, ModifyIndex: 9 })).toMatchObject({
    CreateIndex: 1,
    ModifyIndex: 1,
  });
  expect(await put()).toMatchObject({ CreateIndex: 1, ModifyIndex: 2 });
  await state.write((transaction) => transaction.table(items).delete('s', 'a'));
  expect(await put()).toMatchObject({ CreateIndex: 4, ModifyIndex: 4 });
});

test('a transaction that changes nothing uses no index', async () => {
  const state = await open();
  await state.write((transaction) => transaction.table(items).put(item('a')));
  const read = await state.write((transaction) => transaction.table(items).delete('s', 'b'));
  expect(read).toEqual({ index: 1, value: false });
  expect(state.read().index).toBe(1);
});

test.each<[string, (transaction: Transaction) => unknown, string]>([
  ['a NUL in a key', (t) => t.table(items).put(item('a\u0000b')), 'NUL'],
  ['a NUL in a key that is read', (t) => t.table(items).get('s', '\u0000'), 'NUL'],
  ['an unknown table', (t) => t.table({ ...items, name: 'none' }), 'no table none'],
  ['a promise', async () => {}, 'synchronous'],
  ['a row that is not plain', (t) => t.table(items).put(item('a', badRow)), 'plain'],
  [
    'a number that JSON does not have',
    (t) => t.table(items).put(item('a', { Weight: NaN })),
    'NaN',
  ],
  ['a touch of the future', (t) => t.table(items).put(item('a', { WeightIndex: 9 })), 'later'],
])('a bug is an assertion: %s', async (_, run, message) => {
  const state = await open();
  await expect(state.write((transaction) => run(transaction))).rejects.toThrow(message);
  expect(state.read().table(items).size).toBe(0);
  await state.write((transaction) => transaction.table(items).put(item('a')));
  expect(state.read().index).toBe(1);
});

const badRow = { Color: new Map() as never };

test('a transaction cannot run inside another', async () => {
  const state = await open();
  const outer = state.write(() => state.write(() => {}).catch((error) => error));
  await expect(outer).rejects.toThrow('synchronous');
  let inner: Promise<unknown> | undefined;
  await state.write(() => {
    inner = state.write(() => {});
  });
  await expect(inner).rejects.toThrow('inside another');
});

test('a transaction cannot be used after its function has run', async () => {
  const state = await open();
  const { value } = await state.write((transaction) => ({ table: transaction.table(items) }));
  expect(() => value.table.put(item('a'))).toThrow('only while its function runs');
  expect(() => value.table.get('s', 'a')).toThrow('only while its function runs');
});

test('rows are frozen', async () => {
  const state = await open();
  const { value } = await state.write((t) => t.table(items).put(item('a')));
  expect(() => Object.assign(value, { Weight: 3 })).toThrow();
});

test('a listener of commits hears each transaction in order, with the rows before and after', async () => {
  const state = await open();
  const heard: unknown[] = [];
  const stop = state.onCommit((changes, index) => {
    heard.push(
      index,
      changes.map(({ table, before, after }) => [table, before?.ModifyIndex, after?.ModifyIndex]),
    );
    expect(state.read().index).toBeGreaterThanOrEqual(index);
  });
  await Promise.allSettled([
    state.write((t) => t.table(items).put(item('a'))),
    state.write((t) => {
      t.table(items).put(item('b'));
      throw new Error('no');
    }),
    state.write((t) => [t.table(items).put(item('a')), t.table(others).put(item('c'))]),
    state.write((t) => t.table(items).delete('s', 'a')),
  ]);
  stop();
  await state.write((t) => t.table(items).put(item('a')));
  expect(heard).toEqual([
    1,
    [['items', undefined, 1]],
    2,
    [
      ['items', 1, 2],
      ['others', undefined, 2],
    ],
    3,
    [['items', 2, undefined]],
  ]);
});

test('a follower of the head hears of a transaction at once, unless it threw', async () => {
  const state = await open();
  const heard: unknown[] = [];
  const stop = state.onRan((changes, index) => {
    heard.push([
      index,
      changes.map(({ before, after }) => [before?.ModifyIndex, after?.ModifyIndex]),
    ]);
    expect(state.read().index).toBe(0);
    expect(state.head().index).toBe(index);
  });
  const written = [
    state.write((t) => t.table(items).put(item('a'))),
    state.write((t) => {
      t.table(items).put(item('b'));
      throw new Error('no');
    }),
    state.write(() => {}),
    state.write((t) => t.table(items).delete('s', 'a')),
  ];
  expect(heard).toEqual([
    [1, [[undefined, 1]]],
    [2, [[1, undefined]]],
  ]);
  stop();
  await Promise.allSettled(written);
  await state.write((t) => t.table(items).put(item('a')));
  expect(heard).toHaveLength(2);
});
