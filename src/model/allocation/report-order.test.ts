import { expect, test } from 'vitest';
import { areOlder } from './report-order.ts';
import { taskEvent } from './task-event.ts';

const event = (time: number) => taskEvent('Driver', time);
const states = (times: Readonly<Record<string, readonly number[] | null>>) =>
  Object.fromEntries(
    Object.entries(times).map(([task, of]) => [
      task,
      { Events: of === null ? null : of.map(event) },
    ]),
  );

test.each<[string, Parameters<typeof states>[0], Parameters<typeof states>[0], boolean]>([
  ['nothing is known', { a: [1] }, {}, false],
  ['both tell no events', { a: null }, { a: [] }, false],
  ['both tell the same', { a: [1, 2] }, { a: [1, 2] }, false],
  ['it tells one event less', { a: [1] }, { a: [1, 2] }, true],
  ['it tells no event yet', { a: null }, { a: [1] }, true],
  ['it tells one event more', { a: [1, 2, 3] }, { a: [1, 2] }, false],
  ['it tells newer events alone, as older ones were dropped', { a: [4, 5] }, { a: [1, 2] }, false],
  ['its first events were dropped since', { a: [1, 2] }, { a: [2, 3] }, true],
  ['a clock went back before its newest event', { a: [5, 3] }, { a: [5] }, false],
  ['a clock went back after its newest event', { a: [5] }, { a: [5, 3] }, true],
  ['one task is older, the other the same', { a: [1], b: [1] }, { a: [1, 2], b: [1] }, true],
  ['one task is older, the other newer', { a: [1], b: [1, 2] }, { a: [1, 2], b: [1] }, false],
  ['a task is not known', { a: [1], b: [1] }, { a: [1, 2] }, false],
  ['a task is missing', { a: [1] }, { a: [1], b: [1] }, true],
])('a report where %s', (_, told, known, older) => {
  expect(areOlder(states(told), states(known))).toBe(older);
});
