import { expect, test } from 'vitest';
import { ApiError } from './errors.ts';
import type { Answer, ReadOptions } from './requester.ts';
import { waitFor, watch } from './watch.ts';

const missing = (index: number) =>
  new ApiError({ status: 404, code: 'job-not-found', detail: 'no such job', index });

/** Gives the answers in order and records the index of each request. */
function script(...answers: readonly (readonly [index: number, value: string] | ApiError)[]) {
  const asked: (number | undefined)[] = [];
  const left = [...answers];
  const read = async ({ index }: ReadOptions): Promise<Answer<string>> => {
    asked.push(index);
    const next = left.shift();
    if (next === undefined) throw new Error('asked once too often');
    if (next instanceof ApiError) throw next;
    return {
      value: next[1],
      index: next[0],
      nextToken: undefined,
      total: undefined,
      knownLeader: true,
      lastContactMs: 0,
    };
  };
  return { read, asked };
}

test.each([
  ['the first value', [[5, 'done']], [0]],
  [
    'a later value',
    [
      [5, 'a'],
      [8, 'b'],
      [9, 'done'],
    ],
    [0, 5, 8],
  ],
  [
    'a wait that ran out in between',
    [
      [5, 'a'],
      [5, 'a'],
      [6, 'done'],
    ],
    [0, 5, 5],
  ],
  [
    'an empty list whose index is 0',
    [
      [0, ''],
      [0, ''],
      [2, 'done'],
    ],
    [0, 1, 1],
  ],
  [
    'an index that went back',
    [
      [50, 'a'],
      [3, 'b'],
      [3, 'b'],
      [4, 'done'],
    ],
    [0, 50, 0, 3],
  ],
] as const)('waitFor handles %s', async (_, answers, indexes) => {
  const { read, asked } = script(...answers);
  expect(await waitFor(read, (value) => value === 'done')).toBe('done');
  expect(asked).toEqual(indexes);
});

test('a watch yields a value once for each change', async () => {
  const { read } = script([5, 'a'], [5, 'a'], [7, 'b'], [7, 'b'], [9, 'end']);
  const seen: string[] = [];
  for await (const value of watch(read)) {
    seen.push(value);
    if (value === 'end') break;
  }
  expect(seen).toEqual(['a', 'b', 'end']);
});

test('a missing record ends the wait, or is waited for, as the caller chooses', async () => {
  await expect(waitFor(script(missing(4)).read, () => true)).rejects.toThrow('no such job');
  const { read, asked } = script(missing(4), missing(4), [6, 'there']);
  expect(await waitFor(read, (value) => value !== undefined, { missing: 'wait' })).toBe('there');
  expect(asked).toEqual([0, 4, 4]);
});

test('a deleted record is undefined', async () => {
  const { read } = script([4, 'there'], missing(6));
  expect(await waitFor(read, (value) => value === undefined, { missing: 'wait' })).toBeUndefined();
});

test('other failures end the wait', async () => {
  const { read } = script(
    [4, 'a'],
    new ApiError({ status: 403, code: 'token-not-found', detail: 'gone' }),
  );
  await expect(waitFor(read, () => false, { missing: 'wait' })).rejects.toThrow('gone');
});
