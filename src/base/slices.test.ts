import { expect, test } from 'vitest';
import { SimulatedWorld } from './ports-simulated.ts';
import { inSlices, type Step, takeSlice, visitSlice, WorkTime } from './slices.ts';
import type { Steps } from './steps.ts';

/** A clock that shows a millisecond more at every call. */
function tickingClock() {
  let nowMs = 0;
  return { nowMs: () => 0, monotonicMs: () => nowMs++ };
}

const stepsOf = (count: number) => {
  let left = count;
  return () => --left === 0;
};

test.each([
  // number of steps, milliseconds and steps of a slice, steps taken, whether the last step was taken
  [5, 0, undefined, 1, false],
  [5, 3, undefined, 3, false],
  [5, 3, 2, 2, false],
  [5, 9, 9, 5, true],
  [3, 3, 3, 3, true],
])('of %i steps, a slice of %s ms and at most %s steps takes %i', (...row) => {
  const [count, sliceMs, sliceSteps, taken, isLast] = row;
  const step = stepsOf(count);
  let steps = 0;
  const counted = () => {
    steps++;
    return step();
  };
  const bounds = { sliceMs, ...(sliceSteps !== undefined && { sliceSteps }) };
  expect([takeSlice(counted, tickingClock(), bounds), steps]).toEqual([isLast, taken]);
});

test.each([
  [['a', 'b', 'c'], 0, ['a']],
  [['a', 'b', 'c'], 2, ['a', 'b']],
  [['a', 'b', 'c'], 9, ['a', 'b', 'c']],
  [['free', 'free', 'a', 'b'], 0, ['free', 'free', 'a']],
  [[], 9, []],
])('of the items %s, a slice of %i ms visits %s', (items, sliceMs, expected) => {
  const visited: string[] = [];
  const visit = (item: string) => {
    visited.push(item);
    return item !== 'free';
  };
  const count = visitSlice(items, visit, tickingClock(), { sliceMs });
  expect([count, visited]).toEqual([expected.length, expected]);
});

function* countTo(count: number, log: string[]): Steps<string> {
  try {
    for (let at = 0; at < count; at++) {
      log.push('step');
      yield;
    }
    return 'done';
  } finally {
    log.push('end');
  }
}

const slicesOf = ({ clock }: SimulatedWorld) => {
  const bounds = { sliceMs: 1, sliceSteps: 2 };
  return (step: Step) => takeSlice(step, clock, bounds);
};

test('other work goes first between two slices', async () => {
  const world = new SimulatedWorld(1);
  const log: string[] = [];
  world.timers.soon(() => log.push('other'));
  const running = inSlices(countTo(3, log), slicesOf(world), world.timers);
  await world.advance(0);
  expect(await running).toBe('done');
  expect(log).toEqual(['step', 'step', 'other', 'step', 'end']);
});

test('aborted work ends after its slice and cleans up', async () => {
  const world = new SimulatedWorld(1);
  const log: string[] = [];
  const calledOff = new AbortController();
  const running = inSlices(countTo(9, log), slicesOf(world), world.timers, calledOff.signal);
  calledOff.abort();
  await world.advance(0);
  expect(await running).toBe(undefined);
  expect(log).toEqual(['step', 'step', 'end']);
});

test('the time between two slices does not count as work', () => {
  const clock = tickingClock();
  const time = new WorkTime(clock, { sliceMs: 0 });
  const seenNs: number[] = [];
  const look = () => {
    seenNs.push(time.elapsedNs());
    return false;
  };
  time.take(look);
  for (let at = 0; at < 1000; at++) clock.monotonicMs();
  time.take(look);
  expect(seenNs).toEqual([1e6, 4e6]);
});
