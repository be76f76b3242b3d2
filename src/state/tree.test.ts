import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterKey } from './keys.ts';
import { Tree } from './tree.ts';

/** Enough keys for a tree of four levels. */
const keyCount = 3_000;
const keyOf = (number: number) => `k${String(number).padStart(4, '0')}`;
const someKey = fc.nat(keyCount - 1);

/** Keys at equal distances, ascending until they begin again at the least key. */
const someKeys = fc
  .record({ from: someKey, apart: fc.integer({ min: 1, max: 97 }), count: fc.nat(600) })
  .map(({ from, apart, count }) =>
    Array.from({ length: count }, (_, at) => keyOf((from + at * apart) % keyCount)),
  );

type Command =
  | { readonly kind: 'set' | 'delete'; readonly keys: readonly string[] }
  | { readonly kind: 'clone' };

const commands = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: someKeys.map((keys): Command => ({ kind: 'set', keys })) },
    { weight: 2, arbitrary: someKeys.map((keys): Command => ({ kind: 'delete', keys })) },
    { weight: 2, arbitrary: fc.constant<Command>({ kind: 'clone' }) },
  ),
  { maxLength: 30 },
);

/** A tree, and the content that it must have. */
interface Pair {
  readonly tree: Tree<number>;
  readonly held: Map<string, number>;
}

const ascending = (left: string, right: string) => (left < right ? -1 : 1);
const sorted = ({ held }: Pair) =>
  [...held].sort(([left], [right]) => ascending(left, right)) as [string, number][];

function apply(pairs: Pair[], command: Command, value: number, changed: number): void {
  const { tree, held } = pairs[changed % pairs.length]!;
  if (command.kind === 'clone') {
    pairs.push({ tree: tree.clone(), held: new Map(held) });
  } else if (command.kind === 'set') {
    for (const key of command.keys) {
      tree.set(key, value);
      held.set(key, value);
    }
  } else {
    for (const key of command.keys) expect(tree.delete(key)).toBe(held.delete(key));
  }
}

test('a tree and each of its clones hold their own content, in order', () => {
  fc.assert(
    fc.property(commands, fc.array(fc.nat(), { minLength: 30, maxLength: 30 }), (all, changed) => {
      const pairs: Pair[] = [{ tree: Tree.empty(), held: new Map() }];
      for (const [at, command] of all.entries()) apply(pairs, command, at, changed[at]!);
      for (const pair of pairs) {
        const { tree } = pair;
        const expected = sorted(pair);
        expect(tree.size).toBe(expected.length);
        expect([...tree.entries()]).toEqual(expected);
        expect(tree.leastKey()).toBe(expected[0]?.[0]);
        expect(tree.greatestKey()).toBe(expected.at(-1)?.[0]);
      }
    }),
  );
});

test('a key is found, and a range yields its values, forwards and backwards', () => {
  const bound = fc.tuple(someKey, fc.boolean()).map(([number, isAfter]) => {
    const key = keyOf(number);
    return isAfter ? afterKey(key) : key;
  });
  const some = fc.uniqueArray(someKey, { maxLength: keyCount, size: 'max' });
  const end = fc.option(bound, { nil: undefined });
  fc.assert(
    fc.property(some, bound, end, fc.boolean(), (numbers, least, below, isMade) => {
      const held = new Map(numbers.map((number) => [keyOf(number), number]));
      const entries = [...held].sort(([left], [right]) => ascending(left, right));
      let tree = Tree.empty<number>();
      if (isMade) {
        tree = Tree.of(
          entries.map(([key]) => key),
          entries.map(([, value]) => value),
        );
      } else for (const [key, value] of held) tree.set(key, value);
      const within = entries
        .filter(([key]) => key >= least && (below === undefined || key < below))
        .map(([, value]) => value);
      expect([...tree.values(least, below)]).toEqual(within);
      expect([...tree.valuesReversed(least, below)]).toEqual(within.toReversed());
      for (const key of [least, below ?? '', keyOf(0), keyOf(keyCount)]) {
        expect(tree.get(key)).toBe(held.get(key));
      }
    }),
  );
});

test('a tree that was made of many keys can be emptied and filled again', () => {
  const numbers = Array.from({ length: keyCount }, (_, number) => number);
  const tree = Tree.of(numbers.map(keyOf), numbers);
  const before = tree.clone();
  for (const number of numbers) tree.delete(keyOf((number * 7) % keyCount));
  expect([tree.size, [...tree.entries()], tree.leastKey()]).toEqual([0, [], undefined]);
  for (const number of numbers.toReversed()) tree.set(keyOf(number), -number);
  expect([...tree.values()]).toEqual(numbers.map((number) => -number));
  expect([...before.values()]).toEqual(numbers);
});

test('a tree that is emptied from one end knows its least and greatest key all the time', () => {
  const numbers = Array.from({ length: keyCount }, (_, number) => number);
  const [fromBelow, fromAbove] = [0, 1].map(() => Tree.of(numbers.map(keyOf), numbers));
  for (const number of numbers.slice(0, -1)) {
    fromBelow!.delete(keyOf(number));
    expect(fromBelow!.leastKey()).toBe(keyOf(number + 1));
    fromAbove!.delete(keyOf(keyCount - 1 - number));
    expect(fromAbove!.greatestKey()).toBe(keyOf(keyCount - 2 - number));
  }
});

test('a finder gets the value of each key, and nothing for others', () => {
  const some = fc.uniqueArray(someKey, { maxLength: keyCount, size: 'max' });
  fc.assert(
    fc.property(some, someKeys, (numbers, asked) => {
      const tree = Tree.empty<number>();
      for (const number of numbers) tree.set(keyOf(number), number);
      const find = tree.finder();
      for (const key of asked) expect(find(key)).toBe(tree.get(key));
    }),
    { numRuns: 30 },
  );
});

test('a set holds its keys as a tree does, whether it is made or grows', () => {
  const some = fc.uniqueArray(someKey, { maxLength: keyCount, size: 'max' });
  fc.assert(
    fc.property(some, some, someKeys, (made, added, deleted) => {
      const keys = made.map(keyOf).sort(ascending);
      const set = Tree.setOf(keys);
      const clone = set.clone();
      const held = new Set(keys);
      for (const key of added.map(keyOf)) {
        set.set(key, key);
        held.add(key);
      }
      for (const key of deleted) expect(set.delete(key)).toBe(held.delete(key));
      expect([...set.values()]).toEqual([...held].sort(ascending));
      expect([...clone.entries()]).toEqual(keys.map((key) => [key, key]));
    }),
    { numRuns: 30 },
  );
});
