import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { MemoryDisk } from './engine/memory.ts';
import { SharedReader } from './shared-values.ts';
import { memoryState } from './state.test-helper.ts';
import type { Stamps, TableDefinition, TableWriter } from './types.ts';

interface Leaf extends Stamps {
  readonly Name: string;
  readonly Note: number;
  readonly Tags: { readonly of: string } | null;
}

const leaves: TableDefinition<Leaf, never> = {
  name: 'leaves',
  version: 1,
  shared: ['Tags'],
  key: ({ Name }) => [Name],
  indexes: {},
};

type Action = { readonly name: string; readonly tags: number; readonly keeps: boolean };

/** Transactions of puts with one of four objects, with none, or with the object of the row. */
const histories = fc.array(
  fc.array(
    fc.record<Action>({
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      tags: fc.integer({ min: -1, max: 3 }),
      keeps: fc.boolean(),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  { maxLength: 8 },
);

describe.each([
  ['the log', {}],
  ['a snapshot', { logBytes: 1, logPerSnapshot: 0 }],
])('in %s', (_, limits) => {
  test('rows are loaded as they were, and share their values again', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const world = new SimulatedWorld(1);
        const disk = new MemoryDisk();
        const state = await memoryState([leaves], world, disk, { limits });
        const objects = [{ of: 'x' }, { of: 'x' }, { of: 'y' }, { of: 'z' }];
        for (const actions of history) {
          await state.write((transaction) => {
            const table = transaction.table(leaves);
            for (const { name, tags, keeps } of actions) {
              const kept = keeps ? table.get(name)?.Tags : undefined;
              const Tags = kept ?? objects[tags] ?? null;
              table.put({ Name: name, Note: tags, Tags });
            }
          });
          await world.advance(1);
        }
        const before = [...state.read().table(leaves).scan()];
        await state.close();
        const again = await memoryState([leaves], world, disk);
        const after = [...again.read().table(leaves).scan()];
        expect(after).toEqual(before);
        // In the log, only some values that several transactions wrote are shared.
        if (disk.snapshot.index === 0) return;
        const sharing = (rows: readonly Leaf[]) =>
          rows.map(({ Tags }) => Tags && rows.findIndex((row) => row.Tags === Tags));
        expect(sharing(after)).toEqual(sharing(before));
      }),
    );
  });
});

test('a thousand rows with the same value hold it once', async () => {
  const world = new SimulatedWorld(1);
  const disk = new MemoryDisk();
  const state = await memoryState([leaves], world, disk);
  const Tags = { of: 'x'.repeat(1000) };
  await state.write((transaction) => {
    for (let n = 0; n < 1000; n++) {
      transaction.table(leaves).put({ Name: String(n), Note: 0, Tags });
    }
  });
  expect(disk.usedBytes).toBeLessThan(200_000);
  const row = state.read().table(leaves).get('7')!;
  await state.write((transaction) => transaction.table(leaves).put({ ...row, Note: 1 }));
  expect(disk.usedBytes).toBeLessThan(200_000);
  const again = await memoryState([leaves], world, disk);
  const rows = [...again.read().table(leaves).scan()];
  expect(new Set(rows.map((one) => one.Tags)).size).toBe(1);
});

describe('a value that several transactions write', () => {
  /** The changes of a row with the value, before a transaction writes the value again. */
  const cases: [string, (table: TableWriter<Leaf, never>, Tags: Leaf['Tags']) => void, number][] = [
    ['is in the log once', () => {}, 1],
    ['is there again after the delete of its row', (table) => table.delete('first'), 2],
    [
      'is there again after its row got another value',
      (table) => table.put({ Name: 'first', Note: 1, Tags: null }),
      2,
    ],
    [
      'is there again after another change of its row',
      (table, Tags) => table.put({ Name: 'first', Note: 1, Tags }),
      2,
    ],
  ];

  test.each(cases)('%s', async (_name, change, times) => {
    const world = new SimulatedWorld(1);
    const disk = new MemoryDisk();
    const state = await memoryState([leaves], world, disk);
    const Tags = { of: 'x'.repeat(100_000) };
    const write = (write: (table: TableWriter<Leaf, never>) => void) =>
      state.write((transaction) => write(transaction.table(leaves)));
    const put = (name: string) => write((table) => table.put({ Name: name, Note: 0, Tags }));
    await put('first');
    await write((table) => {
      change(table, Tags);
      table.put({ Name: 'second', Note: 0, Tags });
    });
    await put('third');
    expect(Math.floor(disk.usedBytes / 100_000)).toBe(times);
    const rows = [...state.read().table(leaves).scan()];
    const again = await memoryState([leaves], world, disk);
    const found = [...again.read().table(leaves).scan()];
    expect(found).toEqual(rows);
    const [second, third] = ['second', 'third'].map((name) => again.read().table(leaves).get(name));
    expect(third?.Tags).toBe(second?.Tags);
  });
});

test('a reference without a value is damage', () => {
  const table = { shared: ['Tags'], get: () => undefined };
  const read = (row: object) => new SharedReader().read(table, row, undefined, 'the log');
  for (const reference of [{ '=': 3 }, { '=': -1 }, { '=': 0, of: ['a'] }]) {
    expect(() => read({ Tags: reference })).toThrow("a row's Tags is not there");
  }
});
