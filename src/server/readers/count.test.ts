import { expect, test } from 'vitest';
import { mebibyte } from '../../base/units.ts';
import { readersFor } from './count.ts';

const gibibyte = 1024 * mebibyte;
const empty = { memoryBytes: 16 * gibibyte, storedBytes: 0 };

test.each([
  [1, 0],
  [2, 0],
  [3, 1],
  [4, 2],
  [6, 4],
  [64, 4],
])('on %i processors an agent starts %i readers', (processors, count) => {
  expect(readersFor({ ...empty, processors })).toBe(count);
});

test.each([
  ['512 MB of memory and an empty store', 512 * mebibyte, 0, 2],
  ['16 GB and a store of 500 MB', 16 * gibibyte, 500 * mebibyte, 2],
  ['16 GB and a store of 2 GB', 16 * gibibyte, 2 * gibibyte, 0],
])('with %s it starts no more than have room', (_, memoryBytes, storedBytes, count) => {
  expect(readersFor({ processors: 64, memoryBytes, storedBytes })).toBe(count);
});
