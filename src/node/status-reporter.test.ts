import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { type AllocationReport, AllocationReportSchema } from '../model/allocation/allocation.ts';
import { complete } from '../model/complete.ts';
import { StatusReporter } from './status-reporter.ts';

const report = (ID: string, ClientStatus: AllocationReport['ClientStatus']): AllocationReport =>
  complete(AllocationReportSchema, { ID, ClientStatus });

function setUp() {
  const world = new SimulatedWorld(3);
  const sent: string[] = [];
  const delivered: string[] = [];
  const state = { fail: false };
  const reporter = new StatusReporter({
    ...world,
    clock: world.clock,
    timers: world.timers,
    random: world.random,
    send: async (reports) => {
      if (state.fail) throw new Error('lost');
      const texts = reports.map(({ ID, ClientStatus }) => `${ID}:${ClientStatus}`);
      sent.push(`${world.clock.monotonicMs()} ${texts.join(' ')}`);
    },
    onDelivered: (reports) => delivered.push(...reports.map(({ ID }) => ID)),
    onError: () => {},
  });
  return { world, sent, delivered, state, reporter };
}

test('a changed status is sent at once, mere events within 200 ms', async () => {
  const { world, sent, reporter } = setUp();
  reporter.report(report('a', 'pending'));
  await world.advance(50);
  expect(sent).toEqual([]);
  reporter.report(report('a', 'running'));
  await world.advance(0);
  expect(sent).toEqual(['50 a:running']);
  reporter.report(report('a', 'running'));
  await world.advance(1000);
  expect(sent.slice(1)).toEqual(['250 a:running']);
});

test('after a burst, batches go at a pace and are shared', async () => {
  const { world, sent, reporter } = setUp();
  for (let index = 0; index < 300; index++) {
    reporter.report(report(`a${index}`, 'running'));
    await world.advance(2);
  }
  await world.advance(1000);
  expect(sent.length).toBeLessThanOrEqual(10 + 600 / 20 + 1);
  expect(sent.flatMap((batch) => batch.split(' ').slice(1))).toHaveLength(300);
});

test('a lost server gets the newest report of each when it is back, and nothing twice', async () => {
  const { world, sent, delivered, state, reporter } = setUp();
  state.fail = true;
  reporter.report(report('a', 'running'));
  await world.advance(5_000);
  reporter.report(report('a', 'failed'));
  reporter.report(report('b', 'running'));
  await world.advance(5_000);
  state.fail = false;
  await world.advance(20_000);
  expect(sent.map((batch) => batch.replace(/^\S+ /, ''))).toEqual(['a:failed b:running']);
  expect(delivered).toEqual(['a', 'b']);
  expect(reporter.waiting).toBe(0);
});

test('waiting reports are sent once more at the end', async () => {
  const { world, sent, reporter } = setUp();
  reporter.report(report('a', 'pending'));
  await world.advance(0);
  await reporter.stop(100);
  expect(sent).toEqual(['0 a:pending']);
});
