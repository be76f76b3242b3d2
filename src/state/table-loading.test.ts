import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeKey } from './keys.ts';
import { Table } from './table.ts';
import { TableLoading } from './table-loading.ts';
import { table } from './tables/definition.ts';
import type { Key, Stamps } from './types.ts';

interface Tree extends Stamps {
  readonly Wood: string;
  readonly Name: string;
  readonly Kind: string;
  /** The last change that counts for the index by kind. */
  readonly Felled: number;
}

const trees = table<Tree, 'kind' | 'felled' | 'standing'>({
  name: 'trees',
  version: 1,
  scopeParts: 1,
  key: ({ Wood, Name }) => [Wood, Name],
  indexes: {
    kind: { key: ({ Wood, Kind }) => [Wood, Kind], scopeParts: 1 },
    felled: {
      sharesKeys: true,
      scopeParts: 2,
      key: ({ Wood, Kind }) => [Wood, Kind],
      touch: ({ Felled }) => Felled,
    },
    standing: { key: ({ Kind, Name }) => (Kind === 'stump' ? undefined : [Kind, Name]) },
  },
});

/** Few, so that marks are dropped, or enough for all. */
const marksMaxima = fc.constantFrom(2, 100);
const woods = ['', 'elder', 'north'];
const names = ['a', 'b', 'c'];
const kinds = ['oak', 'pine', 'stump'];

/** One transaction: each change puts a row, or deletes it. */
const changes = fc.array(
  fc.record({
    Wood: fc.constantFrom(...woods),
    Name: fc.constantFrom(...names),
    Kind: fc.option(fc.constantFrom(...kinds), { nil: undefined }),
    isFelled: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

/** All that a table shows. */
function shown(of: Table<Stamps, string>) {
  const ranges: Key[] = [
    [],
    ...[...woods, ...kinds].map((part) => [part]),
    ...woods.flatMap((wood) => [...kinds, ...names].map((part) => [wood, part])),
  ];
  return [of.primary, ...of.secondary.map(({ index }) => index)].map((index) => ({
    rows: [...index.scan()],
    size: index.size,
    marks: [...index.marks()],
    floor: index.floor,
    last: index.last,
    ranges: ranges.map((prefix) => index.lastIndex({ prefix })),
  }));
}

const empty = () => Table.empty(trees, 0) as unknown as Table<Stamps, string>;

test('a table that is loaded from a log is as if each change had been made in it', () => {
  fc.assert(
    fc.property(fc.array(changes, { maxLength: 12 }), marksMaxima, (transactions, marksMax) => {
      const wanted = empty();
      const loading = new TableLoading(empty());
      for (const [at, transaction] of transactions.entries()) {
        const index = at + 1;
        let isMarked = false;
        for (const { Wood, Name, Kind, isFelled } of transaction) {
          const key = [Wood, Name];
          const before = loading.at(key) as Tree | undefined;
          const Felled = isFelled ? index : (before?.Felled ?? index);
          const CreateIndex = before?.CreateIndex ?? index;
          const row = { Wood, Name, Felled, CreateIndex, ModifyIndex: index };
          const after = Kind === undefined ? undefined : { ...row, Kind };
          wanted.replace(encodeKey(key), before, after, { index });
          if (loading.replace(key, { before, after }, { index })) isMarked = true;
        }
        wanted.prune(marksMax);
        if (isMarked) loading.table.prune(marksMax);
      }
      loading.end();
      expect(shown(loading.table)).toEqual(shown(wanted));
    }),
    { numRuns: 300 },
  );
});

test('the index of each range follows from the rows and the marks of a snapshot', () => {
  const row = (Name: string, Kind: string, ModifyIndex: number): Tree => {
    return { Wood: 'elder', Name, Kind, Felled: 2, CreateIndex: 1, ModifyIndex };
  };
  const loading = new TableLoading(empty());
  for (const one of [row('c', 'oak', 7), row('a', 'pine', 5), row('b', 'oak', 6)]) {
    loading.restoreRow(one);
  }
  const { index } = loading.table.secondary[0]!;
  loading.restoreMarks(index, 1, [[encodeKey(['elder', 'oak', 'elder', 'd']), 9]]);
  expect(() => loading.restoreRow(row('a', 'oak', 8))).toThrow('holds a key twice');
  loading.put(['elder', 'a'], row('a', 'pine', 5));
  const after = { ...row('d', 'oak', 10), Felled: 10 };
  expect(loading.replace(['elder', 'd'], { before: undefined, after }, { index: 10 })).toBe(true);
  expect([...index.marks()]).toEqual([]);
  loading.end();
  const { table: loaded } = loading;
  expect([...loaded.scan()].map(({ ModifyIndex }) => ModifyIndex)).toEqual([5, 6, 7, 10]);
  expect([...loaded.by('kind').scan({ prefix: ['elder', 'oak'] })]).toHaveLength(3);
  const last = (name: string, ...prefix: Key) => loaded.by(name).lastIndex({ prefix });
  expect([loaded.lastIndex({ prefix: ['elder'] }), loaded.lastIndex()]).toEqual([10, 10]);
  expect([last('kind', 'elder'), last('kind', 'elder', 'pine')]).toEqual([10, 5]);
  expect([last('felled', 'elder', 'oak'), last('standing')]).toEqual([10, 10]);
});
