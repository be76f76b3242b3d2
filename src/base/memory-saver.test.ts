import { expect, it } from 'vitest';
import { saveMemoryAtRest } from './memory-saver.ts';
import { SimulatedWorld } from './ports-simulated.ts';

it.each([
  ['at rest from the beginning', [0, 0, 0, 0], ['', '', 'saves', 'saves']],
  ['at work for a while', [1, 0.3, 0, 0, 0], ['', '', '', '', 'saves']],
  ['work between', [0, 0, 1, 0, 0, 0.29], ['', '', '', '', '', 'saves']],
  ['work after rest', [0, 0, 0, 0.3, 0, 0, 0], ['', '', 'saves', '', '', '', 'saves']],
])('%s', async (_, utilizations, expected) => {
  const world = new SimulatedWorld(1);
  const left = [...utilizations];
  const told: boolean[] = [];
  saveMemoryAtRest({
    timers: world.timers,
    utilization: () => left.shift()!,
    isSmall: () => true,
    save: (isOn) => told.push(isOn),
    collect: () => {},
    begin: () => {},
  });
  const found: string[] = [];
  for (const _ of utilizations) {
    await world.advance(1_000);
    found.push(told.at(-1) === true ? 'saves' : '');
  }
  expect(found).toEqual(expected);
  // `save` is called for changes only.
  expect(told).toEqual(told.map((_, position) => position % 2 === 0));
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
    isSmall: () => true,
    save: () => {},
    collect: () => collected.push(utilizations.length - left.length),
    begin: () => {},
  });
  await world.advance(1_000 * utilizations.length);
  expect(collected).toEqual(expected);
});

it('a heap that has grown large at rest is left to the collector, until it is small again', async () => {
  const world = new SimulatedWorld(1);
  const told: boolean[] = [];
  let collected = 0;
  let isSmall = true;
  saveMemoryAtRest({
    timers: world.timers,
    utilization: () => 0,
    isSmall: () => isSmall,
    save: (isOn) => told.push(isOn),
    collect: () => {
      collected += 1;
    },
    begin: () => {},
  });
  await world.advance(5_000);
  isSmall = false;
  await world.advance(200_000);
  expect([told, collected]).toEqual([[true, false], 0]);
  isSmall = true;
  await world.advance(1_000);
  expect([told, collected]).toEqual([[true, false, true], 1]);
});

it('work begins with much work in two measurements in a row, once', async () => {
  const world = new SimulatedWorld(1);
  const left = [0, 0.3, 0.29, 1, 0.3, 0, 1, 1];
  const begun: number[] = [];
  saveMemoryAtRest({
    timers: world.timers,
    utilization: () => left.shift()!,
    isSmall: () => true,
    save: () => {},
    collect: () => {},
    begin: () => begun.push(8 - left.length),
  });
  await world.advance(8_000);
  expect(begun).toEqual([5]);
});
