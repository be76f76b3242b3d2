import { beforeEach, expect, test } from 'vitest';
import { Rollout } from '../support/rollout.ts';

const second = 1000;
let rollout: Rollout;
beforeEach(async () => {
  rollout = await Rollout.start();
  rollout.fate = () => 'failed';
});

const hour = 3600 * 1e9;
const evaluate = async () => {
  const body = { JobID: 'web', EvalOptions: { ForceReschedule: true } };
  expect((await rollout.api.call('PUT', '/v1/job/web/evaluate', { body })).status).toBe(200);
};

/** The delays before the allocations of the job, in nanoseconds, the first allocation first. */
const delays = async () => {
  const all = await rollout.allocations();
  const known = all.map(({ RescheduleTracker }) => RescheduleTracker?.Events ?? []);
  return known.sort((a, b) => a.length - b.length).map((events) => events.at(-1)?.Delay);
};

test.each([
  ['exponential', { MaxParallel: 0 }, [undefined, hour, 2 * hour, 4 * hour]],
  ['exponential', { MaxParallel: 1 }, [undefined, hour, 2 * hour, 4 * hour]],
  ['fibonacci', { MaxParallel: 0 }, [undefined, hour, hour, 2 * hour]],
  ['constant', { MaxParallel: 0 }, [undefined, hour, hour, hour]],
] as const)(
  '%s delays go on after forced attempts (%j)',
  async (DelayFunction, Update, expected) => {
    const ReschedulePolicy = { Delay: hour, DelayFunction, MaxDelay: 9 * hour, Unlimited: true };
    await rollout.register('0', Update, { Count: 1, ReschedulePolicy });
    for (let placed = 1; placed <= expected.length; placed++) {
      await rollout.pass(20 * second);
      expect(await delays()).toEqual(expected.slice(0, placed));
      if (placed < expected.length) await evaluate();
    }
  },
);
