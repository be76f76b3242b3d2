import { beforeEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import type { ExchangeBounds } from './bounds.ts';
import { Cluster, rule, TestStream } from './clusters.test-helper.ts';

let world: SimulatedWorld;
let a: Cluster;
let b: Cluster;
const open = async (bounds: Partial<ExchangeBounds> = {}) => {
  world = new SimulatedWorld(1);
  a = await Cluster.open(world, bounds);
  b = await Cluster.open(world, bounds);
  await done([a.peer('b'), b.peer('a')]);
};
const done = (work: readonly Promise<unknown>[]) => Promise.all([...work, world.advance(0)]);
beforeEach(() => open());

test('a peer lags by the age of the oldest change that it has not applied', async () => {
  const peer = { partition: 'default', name: 'b' };
  await done([a.export([rule('*', 'b')])]);
  expect(a.exchange.lagMs(peer)).toBeUndefined();
  new TestStream(world, [a, b], () => 1000);
  // Each frame takes a second, and its acknowledgement another one.
  await world.advance(4000);
  expect(a.exchange.lagMs(peer)).toBe(0);
  await done([a.register({ name: 'web', id: '1' })]);
  await world.advance(1500);
  expect(a.exchange.lagMs(peer)).toBe(1500);
  await done([a.register({ name: 'web', id: '2' })]);
  await world.advance(499);
  expect(a.exchange.lagMs(peer)).toBe(1999);
  // The first change is applied, the second is under way.
  await world.advance(1);
  expect(a.exchange.lagMs(peer)).toBe(500);
  await world.advance(2000);
  expect(a.exchange.lagMs(peer)).toBe(0);
});

test('a peer lags for as long as its window is full', async () => {
  await open({ window: 1 });
  const peer = { partition: 'default', name: 'b' };
  await done([a.export([rule('*', 'b')])]);
  new TestStream(world, [a, b], () => 1000);
  await world.advance(4000);
  for (const id of ['1', '2', '3']) {
    await done([a.register({ name: 'web', id })]);
    await world.advance(500);
  }
  // The first is applied after 2 s, the others go together then.
  await world.advance(499);
  expect(a.exchange.lagMs(peer)).toBe(1999);
  await world.advance(2);
  expect(a.exchange.lagMs(peer)).toBe(1501);
  await world.advance(4000);
  expect([a.exchange.lagMs(peer), b.importedFrom('a').length]).toEqual([0, 3]);
});
