import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { MemoryDisk } from './engine/memory.ts';
import {
  item,
  items,
  Oracle,
  type Order,
  orders,
  others,
  ranges,
  runScript,
  script,
  tables,
} from './items.test-helper.ts';
import { memoryState } from './state.test-helper.ts';
import type { Footprint, KeyRange, Snapshot, State } from './types.ts';

const open = (limits = {}): Promise<State> =>
  memoryState(tables, new SimulatedWorld(1), new MemoryDisk(), { limits });

/** A read of a range in an order, or of a key. */
interface Read {
  readonly order: Order;
  readonly range: KeyRange;
  readonly get: boolean;
}

const read: fc.Arbitrary<Read> = fc.record({
  order: fc.constantFrom(...orders),
  range: fc.constantFrom(...ranges),
  get: fc.boolean(),
});

/** Reads a whole key of the primary index as a key, and anything else as a range. */
function perform(snapshot: Snapshot, { order, range, get }: Read): void {
  const table = snapshot.table(items);
  const reader = order === '' ? table : table.by(order);
  if (get && order === '' && range.prefix?.length === 2) table.get(...range.prefix);
  else reader.scan(range);
}

function footprintOf(state: State, reads: readonly Read[]): Footprint {
  const { snapshot, footprint } = state.track();
  for (const one of reads) perform(snapshot, one);
  return footprint;
}

test('a watch wakes exactly when a row or range of its footprint has changed, however late it parks', async () => {
  const watcher = fc.record({
    reads: fc.array(read, { minLength: 1, maxLength: 3 }),
    /** The transaction before which it reads, and the number of transactions until it parks. */
    from: fc.nat(8),
    late: fc.nat(3),
  });
  const property = fc.asyncProperty(
    fc.array(script, { maxLength: 10 }),
    fc.array(watcher, { maxLength: 12 }),
    fc.constantFrom(1, 1_000),
    async (scripts, watchers, rangesPerIndex) => {
      const state = await open({ rangesPerIndex });
      const oracle = new Oracle();
      const parked = watchers.map((one) => ({
        ...one,
        footprint: undefined as Footprint | undefined,
        readAt: 0,
        wakes: 0,
        isParked: false,
      }));
      const changed = (one: (typeof parked)[number]) =>
        one.reads.some(({ order, range }) => oracle.lastIndex(order, range) > one.readAt);
      for (const [number, next] of [...scripts, undefined].entries()) {
        for (const one of parked) {
          if (number === one.from) {
            one.footprint = footprintOf(state, one.reads);
            one.readAt = oracle.index;
            const last = one.reads.map(({ order, range }) => oracle.lastIndex(order, range));
            expect(one.footprint.index).toBe(Math.max(1, ...last));
          }
          if (one.footprint === undefined || number !== one.from + one.late) continue;
          one.isParked = true;
          state.watch(one.footprint, () => one.wakes++);
        }
        await Promise.resolve();
        for (const one of parked) {
          if (one.isParked && changed(one)) expect(one.wakes).toBe(1);
          // Only a watch of too many ranges may wake without a change.
          else if (rangesPerIndex > 1 || one.reads.length === 1) expect(one.wakes).toBe(0);
        }
        if (next === undefined) break;
        await state.write((transaction) => runScript(transaction, next)).catch(() => {});
        oracle.apply(next);
      }
    },
  );
  await fc.assert(property, { numRuns: 150 });
});

const seeded = async (): Promise<State> => {
  const state = await open();
  await state.write((t) => t.table(items).put(item('a', { Color: 'red', WeightIndex: 1 }))); // 1
  await state.write((t) => t.table(items).put(item('b', { Color: 'blue', WeightIndex: 2 }))); // 2
  await state.write((t) => t.table(items).put(item('gone', { Space: 't' }))); // 3
  await state.write((t) => t.table(items).delete('t', 'gone')); // 4
  await state.write((t) => t.table(others).put(item('x'))); // 5
  await state.write((t) => t.table(items).put(item('b', { Color: 'blue', WeightIndex: 2 }))); // 6
  return state;
};

