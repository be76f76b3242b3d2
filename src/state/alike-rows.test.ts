import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { AlikeReader } from './alike-rows.ts';
import { MemoryDisk } from './engine/memory.ts';
import { memoryState } from './state.test-helper.ts';
import type { Stamps, TableDefinition } from './types.ts';

interface Sheep extends Stamps {
  readonly Name: string;
  readonly Flock: string;
  readonly Note?: string | number | null | undefined;
  readonly Wool: { readonly of: string } | null;
}

const sheep: TableDefinition<Sheep, 'flock'> = {
  name: 'sheep',
  version: 1,
  shared: ['Wool'],
  alike: true,
  key: ({ Name }) => [Name],
  indexes: { flock: { key: ({ Flock }) => [Flock], alike: true } },
};

const wools = [{ of: 'x' }, { of: 'x' }, { of: 'y' }, null];

/** Transactions that put rows, change some fields of rows, and delete rows. */
const histories = fc.array(
  fc.array(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      kind: fc.constantFrom('put', 'change', 'delete'),
      fields: fc.record(
        {
          Flock: fc.constantFrom('one', 'two'),
          Note: fc.constantFrom('', 'x', 0, null, undefined),
          Wool: fc.constantFrom(...wools),
        },
        { requiredKeys: ['Flock', 'Wool'] },
      ),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  { maxLength: 8 },
);

describe.each([
  ['the log', {}],
  ['a snapshot', { logBytes: 1, logPerSnapshot: 0 }],
])('in %s', (_, limits) => {
  test('rows that are alike are loaded as they were', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const world = new SimulatedWorld(1);
        const disk = new MemoryDisk();
        const state = await memoryState([sheep], world, disk, { limits });
        for (const actions of history) {
          await state.write((transaction) => {
            const table = transaction.table(sheep);
            for (const { name, kind, fields } of actions) {
              if (kind === 'delete') table.delete(name);
              else table.put({ ...(kind === 'change' && table.get(name)), Name: name, ...fields });
            }
          });
          await world.advance(1);
        }
        const before = [...state.read().table(sheep).scan()];
        await state.close();
        const again = await memoryState([sheep], world, disk);
        expect(JSON.stringify([...again.read().table(sheep).scan()])).toBe(JSON.stringify(before));
      }),
    );
  });
});

describe('a row takes little', () => {
  const Note = 'x'.repeat(1000);
  const put = async (count: number, limits = {}) => {
    const world = new SimulatedWorld(1);
    const disk = new MemoryDisk();
    const state = await memoryState([sheep], world, disk, { limits });
    await state.write((transaction) => {
      for (let n = 0; n < count; n++) {
        // Neighbours by name are of different flocks.
        const Flock = `${n % 2}`;
        transaction.table(sheep).put({ Name: String(n), Flock, Note: Note + Flock, Wool: null });
      }
    });
    await world.advance(1);
    return { state, disk };
  };

  test('in the log if it is like the row before it', async () => {
    const { state, disk } = await put(2);
    const before = disk.usedBytes;
    const row = state.read().table(sheep).get('1')!;
    await state.write((transaction) => {
      for (let n = 2; n < 100; n++) transaction.table(sheep).put({ ...row, Name: String(n) });
    });
    expect(disk.usedBytes - before).toBeLessThan(10_000);
  });

  test('in the log if one of its fields changes', async () => {
    const { state, disk } = await put(2);
    const before = disk.usedBytes;
    const row = state.read().table(sheep).get('1')!;
    await state.write((transaction) => transaction.table(sheep).put({ ...row, Flock: 'new' }));
    expect(disk.usedBytes - before).toBeLessThan(200);
  });

  test('in a snapshot, which has neighbours that are alike', async () => {
    const { disk } = await put(100, { logBytes: 1, logPerSnapshot: 0 });
    expect(disk.snapshot.index).toBe(1);
    expect(disk.usedBytes).toBeLessThan(20_000);
  });
});

test('a difference from a row that is not there is damage', () => {
  const read = (row: object) =>
    new AlikeReader().whole(sheep, row as Readonly<Record<string, unknown>>, undefined, 'the log');
  for (const mark of [-1, 0]) {
    expect(() => read({ '~': mark, Note: 'x' })).toThrow('the row that a row is like is not there');
  }
});
