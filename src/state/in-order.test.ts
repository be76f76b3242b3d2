import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Gathering, inOrder, orderOf } from './in-order.ts';
import { encodeKey } from './keys.ts';

interface Row {
  readonly name: string;
  /** `undefined`: the row is not in the index. */
  readonly parts: readonly string[] | undefined;
}

const part = fc.constantFrom('', 'a', 'ab', 'b', 'é', '\u{1F600}', '\u{FFFD}');
const rows = fc.integer({ min: 1, max: 3 }).chain((length) =>
  fc.uniqueArray(
    fc.record<Row>({
      name: fc.string({ maxLength: 3 }).filter((name) => !name.includes('\0')),
      parts: fc.option(fc.array(part, { minLength: length, maxLength: length }), {
        nil: undefined,
      }),
    }),
    { selector: ({ name }) => name },
  ),
);

const ascending = (left: string, right: string) => (left < right ? -1 : 1);

test('rows are in the order of their keys, as if all keys were sorted', () => {
  fc.assert(
    fc.property(rows, (some) => {
      const all = inOrder({ keys: some.map(({ name }) => encodeKey([name])), rows: some });
      expect(all.keys).toEqual(some.map(({ name }) => encodeKey([name])).sort(ascending));
      const gathering = new Gathering(all, ({ parts }) => parts);
      for (const position of all.rows.keys()) gathering.note(position);
      const { spans, keys: sorted } = gathering.sorted;
      const groups = spans.flatMap(({ group, count }) => Array<string>(count).fill(group));
      const keys = some.flatMap(({ name, parts }) =>
        parts === undefined ? [] : [encodeKey(parts) + encodeKey([name])],
      );
      expect(sorted.map((key, at) => groups[at]! + key)).toEqual(keys.sort(ascending));
    }),
  );
});

const texts = fc.tuple(
  fc.string({ maxLength: 5 }),
  fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 5 }), { minLength: 600, maxLength: 700 }),
);

test('many texts get the order of a plain sort', () => {
  fc.assert(
    fc.property(texts, ([beginning, ends]) => {
      const all = ends.map((end) => beginning + end);
      expect(orderOf(all).map((at) => all[at])).toEqual([...all].sort(ascending));
    }),
    { numRuns: 20 },
  );
});
