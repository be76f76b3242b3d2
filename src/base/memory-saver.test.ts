import { expect, it } from 'vitest';
import { collectorLimits } from './limits.ts';
import { type Growth, saveMemoryAtRest } from './memory-saver.ts';
import { SimulatedWorld } from './ports-simulated.ts';

const { smallHeapBytesMax: small, modestHeapBytesMax: modest } = collectorLimits;

it.each([
  ['at rest from the beginning', [0, 0, 0, 0], 'm m l l'],
  ['at work for a while', [1, 0.3, 0, 0, 0], 'm m m m l'],
  ['work between', [0, 0, 1, 0, 0, 0.29], 'm m m m m l'],
  ['work after rest', [0, 0, 0, 0.3, 0, 0, 0], 'm m l m m m l'],
])('%s', async (_, utilizations, expected) => {
  const world = new SimulatedWorld(1);
  const left = [...utilizations];
  const told: Growth[] = [];
  saveMemoryAtRest({
    timers: world.timers,
    utilization: () => left.shift()!,
    heapBytes: () => small,
    grow: (growth) => told.push(growth),
    collect: () => {},
    begin: () => {},
  });
  const found: (string | undefined)[] = [];
  for (const _ of utilizations) {
    await world.advance(1_000);
    found.push(told.at(-1)?.[0]);
  }
  // By the first letters.
  expect(found.join(' ')).toBe(expected);
  // `grow` is called for changes only.
  expect(told.every((one, at) => one !== told[at - 1])).toBe(true);
});

const times = (count: number, utilization: number) => Array<number>(count).fill(utilization);

it.each<[string, readonly number[], readonly number[]]>([
  ['once at rest from the beginning', times(200, 0), [10]],
  ['again after work', [...times(130, 0), 0.1, ...times(20, 0)], [10, 141]],
  [
    'after some time, if work ends soon after the last',
    [...times(20, 0), 1, ...times(200, 0)],
    [10, 131],
  ],
  [
    'not between pieces of work',
    Array.from({ length: 100 }, (_, at) => (at % 9 === 8 ? 0.05 : 0)),
    [],
  ],
])('garbage is collected %s', async (_, utilizations, expected) => {
  const world = new SimulatedWorld(1);
  const left = [...utilizations];
  const collected: number[] = [];
  saveMemoryAtRest({
    timers: world.timers,
    utilization: () => left.shift()!,
    heapBytes: () => small,
    grow: () => {},
    collect: () => collected.push(utilizations.length - left.length),
    begin: () => {},
  });
  await world.advance(1_000 * utilizations.length);
  expect(collected).toEqual(expected);
});

it('a heap that has grown large at rest is left to the collector, until it is small again', async () => {
  const world = new SimulatedWorld(1);
  const told: Growth[] = [];
  let collected = 0;
  let bytes: number = small;
  saveMemoryAtRest({
    timers: world.timers,
    utilization: () => 0,
    heapBytes: () => bytes,
    grow: (growth) => told.push(growth),
    collect: () => {
      collected += 1;
    },
    begin: () => {},
  });
  await world.advance(5_000);
  bytes = small + 1;
  await world.advance(200_000);
  expect([told, collected]).toEqual([['modest', 'least', 'modest'], 0]);
  bytes = small;
  await world.advance(1_000);
  expect([told, collected]).toEqual([['modest', 'least', 'modest', 'least'], 1]);
});

it('a heap grows as V8 decides once the thread of V8 could not mark it in time', async () => {
  const world = new SimulatedWorld(1);
  const told: Growth[] = [];
  let bytes: number = modest;
  saveMemoryAtRest({
    timers: world.timers,
    utilization: () => 1,
    heapBytes: () => bytes,
    grow: (growth) => told.push(growth),
    collect: () => {},
    begin: () => {},
  });
  await world.advance(2_000);
  bytes = modest + 1;
  await world.advance(2_000);
  bytes = modest;
  await world.advance(2_000);
  expect(told).toEqual(['modest', 'free', 'modest']);
});

it('work begins with much work in two measurements in a row, once', async () => {
  const world = new SimulatedWorld(1);
  const left = [0, 0.3, 0.29, 1, 0.3, 0, 1, 1];
  const begun: number[] = [];
  saveMemoryAtRest({
    timers: world.timers,
    utilization: () => left.shift()!,
    heapBytes: () => small,
    grow: () => {},
    collect: () => {},
    begin: () => begun.push(8 - left.length),
  });
  await world.advance(8_000);
  expect(begun).toEqual([5]);
});
