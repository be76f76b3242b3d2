import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byParts, inOrder } from './in-order.ts';
import { encodeKey } from './keys.ts';

interface Row {
  readonly name: string;
  /** `undefined`: the row is not in the index. */
  readonly parts: readonly string[] | undefined;
}

const part = fc.constantFrom('', 'a', 'ab', 'b', 'é', '\u{1F600}', '\u{FFFD}');
const rows = fc.uniqueArray(
  fc.record<Row>({
    name: fc.string({ maxLength: 3 }).filter((name) => !name.includes('\0')),
    // Also of different lengths, so that the parts of one row begin those of another.
    parts: fc.option(fc.array(part, { maxLength: 3 }), { nil: undefined }),
  }),
  { selector: ({ name }) => name },
);

const ascending = (left: string, right: string) => (left < right ? -1 : 1);

test('rows stand in the order of their keys, as if all keys were sorted', () => {
  fc.assert(
    fc.property(rows, (some) => {
      const all = inOrder(new Map(some.map((row) => [encodeKey([row.name]), row])));
      expect(all.keys).toEqual(some.map(({ name }) => encodeKey([name])).sort(ascending));
      const ordered = byParts(all, ({ parts }) => parts);
      const wanted = new Map(
        some.flatMap((row) =>
          row.parts === undefined ? [] : [[encodeKey(row.parts) + encodeKey([row.name]), row]],
        ),
      );
      const keys = [...wanted.keys()].sort(ascending);
      expect(ordered.keys).toEqual(keys);
      expect(ordered.rows).toEqual(keys.map((key) => wanted.get(key)));
    }),
  );
});
