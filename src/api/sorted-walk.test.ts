import { expect, test } from 'vitest';
import { limits } from '../model/limits.ts';
import { ListWalk, type WalkOptions } from './list-walk.ts';
import { SortedWalk } from './sorted-walk.ts';

interface Row {
  readonly id: string;
  readonly size: number;
}

function* rowsOf(count: number): Generator<Row> {
  for (let at = 0; at < count; at++) yield { id: String(at), size: (at * 7) % count };
}

const optionsOf = (count: number, perPage: number) =>
  ({
    run: { keyOf: ({ id }: Row) => [id] },
    rows: rowsOf(count),
    input: { namespace: 'default' },
    perPage,
    filter: undefined,
  }) as unknown as WalkOptions;

function walked(walk: ListWalk | SortedWalk): Row[] {
  const found: Row[] = [];
  while (!walk.go(64, (row) => found.push(row as Row)));
  return found;
}
const { sortedRowsMax } = limits.list;
const bySize = { field: 'size', isDescending: false, from: undefined };

test('the first page has the smallest values of as many rows as may be sorted', () => {
  const walk = new SortedWalk(optionsOf(sortedRowsMax, 3), bySize);
  expect(walked(walk).map(({ size }) => size)).toEqual([0, 1, 2]);
  expect(walk.total).toBe(sortedRowsMax);
  expect(walk.nextKey?.slice(0, 2)).toEqual(['size', 'up']);
});

test('a page after another begins with its next key', () => {
  const first = new SortedWalk(optionsOf(1000, 400), bySize);
  walked(first);
  const second = new SortedWalk(optionsOf(1000, 400), { ...bySize, from: first.nextKey });
  expect(walked(second)[0]!.size).toBe(400);
  const third = new SortedWalk(optionsOf(1000, 400), { ...bySize, from: second.nextKey });
  expect(walked(third)).toHaveLength(200);
  expect([third.nextKey, third.total]).toEqual([undefined, 1000]);
});

test('one row more is refused', () => {
  const walk = new SortedWalk(optionsOf(sortedRowsMax + 1, 3), bySize);
  expect(() => walked(walk)).toThrow(/more than 100000 rows/);
});

test('a list of one row more is not counted, and its page is the same', () => {
  const counted = new ListWalk({ ...optionsOf(sortedRowsMax, 2), counts: true });
  expect([walked(counted).length, counted.total]).toEqual([2, sortedRowsMax]);
  const long = new ListWalk({ ...optionsOf(sortedRowsMax + 1, 2), counts: true });
  expect([walked(long).length, long.total, long.nextKey]).toEqual([2, undefined, ['2']]);
});
