import { beforeEach, expect, test } from 'vitest';
import { VirtualTime } from './virtual-time.ts';

let time: VirtualTime;
beforeEach(() => {
  time = new VirtualTime(7, 0);
});

/** Resolves after that much virtual time. */
const after = (delayMs: number) =>
  new Promise<void>((resolve) => {
    time.world.timers.after(delayMs, resolve);
  });

test('work that takes no time is done while nobody advances it', async () => {
  await after(0);
  await new Promise<void>((resolve) => {
    time.world.timers.soon(() => time.world.timers.unhurried(resolve));
  });
  expect(time.nowMs()).toBe(0);
});

test('time passes from timer to timer, and no further than it is told', async () => {
  const seen: number[] = [];
  for (const delayMs of [30_000, 61_000, 60_000]) {
    time.world.timers.after(delayMs, () => seen.push(time.nowMs()));
  }
  await time.advance('1m');
  expect(seen).toEqual([30_000, 60_000]);
  expect(time.nowMs()).toBe(60_000);
  await time.advance(1000);
  expect(seen).toEqual([30_000, 60_000, 61_000]);
});

test('time passes until something happens, and not longer', async () => {
  void after(90_000);
  expect(await time.advanceUntil(after(45_000).then(() => 'done'))).toBe('done');
  expect(time.nowMs()).toBe(45_000);
});

test('no time passes for something that has happened', async () => {
  void after(1000);
  expect(await time.advanceUntil(Promise.resolve(1))).toBe(1);
  expect(await time.advanceUntil(after(0))).toBe(undefined);
  expect(time.nowMs()).toBe(0);
});

test('a failure is passed on', async () => {
  const failed = after(1000).then(() => Promise.reject(new Error('no')));
  await expect(time.advanceUntil(failed)).rejects.toThrow('no');
});

test.each([
  ['nothing happens', () => new Promise(() => {})],
  ['it happens later', () => after(60_001)],
])('it gives up when %s', async (_, happens) => {
  const late = time.advanceUntil(happens(), '1m');
  await expect(late).rejects.toThrow('This did not happen within 1m of virtual time.');
  expect(time.nowMs()).toBe(60_000);
});

test('moves of the time follow each other', async () => {
  const moves = [time.advance('1s'), time.advanceUntil(after(1500)), time.advance('1s')];
  await Promise.all(moves);
  expect(time.nowMs()).toBe(2500);
});

test.each([['soon'], ['1 minute'], [-1], ['-1s'], [Number.NaN]])(
  '%s is no span of time',
  (span) => {
    expect(() => time.advance(span)).toThrow(TypeError);
  },
);