test.each<[string, (snapshot: Snapshot) => unknown, number]>([
  ['nothing', () => {}, 1],
  ['a row', (s) => s.table(items).get('s', 'a'), 1],
  ['whether a row is there', (s) => s.table(items).has('s', 'b'), 6],
  ['a row that was deleted', (s) => s.table(items).get('t', 'gone'), 4],
  ['a row that never was', (s) => s.table(items).get('t', 'never'), 1],
  ['two rows', (s) => [s.table(items).get('s', 'b'), s.table(items).get('s', 'a')], 6],
  ['a list', (s) => [...s.table(items).scan({ prefix: ['s'] })], 6],
  ['a list that a delete moved', (s) => s.table(items).scan({ prefix: ['t'] }), 4],
  ['an empty list', (s) => s.table(items).scan({ prefix: ['u'] }), 1],
  [
    'a page of a list',
    (s) =>
      s
        .table(items)
        .scan({ prefix: ['s'], from: ['s', 'b'] })
        .next(),
    6,
  ],
  ['a list by text', (s) => s.table(items).scan({ prefix: ['s'], text: 'a' }), 1],
  ['the whole table', (s) => s.table(items).scan(), 6],
  ['the size', (s) => s.table(items).size, 6],
  ['another table', (s) => s.table(others).lastIndex(), 5],
  [
    'an index',
    (s) =>
      s
        .table(items)
        .by('color')
        .scan({ prefix: ['s', 'red'] }),
    1,
  ],
  [
    'an index that a touch holds still',
    (s) =>
      s
        .table(items)
        .by('weight')
        .lastIndex({ prefix: ['s'] }),
    2,
  ],
])('the index of a footprint: %s', async (_, reads, index) => {
  const state = await seeded();
  const { snapshot, footprint } = state.track();
  reads(snapshot);
  expect(footprint.index).toBe(index);
});

test('a delete moves the index of a list; an unrelated write does not', async () => {
  const state = await seeded();
  const list = () =>
    state
      .read()
      .table(items)
      .lastIndex({ prefix: ['s'] });
  await state.write((t) => t.table(items).delete('s', 'a'));
  expect(list()).toBe(7);
  await state.write((t) => t.table(items).put(item('z', { Space: 't' })));
  await state.write((t) => t.table(others).put(item('a')));
  expect(list()).toBe(7);
});

test('an unrelated write wakes none of ten thousand watches, and a write of a row wakes all of its watches', async () => {
  const state = await open();
  let wakes = 0;
  for (let number = 0; number < 10_000; number++) {
    const { snapshot, footprint } = state.track();
    const table = snapshot.table(items);
    if (number % 2 === 0) table.get('s', `row-${number}`);
    else table.scan({ prefix: ['s'] });
    state.watch(footprint, () => wakes++);
  }
  await state.write((t) => [
    t.table(items).put(item('a', { Space: 't' })),
    t.table(others).put(item('a')),
  ]);
  expect(wakes).toBe(0);
  await state.write((t) => t.table(items).put(item('row-0')));
  expect(wakes).toBe(5_001);
});

test('a watch wakes once, after the view has moved, and not after it was cancelled', async () => {
  const state = await open();
  const woken: string[] = [];
  const watch = (name: string) => {
    const { snapshot, footprint } = state.track();
    snapshot.table(items).scan();
    return state.watch(footprint, () => {
      woken.push(`${name} at ${state.read().index}`);
      last.cancel();
    });
  };
  watch('first');
  const cancelled = watch('cancelled');
  const last = watch('last');
  cancelled.cancel();
  cancelled.cancel();
  await state.write((t) => t.table(items).put(item('a')));
  await state.write((t) => t.table(items).put(item('b')));
  expect(woken).toEqual(['first at 1']);
});

test('closing the state wakes every watch', async () => {
  const state = await open();
  const { snapshot, footprint } = state.track();
  snapshot.table(items).scan();
  let wakes = 0;
  state.watch(footprint, () => wakes++);
  await state.close();
  expect(wakes).toBe(1);
});
