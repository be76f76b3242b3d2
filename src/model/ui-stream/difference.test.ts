import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applied, type Difference, difference, type Json } from './difference.ts';
import { rowDifference } from './row-difference.ts';

/** As the parser makes it. */
const json = fc.json({ maxDepth: 4 }).map((text): Json => JSON.parse(text));

/** Rows as the lists of the API have them: with a name that may be there twice, and with other fields. */
const row = fc.record(
  {
    Namespace: fc.constantFrom('default', 'team'),
    ID: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    Status: fc.constantFrom('running', 'dead'),
    Count: fc.nat(3),
    Tasks: fc.array(fc.record({ Name: fc.constantFrom('x', 'y', 'z'), Value: fc.nat(2) })),
  },
  { requiredKeys: [] },
);
const list = fc.array(fc.oneof({ weight: 5, arbitrary: row }, json), { maxLength: 12 });
const value = fc.oneof(json, list as fc.Arbitrary<Json>);

/** The text of a value, whatever the order of its fields. It tells a field `__proto__` apart. */
const told = (one: Json): string =>
  JSON.stringify(one, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1))
      : inner,
  );

/** As it travels. */
const sent = (found: Difference): Difference => JSON.parse(JSON.stringify(found));

test('a difference leads from any value to any other', () => {
  fc.assert(
    fc.property(value, value, (before, after) => {
      const found = difference(before, after);
      const made = found === undefined ? before : applied(before, sent(found));
      expect(told(made)).toBe(told(after));
    }),
    { numRuns: 500 },
  );
});

test('a difference of rows that are texts leads from any list to any other', () => {
  const rows = fc.array(fc.oneof({ weight: 5, arbitrary: row }, json), { maxLength: 12 });
  fc.assert(
    fc.property(rows, rows, fc.func(fc.boolean()), (before, after, isKept) => {
      // Many lists have most of their rows in common.
      const next = [...before.filter((one) => isKept(one)), ...after] as Json[];
      const [old, own] = [before, next].map((list) => list.map((one) => JSON.stringify(one)));
      const found = rowDifference(old!, own!);
      if (found === undefined) expect(own).toEqual(old);
      else expect(told(applied(before as Json, sent(found)))).toBe(told(next));
    }),
    { numRuns: 500 },
  );
});

test('equal values have no difference', () => {
  fc.assert(
    fc.property(value, (one) => {
      expect(difference(one, structuredClone(one))).toBeUndefined();
    }),
  );
});

test('parts that have not changed stay the same objects', () => {
  const before = [{ ID: 'a', Deep: { x: 1 } }, { ID: 'b', n: 1 }, { ID: 'c' }];
  const after = [{ ID: 'c' }, { ID: 'b', n: 2 }, { ID: 'a', Deep: { x: 1 } }];
  const made = applied(before, difference(before, after)!) as typeof before;
  expect(made).toEqual(after);
  expect(made[0]).toBe(before[2]);
  expect(made[2]).toBe(before[0]);
});

test.each<[string, Json, Json, Difference | undefined]>([
  [
    'a row in front',
    [{ ID: 'b' }],
    [{ ID: 'a' }, { ID: 'b' }],
    {
      rows: [
        ['new', { ID: 'a' }],
        ['keep', 0, 1],
      ],
    },
  ],
  ['a row that is gone', [{ ID: 'a' }, { ID: 'b' }], [{ ID: 'b' }], { rows: [['keep', 1, 1]] }],
  [
    'a row that is replaced by its fields',
    [{ ID: 'a', n: 1, m: 1 }],
    [{ ID: 'a', n: 2 }],
    { rows: [['change', 0, { set: { n: 2 }, unset: ['m'] }]] },
  ],
  [
    'the same name in two namespaces',
    [
      { Namespace: 'x', ID: 'a' },
      { Namespace: 'y', ID: 'a' },
    ],
    [{ Namespace: 'y', ID: 'a' }],
    { rows: [['keep', 1, 1]] },
  ],
  ['an object', { a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { in: { a: { set: { c: 3 } } } }],
  ['another kind', [], {}, { whole: {} }],
  ['an empty list', [1], [], { rows: [] }],
])('%s', (_, before, after, found) => {
  expect(difference(before, after)).toEqual(found);
});

test('a difference of another value is refused', () => {
  expect(() => applied({}, { rows: [] })).toThrow('needs a list');
  expect(() => applied([], { set: {} })).toThrow('needs an object');
  expect(() => applied([], { rows: [['keep', 0, 1]] })).toThrow('a row is missing');
  expect(() => applied({}, { in: { a: { set: {} } } })).toThrow('the field a is missing');
});
