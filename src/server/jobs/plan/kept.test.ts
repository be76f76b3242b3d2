import { beforeEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import { canonicalizeJob } from '../../../model/job/canonicalize.ts';
import { webJob } from '../../../model/job/sample.test-helper.ts';
import { limits } from '../../../model/limits.ts';
import { nothingPlanned } from '../../../model/plan/outline.ts';
import { type KeptPlan, KeptPlans } from './kept.ts';

let world: SimulatedWorld;
let plans: KeptPlans;
beforeEach(() => {
  world = new SimulatedWorld(1);
  plans = new KeptPlans(world.clock);
});

const job = canonicalizeJob(webJob);
const plan = (id: string, bytes = 1): KeptPlan => ({
  id,
  job,
  bytes,
  jobModifyIndex: 0,
  outline: nothingPlanned,
  ids: [],
});
const { keptMax, keptMs, keptBytesMax } = limits.plan;

test('a plan is taken once, unless it is put back', () => {
  plans.keep(plan('a'));
  const entry = plans.take('a', job)!;
  expect([entry.plan.id, plans.take('a', job)]).toEqual(['a', undefined]);
  plans.putBack(entry);
  expect(plans.take('a', job)).toBe(entry);
});

test('a plan is kept for one job alone', () => {
  plans.keep(plan('a'));
  expect(plans.take('a', { ...job, ID: 'other' })).toBeUndefined();
  expect(plans.take('a', { ...job, Namespace: 'other' })).toBeUndefined();
  expect(plans.take('a', job)).toBeDefined();
});

test('a plan is dropped after a while, however often it was put back', async () => {
  plans.keep(plan('a'));
  await world.advance(keptMs - 1);
  plans.putBack(plans.take('a', job)!);
  await world.advance(1);
  expect(plans.take('a', job)).toBeUndefined();
});

test('the oldest plans are dropped when there are too many or they are too large together', () => {
  for (let number = 0; number <= keptMax; number++) plans.keep(plan(`p${number}`));
  expect(plans.take('p0', job)).toBeUndefined();
  expect(plans.take('p1', job)).toBeDefined();
  plans.keep(plan('large', keptBytesMax));
  expect(plans.take('p2', job)).toBeUndefined();
  expect(plans.take('large', job)).toBeDefined();
  plans.keep(plan('small'));
  expect(plans.take('small', job)).toBeDefined();
});
