import { expect, test } from 'vitest';
import { PrimaryRows, SecondaryRows } from './indexed-rows.ts';
import { encodeKey } from './keys.ts';
import { OrderedIndex } from './ordered-index.ts';
import type { Step } from './stepping.ts';
import type { Stamps } from './types.ts';

const key = (name: string) => encodeKey(['s', name]);
interface Row extends Stamps {
  readonly Name: string;
}

const row = (Name: string, index: number): Row => ({
  Name,
  CreateIndex: index,
  ModifyIndex: index,
});

/** Puts and deletes the keys in turn, one transaction each, from index 1 on. */
function churned(...names: string[]): OrderedIndex<Row> {
  const order = new OrderedIndex<Row>({ slot: 0 });
  const steps: Step[] = [];
  let index = 0;
  for (const name of names) {
    order.set('', key(name), { before: undefined, after: row(name, ++index) }, { index, steps });
    order.remove('', key(name), order.get(key(name))!, { index: ++index, steps });
  }
  return order;
}

test('a delete leaves a mark until a row comes to the key again', () => {
  const order = churned('a', 'b');
  expect([...order.marks()]).toEqual([
    [key('a'), 2],
    [key('b'), 4],
  ]);
  order.set('', key('a'), { before: undefined, after: row('a', 5) }, { index: 5 });
  expect([...order.marks()]).toEqual([[key('b'), 4]]);
});

test('the oldest of too many marks are dropped, and count for every key and range from then on', () => {
  const order = churned('a', 'b', 'c', 'd');
  order.prune(4);
  expect([order.floor, [...order.marks()].length]).toEqual([0, 4]);
  order.prune(3);
  expect(order.floor).toBe(6);
  expect([...order.marks()]).toEqual([[key('d'), 8]]);
  expect(order.lastIndexOfKey(key('a'))).toBe(6);
  expect(order.lastIndexOfKey(key('never'))).toBe(6);
  expect(order.lastIndexOfKey(key('d'))).toBe(8);
  expect(order.lastIndex({ prefix: ['elsewhere'] })).toBe(6);
  expect(order.lastIndex()).toBe(8);
});

test('deferred changes show in each read, and are made where there are too many', () => {
  const group = encodeKey(['g']);
  const primary = new PrimaryRows<Row>();
  const order = new OrderedIndex<Row>({ slot: 0 }, new SecondaryRows(primary));
  const put = (name: string, index: number) => {
    const after = row(name, index);
    primary.change(key(name), after);
    order.set(group, key(name), { before: undefined, after }, { index, defers: true });
  };
  const names = (of: OrderedIndex<Row>) => Array.from(of.scan(), ({ Name }) => Name);
  put('b', 1);
  const before = order.clone(order.rows.clone());
  put('a', 2);
  expect(order.settleBeyond(2)).toBe(false);
  expect([order.last, order.lastIndex({ prefix: ['g'] })]).toEqual([2, 2]);
  expect(order.settleBeyond(0)).toBe(false);
  expect([names(before), names(order)]).toEqual([['b'], ['a', 'b']]);
  put('c', 3);
  expect(order.settleBeyond(1)).toBe(false);
  expect(order.settleBeyond(0)).toBe(true);
  expect(order.settleBeyond(0)).toBe(false);
  expect(names(order)).toEqual(['a', 'b', 'c']);
});

test('steps undone in reverse leave rows, marks and index as they were', () => {
  const order = churned('a', 'b');
  const steps: Step[] = [];
  order.set('', key('a'), { before: undefined, after: row('a', 5) }, { index: 5, steps });
  order.remove('', key('a'), row('a', 5), { index: 5, steps });
  order.set('', key('c'), { before: undefined, after: row('c', 5) }, { index: 5, steps });
  for (const step of steps.toReversed()) order.undo(step);
  expect([...order.scan()]).toEqual([]);
  expect([...order.marks()]).toEqual([...churned('a', 'b').marks()]);
  expect(order.last).toBe(4);
});

test.each<[string, number | undefined, number, number, boolean]>([
  // the row, its touch before, its touch after, the index of the range after it, whether it is marked
  ['a new row, touched now', undefined, 7, 7, false],
  ['a new row, touched long ago', undefined, 2, 7, true],
  ['a row, touched now', 2, 7, 7, false],
  ['a row, touched as before', 2, 2, 2, false],
  ['a row, touched earlier than before', 4, 3, 7, true],
])('a change shows in the touch, or else in a mark: %s', (_, before, after, last, marked) => {
  const touched = new Map<Row, number>();
  const order = new OrderedIndex<Row>({ slot: 0, touch: (one) => touched.get(one)! });
  const made = (touch: number, index: number) => {
    const one = row('a', index);
    touched.set(one, touch);
    return one;
  };
  const old = before === undefined ? undefined : made(before, before);
  if (old !== undefined)
    order.set('', key('a'), { before: undefined, after: old }, { index: before! });
  const next = made(after, 7);
  order.set('', key('a'), { before: old, after: next }, { index: 7 });
  expect(order.lastIndex({ prefix: ['s'] })).toBe(last);
  expect(order.lastIndexOfKey(key('a'))).toBe(last);
  expect(order.lastIndex()).toBe(last);
  expect(order.isMoved(old, next)).toBe(last === 7);
  expect([...order.marks()].length).toBe(marked ? 1 : 0);
});

test.each<[string, number, number, number[]]>([
  // the row, its touch before, its touch after, the marks after it
  ['touched now, and marked before', 2, 7, []],
  ['touched earlier than before', 4, 3, [7]],
])(
  'a row is replaced in its group, after another row of the same transaction: %s',
  (_, before, after, marks) => {
    const group = encodeKey(['g']);
    const touched = new Map<Row, number>();
    const touch = (one: Row) => touched.get(one) ?? one.ModifyIndex;
    const order = new OrderedIndex<Row>({ slot: 0, touch }, new SecondaryRows(new PrimaryRows()));
    const [old, next] = [row('a', 4), row('a', 7)];
    touched.set(old, before);
    touched.set(next, after);
    order.set(group, key('a'), { before: undefined, after: old }, { index: 4 });
    order.set(group, key('b'), { before: undefined, after: row('b', 7) }, { index: 7 });
    order.set(group, key('a'), { before: old, after: next }, { index: 7 });
    expect([...order.marks()].map(([, mark]) => mark)).toEqual(marks);
  },
);

test('a scan that has begun shows the rows of its begin, once there is a clone', () => {
  const group = encodeKey(['g']);
  const primary = new PrimaryRows<Row>();
  const order = new OrderedIndex<Row>({ slot: 0 }, new SecondaryRows(primary));
  const names = Array.from({ length: 300 }, (_, at) => String(at).padStart(3, '0'));
  const rows = names.map((name) => row(name, 1));
  for (const after of rows) {
    primary.change(key(after.Name), after);
    order.set(group, key(after.Name), { before: undefined, after }, { index: 1 });
  }
  const scans = [order.scan(), order.scan({ reverse: true })];
  const seen = scans.map((scan) => [scan.next().value]);
  order.clone(order.rows.clone());
  for (const [at, before] of rows.entries()) {
    const after = at % 2 === 0 ? undefined : row(before.Name, 2);
    primary.change(key(before.Name), after);
    if (after === undefined) order.remove(group, key(before.Name), before, { index: 2 });
    else order.set(group, key(before.Name), { before, after }, { index: 2 });
  }
  for (const [at, scan] of scans.entries()) seen[at]!.push(...scan);
  expect(seen).toEqual([rows, rows.toReversed()]);
});
