import { expect, test } from 'vitest';
import { limits } from '../model/limits.ts';
import { RowEncoder, textOf } from './encode.ts';

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

test('the text of a row has its bytes as characters, and its bytes stay a buffer', () => {
  const rows = new RowEncoder();
  const one = row('ö€😀\u2028');
  for (const bytes of [rows.encode(one), rows.encode(one)]) {
    expect(Buffer.from(textOf(bytes)!, 'latin1').toString()).toBe(JSON.stringify(one));
    expect(textOf(bytes)).toBe(textOf(bytes));
    expect(String(bytes)).toBe(JSON.stringify(one));
  }
});

test('rows that are long or not kept have no text', () => {
  const rows = new RowEncoder();
  const { textBytesMax, encodedRowBytesMax } = limits.http;
  for (const length of [textBytesMax, encodedRowBytesMax]) {
    expect(textOf(rows.encode(row('ö'.repeat(length))))).toBeUndefined();
  }
  expect(textOf(rows.encodeItems([{ Job: row('j') }]))).toBeUndefined();
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
