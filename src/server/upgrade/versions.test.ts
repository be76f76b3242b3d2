import { expect, test } from 'vitest';
import { nextRow, type PresentServer, raised, readByAll, seenServers } from './versions.ts';

const hour = 3_600_000 * 1e6;
const day = 24 * hour;
const now = 100 * day;

const server = (id: string, tables: Record<string, number> | undefined, address = `${id}:1`) =>
  ({ id, address, version: '1', tables }) satisfies PresentServer;

const seen = (id: string, Tables: Record<string, number>, SeenAt = now) => ({
  ID: id,
  Address: `${id}:1`,
  Version: '1',
  SeenAt,
  Tables,
});

const row = (Tables: Record<string, number>, Servers: ReturnType<typeof seen>[], Hold = false) => ({
  Tables,
  Hold,
  RaisedAt: 1,
  Servers,
});

test.each([
  [[], {}],
  [[{ a: 1, b: 2 }], { a: 1, b: 2 }],
  [
    [
      { a: 1, b: 2 },
      { a: 3, b: 1, c: 1 },
    ],
    { a: 1, b: 1 },
  ],
  [[{ a: 1 }, {}], {}],
])('%j read %j', (all, expected) => {
  expect(readByAll(all)).toEqual(expected);
});

test('versions only go up', () => {
  expect(raised({ a: 2, b: 1 }, { a: 1, b: 2, c: 1 })).toEqual({ a: 2, b: 2, c: 1 });
});

test('a version is raised when every server reads it', () => {
  const before = row({ a: 1 }, [seen('x', { a: 2 }), seen('y', { a: 1 })]);
  const both = [server('x', { a: 2 }), server('y', { a: 2 })];
  expect(nextRow(before, both, now)).toMatchObject({ Tables: { a: 2 }, RaisedAt: now });
});

test.each<[string, readonly PresentServer[], number, boolean]>([
  ['a server that is away may come back', [server('x', { a: 2 })], now + day - 1e9, false],
  ['a server that was away for a day is forgotten', [server('x', { a: 2 })], now + day, true],
  [
    'a server that does not tell may read nothing new',
    [server('x', { a: 2 }), server('z', undefined)],
    now + day,
    false,
  ],
  [
    'a server that starts again takes its old place',
    [server('x', { a: 2 }), server('n', { a: 2 }, 'y:1')],
    now,
    true,
  ],
])('%s', (_, present, at, isRaised) => {
  const before = row({ a: 1 }, [seen('x', { a: 2 }), seen('y', { a: 1 })]);
  expect(nextRow(before, present, at)?.Tables ?? { a: 1 }).toEqual({ a: isRaised ? 2 : 1 });
});

test('an operator holds a version', () => {
  const before = row({ a: 1 }, [seen('x', { a: 1 })], true);
  const next = nextRow(before, [server('x', { a: 2 })], now);
  expect(next).toMatchObject({ Tables: { a: 1 }, Hold: true });
});

test('the first row is written once every server tells what it reads', () => {
  expect(nextRow(undefined, [server('x', { a: 1 }), server('y', undefined)], now)).toBeUndefined();
  expect(nextRow(undefined, [server('x', { a: 1 })], now)?.Tables).toEqual({ a: 1 });
});

test('a connected server costs a write an hour', () => {
  const before = row({ a: 1 }, [seen('x', { a: 1 })]);
  const present = [server('x', { a: 1 })];
  expect(nextRow(before, present, now + hour - 1e9)).toBeUndefined();
  expect(nextRow(before, present, now + hour)?.Servers).toEqual([seen('x', { a: 1 }, now + hour)]);
});

test('the servers that were seen last are kept', () => {
  const many = Array.from({ length: 100 }, (_, at) => seen(`s${at}`, {}));
  const kept = seenServers(many, [server('new', { a: 1 })], now);
  expect([kept.length, kept.at(-1)?.ID]).toEqual([64, 'new']);
});
