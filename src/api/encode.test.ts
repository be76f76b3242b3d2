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

test('the text of a row has its bytes as characters', () => {
  const rows = new RowEncoder();
  const one = row('ö€😀');
  for (const bytes of [rows.encode(one), rows.encode(one)]) {
    expect(Buffer.from(bytes.text, 'latin1').toString()).toBe(JSON.stringify(one));
  }
});

test('rows that are read in turns are found again, and the newest is forgotten as any other', () => {
  const rows = new RowEncoder();
  const [left, right] = [row('left'), row('right')];
  const encoded = [rows.encode(left), rows.encode(right)];
  expect([rows.encode(left), rows.encode(right)]).toEqual(encoded);
  for (const one of [right, left]) {
    const before = rows.encode(one);
    rows.forget(one);
    expect(rows.encode(one)).not.toBe(before);
  }
  const before = rows.encode(left);
  rows.forgetAll();
  expect(rows.encode(left)).not.toBe(before);
});
