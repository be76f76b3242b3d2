import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import { complete } from '../../../model/complete.ts';
import { limits } from '../../../model/limits.ts';
import {
  type ServicesReport,
  ServicesReportSchema,
} from '../../../model/service-registration/service-registration.ts';
import { ServiceReporter } from './service-reporter.ts';

const report = (AllocID: string, ...names: string[]): ServicesReport =>
  complete(ServicesReportSchema, {
    AllocID,
    Services: names.map((ServiceName) => ({ ID: `${AllocID}-${ServiceName}`, ServiceName })),
  });

/** Servers that accept reports, or answer as `answer` says. */
function setUp(answer: (batch: readonly ServicesReport[]) => number | undefined = () => undefined) {
  const world = new SimulatedWorld(7);
  const batches: string[][] = [];
  const refused: string[] = [];
  const errors: unknown[] = [];
  const reporter = new ServiceReporter({
    ...world,
    send: async (batch) => {
      batches.push(batch.map(({ AllocID, Services }) => `${AllocID}:${Services.length}`));
      const status = answer(batch);
      if (status !== undefined) throw Object.assign(new Error(`answered ${status}`), { status });
    },
    onError: (error) => errors.push(error),
    onRefused: ({ AllocID }) => refused.push(AllocID),
  });
  return { world, reporter, batches, refused, errors };
}
const { batchDelayMs } = limits.service;

test('changes at about the same time go together, and only the newest of each', async () => {
  const { world, reporter, batches } = setUp();
  reporter.report(report('a', 'web'));
  await world.advance(batchDelayMs - 1);
  reporter.report(report('b', 'web'));
  reporter.report(report('a', 'web', 'api'));
  expect(batches).toEqual([]);
  await world.advance(1);
  expect(batches).toEqual([['a:2', 'b:1']]);
  await world.advance(60_000);
  expect(batches).toHaveLength(1);
});

test('batches keep their distance, however often something changes', async () => {
  const { world, reporter, batches } = setUp();
  for (let n = 0; n < 1000; n++) {
    reporter.report(report('a', `web-${n}`));
    await world.advance(1);
  }
  await world.advance(batchDelayMs);
  expect(batches.length).toBeLessThanOrEqual(1000 / batchDelayMs + 1);
});

test('while servers are away reports are repeated, with growing pauses, and the newest arrives', async () => {
  let isAway = true;
  const { world, reporter, batches, errors } = setUp(() => (isAway ? 503 : undefined));
  reporter.report(report('a', 'web'));
  await world.advance(60_000);
  expect(batches.length).toBeGreaterThan(5);
  expect(batches.length).toBeLessThan(25);
  expect(errors).toHaveLength(batches.length);
  reporter.report(report('a'));
  isAway = false;
  await world.advance(limits.service.retryMaxMs + batchDelayMs);
  expect(batches.at(-1)).toEqual(['a:0']);
  expect(reporter.waiting).toBe(0);
});

test('a refused set keeps no other from being reported', async () => {
  const { world, reporter, batches, refused } = setUp((batch) =>
    batch.some(({ AllocID }) => AllocID === 'b') ? 400 : undefined,
  );
  for (const id of ['a', 'b', 'c']) reporter.report(report(id, 'web'));
  await world.advance(1000);
  expect(batches).toEqual([['a:1', 'b:1', 'c:1'], ['a:1'], ['b:1'], ['c:1']]);
  expect(refused).toEqual(['b']);
  expect(reporter.waiting).toBe(0);
});

test('batches are bounded in size', async () => {
  const { world, reporter, batches } = setUp();
  const long = 'x'.repeat(limits.service.batchBytes / 3);
  for (const id of ['a', 'b', 'c', 'd']) {
    const [service] = report(id, 'web').Services;
    reporter.report({ AllocID: id, Services: [{ ...service!, Tags: [long] }] });
  }
  await world.advance(1000);
  expect(batches).toEqual([
    ['a:1', 'b:1'],
    ['c:1', 'd:1'],
  ]);
});

test('everything is reported again when the servers may have lost it', async () => {
  const { world, reporter, batches } = setUp();
  reporter.report(report('a', 'web'));
  reporter.report(report('b', 'web'));
  reporter.report(report('gone'));
  await world.advance(1000);
  reporter.repeat();
  await world.advance(1000);
  expect(batches).toEqual([
    ['a:1', 'b:1', 'gone:0'],
    ['a:1', 'b:1', 'gone:0'],
  ]);
});

test('an older set that arrives late is replaced: all are sent again, empty sets once', async () => {
  const { world, reporter, batches } = setUp();
  /** The number of times that each set was sent in the time of a repetition. */
  const sent = async () => {
    await world.advance(limits.service.repeatMs + batchDelayMs);
    const all = batches.splice(0).flat();
    return ['a:1', 'gone:0'].map((set) => all.filter((one) => one === set).length);
  };
  for (let round = 0; round < 2; round++) {
    reporter.report(report('a', 'web'));
    reporter.report(report('gone'));
    const [first, later] = [await sent(), await sent()];
    expect(first[0]).toBeGreaterThan(1);
    expect(later[0]).toBeGreaterThan(0);
    expect([first[1], later[1]]).toEqual([2, 0]);
  }
});

test('a wait for the servers is bounded', async () => {
  let isAway = false;
  const { world, reporter } = setUp(() => (isAway ? 503 : undefined));
  const seen: string[] = [];
  reporter.report(report('a'));
  void reporter.told('a', 500).then(() => seen.push('a'));
  await world.advance(batchDelayMs);
  expect(seen).toEqual(['a']);
  isAway = true;
  reporter.report(report('b'));
  void reporter.told('b', 500).then(() => seen.push('b'));
  await world.advance(499);
  expect(seen).toEqual(['a']);
  await world.advance(1);
  expect(seen).toEqual(['a', 'b']);
});

test('waiting sets are sent once more at the end', async () => {
  const { world, reporter, batches } = setUp();
  reporter.report(report('a'));
  const stopped = reporter.stop(1000);
  await world.advance(0);
  await stopped;
  expect(batches).toEqual([['a:0']]);
});
