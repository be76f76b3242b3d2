import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GroupedKeys } from './grouped-keys.ts';
import { encodeKey } from './keys.ts';

const groups = ['', 'a', 'ab', 'b'].flatMap((first) =>
  ['', 'a', 'b'].map((second) => encodeKey([first, second])),
);
const ascending = (left: string, right: string) => (left < right ? -1 : 1);
const someGroup = fc.constantFrom(...groups);
const keyOf = (number: number) => encodeKey(['s', `n${String(number).padStart(2, '0')}`]);
/** Enough keys in a group for a tree of two levels. */
const someKey = fc.nat(40).map(keyOf);

const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant<'add'>('add'),
      defers: fc.boolean(),
      group: someGroup,
      keys: fc.array(someKey, { maxLength: 30 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant<'delete'>('delete'),
      defers: fc.boolean(),
      group: someGroup,
      keys: fc.array(someKey, { maxLength: 30 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant<'clone'>('clone') }) },
);

/** Ends of a range: a part of a group's text, or a group's text with a part of a key. */
const bound = fc
  .tuple(someGroup, fc.constantFrom('', 's', 's\0', 's\0n', 's\0n2', 's\0n20\0', 't'), fc.nat(8))
  .map(([group, key, cut]) => (key === '' ? group.slice(0, cut) : group + key));

interface Pair {
  readonly keys: GroupedKeys;
  readonly held: Map<string, { readonly group: string; readonly key: string }>;
}

test('grouped keys and each of their clones hold their own content, in the order of texts', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(command, fc.nat()), { maxLength: 40 }),
      fc.array(fc.tuple(bound, fc.option(bound, { nil: undefined })), { maxLength: 20 }),
      (commands, ranges) => {
        const pairs: Pair[] = [{ keys: GroupedKeys.empty(), held: new Map() }];
        for (const [one, which] of commands) {
          const { keys, held } = pairs[which % pairs.length]!;
          if (one.kind === 'clone') {
            pairs.push({ keys: keys.clone(), held: new Map(held) });
            continue;
          }
          const { group, defers } = one;
          const isThere = one.kind === 'add';
          for (const key of one.keys) {
            if (defers) keys.defer(group, key, isThere);
            else keys.change(group, key, isThere);
            if (isThere) held.set(group + key, { group, key });
            else held.delete(group + key);
          }
        }
        for (const { keys, held } of pairs) {
          const texts = [...held.keys()].sort(ascending);
          expect(keys.size).toBe(texts.length);
          expect(keys.leastText()).toBe(texts[0]);
          expect(keys.greatestText()).toBe(texts.at(-1));
          for (const { group, key } of held.values()) expect(keys.has(group, key)).toBe(true);
          for (const group of groups) {
            const visited: string[] = [];
            keys.visitGroup(group, (key) => visited.push(key) > 0);
            const wanted = [...held.values()].filter((one) => one.group === group);
            expect(visited).toEqual(wanted.map(({ key }) => key).sort(ascending));
          }
          for (const [least, end] of [['', undefined] as const, ...ranges]) {
            const within = texts.filter(
              (text) => text >= least && (end === undefined || text < end),
            );
            const wanted = within.map((text) => held.get(text)!.key);
            expect([...keys.keys(least, end)]).toEqual(wanted);
            expect([...keys.keysReversed(least, end)]).toEqual(wanted.toReversed());
            const visited: string[] = [];
            expect(keys.visit(least, end, (key) => visited.push(key) > 0)).toBe(true);
            expect(visited).toEqual(wanted);
            const isWhole = keys.visit(least, end, (key) => key !== wanted[0]);
            expect(isWhole).toBe(wanted.length === 0);
          }
        }
      },
    ),
  );
});

test('keys in order make the same as keys that are added', () => {
  const sorted = [...groups].sort(ascending);
  const keysOf = sorted.map((_, at) => Array.from({ length: 1 + ((at * 7) % 30) }, (_, n) => n));
  const keys = keysOf.flatMap((numbers) => numbers.map(keyOf));
  let from = 0;
  const spans = sorted.map((group, at) => {
    const count = keysOf[at]!.length;
    from += count;
    return { group, from: from - count, count };
  });
  const made = GroupedKeys.of(spans, keys);
  expect([...made.keys()]).toEqual(keys);
  expect(made.size).toBe(keys.length);
  const clone = made.clone();
  for (const { group, from, count } of spans) {
    for (const key of keys.slice(from, from + count)) clone.delete(group, key);
  }
  expect([...clone.keys()]).toEqual([]);
  expect([...made.keys()]).toEqual(keys);
});

test('an index whose keys have different numbers of parts is a mistake', () => {
  const keys = GroupedKeys.empty();
  keys.add('a\0', keyOf(1));
  expect(() => keys.add('a\0b\0', keyOf(1))).toThrow('different numbers of parts');
});
