import { expect, test } from 'vitest';
import { chooseInstances, parseChoice } from './choose.ts';

const instances = Array.from({ length: 8 }, (_, n) => ({
  ID: `0f8a1c3${n}-7a52-4c1e-9d1e-2f6b8c0d4e5a-group-web-http`,
}));
const keys = Array.from({ length: 4000 }, (_, n) => `client-${n}`);
const firstOf = (key: string, of = instances) => chooseInstances(of, { count: 1, key })[0]!.ID;

test('a key finds the same instances in any order', () => {
  for (const key of keys.slice(0, 50)) {
    const chosen = chooseInstances(instances, { count: 3, key });
    expect(chosen).toHaveLength(3);
    expect(chooseInstances([...instances].reverse(), { count: 3, key })).toEqual(chosen);
    // A larger count gives the same list with more instances at its end.
    expect(chooseInstances(instances, { count: 2, key })).toEqual(chosen.slice(0, 2));
  }
  expect(chooseInstances(instances, { count: 20, key: 'a' })).toHaveLength(8);
});

test('keys spread over the instances evenly', () => {
  const counts = Map.groupBy(keys, (key) => firstOf(key));
  expect(counts.size).toBe(instances.length);
  for (const { length } of counts.values()) {
    expect(length).toBeGreaterThan(400);
    expect(length).toBeLessThan(600);
  }
});

test('removing an instance moves only its keys', () => {
  const gone = instances[3]!;
  const left = instances.filter((one) => one !== gone);
  const moved = keys.filter((key) => firstOf(key) !== firstOf(key, left));
  expect(moved.length).toBeGreaterThan(0);
  expect(moved.every((key) => firstOf(key) === gone.ID)).toBe(true);
});

test.each([
  ['2|abc', { count: 2, key: 'abc' }],
  ['1|a|b', { count: 1, key: 'a|b' }],
  ['', undefined],
  ['2', undefined],
  ['2|', undefined],
  ['0|a', undefined],
  ['-1|a', undefined],
  ['1.5|a', undefined],
  ['11|a', undefined],
  ['99999999999|a', undefined],
])('%j is read as %j', (text, choice) => {
  expect(parseChoice(text, 10)).toEqual(choice);
});
