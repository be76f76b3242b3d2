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

test('the state ages until it has all that the log told, even if the clock jumps', async () => {
  const world = new SimulatedWorld(1);
  const { clock } = world;
  const figures = new Figures(clock);
  expect([figures.health.ageMs, figures.currentMs]).toEqual([undefined, undefined]);
  figures.looked(undefined, clock.monotonicMs());
  figures.current();
  const currentMs = clock.nowMs();
  await world.advance(5000);
  figures.looked(undefined, clock.monotonicMs());
  expect(figures.health).toMatchObject({ contactMs: 0, ageMs: 5000 });
  expect(figures.currentMs).toBe(currentMs);
  world.jumpWallClock(60_000);
  expect(figures.health.ageMs).toBe(5000);
  figures.current();
  expect(figures.health.ageMs).toBe(0);
  figures.beginAt(clock.nowMs() - 7000);
  expect(figures.health).toMatchObject({ contactMs: 7000, ageMs: 7000 });
});
