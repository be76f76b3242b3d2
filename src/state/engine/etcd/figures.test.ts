import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import { Figures } from './figures.ts';

test('an answer of the log tells of the time at which it was asked for, however long it waited', async () => {
  const world = new SimulatedWorld(1);
  const { clock } = world;
  const figures = new Figures(clock);
  await world.advance(1000);
  const sentMs = clock.monotonicMs();
  // The process sleeps.
  await world.advance(60_000);
  figures.looked(undefined, sentMs);
  expect(figures.health.contactMs).toBe(60_000);
  figures.looked(undefined, clock.monotonicMs());
  figures.looked(undefined, sentMs);
  expect(figures.health.contactMs).toBe(0);
  await world.advance(7000);
  figures.looked(undefined, clock.monotonicMs(), false);
  expect(figures.health.contactMs).toBe(7000);
  const append = Promise.withResolvers<void>();
  const appended = figures.append(append.promise);
  await world.advance(20_000);
  append.resolve();
  await appended;
  expect(figures.health.contactMs).toBe(20_000);
});
