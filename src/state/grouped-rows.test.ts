import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GroupedRows } from './grouped-rows.ts';
import { encodeKey } from './keys.ts';

interface Row {
  readonly group: string;
  readonly name: string;
  readonly value: number;
}

const keyOf = ({ name }: Row) => encodeKey(['s', name]);
const textOf = (row: Row) => row.group + keyOf(row);

const groups = ['', 'a', 'ab', 'b'].flatMap((first) =>
  ['', 'a', 'b'].map((second) => encodeKey([first, second])),
);
const someGroup = fc.constantFrom(...groups);
/** Enough rows in a group for a tree of two levels. */
const someName = fc.nat(40).map((number) => `n${String(number).padStart(2, '0')}`);

const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant<'set'>('set'),
      defers: fc.boolean(),
      group: someGroup,
      names: fc.array(someName, { maxLength: 30 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant<'delete'>('delete'),
      defers: fc.boolean(),
      group: someGroup,
      names: fc.array(someName, { maxLength: 30 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant<'clone'>('clone') }) },
);

/** Ends of a range: a part of a group's text, or a group's text with a part of a key. */
const bound = fc
  .tuple(someGroup, fc.constantFrom('', 's', 's\0', 's\0n', 's\0n2', 's\0n20\0', 't'), fc.nat(8))
  .map(([group, key, cut]) => (key === '' ? group.slice(0, cut) : group + key));

interface Pair {
  readonly rows: GroupedRows<Row>;
  readonly held: Map<string, Row>;
}

test('grouped rows and each of their clones hold their own content, in the order of texts', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(command, fc.nat()), { maxLength: 40 }),
      fc.array(fc.tuple(bound, fc.option(bound, { nil: undefined })), { maxLength: 20 }),
      (commands, ranges) => {
        const pairs: Pair[] = [{ rows: GroupedRows.empty(keyOf), held: new Map() }];
        for (const [at, [one, which]] of commands.entries()) {
          const { rows, held } = pairs[which % pairs.length]!;
          if (one.kind === 'clone') {
            pairs.push({ rows: rows.clone(), held: new Map(held) });
            continue;
          }
          for (const name of one.names) {
            const row = { group: one.group, name, value: at };
            if (one.kind === 'set') {
              if (one.defers) rows.defer(one.group, keyOf(row), row);
              else rows.set(one.group, keyOf(row), row);
              held.set(textOf(row), row);
            } else {
              if (one.defers) rows.defer(one.group, keyOf(row), undefined);
              else rows.delete(one.group, keyOf(row));
              held.delete(textOf(row));
            }
          }
        }
        for (const { rows, held } of pairs) {
          const texts = [...held.keys()].sort((left, right) => (left < right ? -1 : 1));
          expect(rows.size).toBe(texts.length);
          expect(rows.leastText()).toBe(texts[0]);
          expect(rows.greatestText()).toBe(texts.at(-1));
          for (const row of held.values()) expect(rows.get(row.group, keyOf(row))).toBe(row);
          for (const [least, end] of [['', undefined] as const, ...ranges]) {
            const within = texts.filter(
              (text) => text >= least && (end === undefined || text < end),
            );
            const wanted = within.map((text) => held.get(text));
            expect([...rows.values(least, end)]).toEqual(wanted);
            expect([...rows.valuesReversed(least, end)]).toEqual(wanted.toReversed());
          }
        }
      },
    ),
  );
});

test('rows in order make the same as rows that are put', () => {
  const all = groups.flatMap((group, at) =>
    Array.from({ length: 1 + ((at * 7) % 30) }, (_, number): Row => {
      return { group, name: `n${String(number).padStart(2, '0')}`, value: at };
    }),
  );
  const keys = all.map(keyOf);
  const sorted = [...groups].sort((left, right) => (left < right ? -1 : 1));
  const inOrder = sorted.flatMap((group) => all.filter((row) => row.group === group));
  let from = 0;
  const spans = sorted.map((group) => {
    const count = all.filter((row) => row.group === group).length;
    from += count;
    return { group, from: from - count, count };
  });
  const made = GroupedRows.of(keyOf, spans, { keys: inOrder.map(keyOf), rows: inOrder });
  expect([...made.values()]).toEqual(inOrder);
  expect(made.size).toBe(keys.length);
  const clone = made.clone();
  for (const row of all) clone.delete(row.group, keyOf(row));
  expect([...clone.values()]).toEqual([]);
  expect([...made.values()]).toEqual(inOrder);
});

test('an index whose keys have different numbers of parts is a mistake', () => {
  const rows = GroupedRows.empty(keyOf);
  const put = (group: string) => rows.set(group, 's\0x\0', { group, name: 'x', value: 1 });
  put('a\0');
  expect(() => put('a\0b\0')).toThrow('different numbers of parts');
});
