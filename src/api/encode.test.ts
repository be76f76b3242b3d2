import { expect, test } from 'vitest';
import { RowEncoder } from './encode.ts';

const row = (name: string) => ({ ID: name, Meta: { 'a "quoted" key': 'ä' }, Nothing: null });

const lists: readonly (readonly Readonly<Record<string, object | null>>[])[] = [
  [],
  [{}],
  [{ Allocation: row('a') }],
  [
    { Allocation: row('a'), Job: row('j') },
    { Allocation: row('b'), Job: null },
  ],
];

test.each(lists)('encoded rows are equal to plain JSON (%#)', (...items) => {
  const rows = new RowEncoder();
  for (const _ of ['first', 'once more']) {
    expect(Buffer.from(rows.encodeItems(items)).toString()).toBe(JSON.stringify(items));
  }
});

test('a forgotten row is encoded again, and a kept row holds no bytes but its own', () => {
  const rows = new RowEncoder();
  const one = row('a');
  const first = rows.encode(one);
  expect(first.buffer.byteLength).toBe(first.length);
  expect(rows.encode(one)).toBe(first);
  rows.forget(one);
  rows.forget(row('unknown'));
  expect(rows.encode(one)).not.toBe(first);
});
