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
    save: (isOn) => told.push(isOn),
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
