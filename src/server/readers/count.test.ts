import { expect, test } from 'vitest';
import { mebibyte } from '../../base/units.ts';
import { threadsFor } from './count.ts';

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
  expect(threadsFor({ ...empty, processors })).toEqual({ readers: count, decider: false });
});

test.each([
  ['512 MB of memory and an empty store', 512 * mebibyte, 0, 2],
  ['16 GB and a store of 500 MB', 16 * gibibyte, 500 * mebibyte, 2],
  ['16 GB and a store of 2 GB', 16 * gibibyte, 2 * gibibyte, 0],
])('with %s it starts no more than have room', (_, memoryBytes, storedBytes, count) => {
  const room = { processors: 64, memoryBytes, storedBytes };
  expect(threadsFor(room, { decider: false })).toEqual({ readers: count, decider: false });
});

test.each([
  [2, 100 * mebibyte, { readers: 0, decider: false }],
  [3, 100 * mebibyte, { readers: 1, decider: false }],
  [4, 31 * mebibyte, { readers: 2, decider: false }],
  [4, 32 * mebibyte, { readers: 2, decider: true }],
  [64, 500 * mebibyte, { readers: 1, decider: true }],
  [64, 2 * gibibyte, { readers: 0, decider: false }],
])(
  'on %i processors, with 16 GB and a store of %i bytes, it starts %o',
  (processors, storedBytes, threads) => {
    expect(threadsFor({ processors, memoryBytes: 16 * gibibyte, storedBytes })).toEqual(threads);
  },
);

test('settings that are given are not chosen, and take their part of the memory', () => {
  const room = { processors: 64, memoryBytes: 16 * gibibyte, storedBytes: 500 * mebibyte };
  expect(threadsFor(room, { readers: 7 })).toEqual({ readers: 7, decider: true });
  expect(threadsFor({ ...room, processors: 2 }, { decider: true })).toEqual({
    readers: 0,
    decider: true,
  });
});
