import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { World } from '../../base/ports.ts';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { type Allocation, AllocationSchema } from '../../model/allocation/allocation.ts';
import { complete } from '../../model/complete.ts';
import { type Evaluation, EvaluationSchema } from '../../model/evaluation/evaluation.ts';
import { limits } from '../../model/limits.ts';
import { memoryState } from '../../state/state.test-helper.ts';
import { allocations, allTables, evaluations } from '../../state/tables.ts';
import { byJob, Counts, jobLabel } from './counts.ts';
import { Tallies } from './tallies.ts';

const allocation = (ID: string, fields: Partial<Allocation> = {}): Allocation =>
  complete(AllocationSchema, { ID, Namespace: 'default', JobID: 'web', NodeID: 'n', ...fields });

async function setUp(count = 0) {
  const world = new SimulatedWorld(1);
  const state = await memoryState(allTables, world);
  const put = async (rows: readonly Allocation[]) => {
    const written = state.write((transaction) => {
      for (const row of rows) transaction.table(allocations).put(row);
    });
    await world.advance(0);
    await written;
  };
  await put(Array.from({ length: count }, (_, at) => allocation(`a${at}`)));
  return { world, state, put };
}

const statusesOf = ({ counts, statuses }: Awaited<ReturnType<Tallies['read']>>['allocations']) =>
  Array.from(counts.groups(), ({ labels, values }) => [
    labels.job_id,
    ...Object.values(statuses).map((at) => values[at]),
  ]);

test('T2: changes during the count from scratch are neither lost nor counted twice', async () => {
  const { world, state, put } = await setUp(1000);
  // Each look at the clock takes as long as a slice, and each pause lasts until it is ended.
  let nowMs = 0;
  const pauses: (() => void)[] = [];
  const slow = {
    ...world,
    clock: { ...world.clock, monotonicMs: () => (nowMs += limits.metrics.sliceMs) },
    timers: { ...world.timers, soon: (run: () => void) => pauses.push(run) },
  } as unknown as World;
  const tallies = new Tallies({ state, world: slow });
  let isDone = false;
  const read = tallies.read().then((found) => {
    isDone = true;
    return found;
  });
  await put([allocation('a0', { ClientStatus: 'failed' }), allocation('new')]);
  const deleted = state.write((transaction) =>
    transaction.table(allocations).delete('default', 'default', 'a1'),
  );
  await world.advance(0);
  await deleted;
  expect(isDone).toBe(false);
  while (!isDone) {
    pauses.shift()?.();
    await world.advance(0);
  }
  expect(statusesOf((await read).allocations)).toEqual([['web', 999, 0, 0, 1, 0, 0]]);
});

test('T1: counts and oldest evaluations equal a count from scratch', async () => {
  const step = fc.record({
    at: fc.nat(5),
    status: fc.constantFrom('pending', 'blocked', 'complete', 'failed', undefined),
    createdMs: fc.nat(9),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step), async (steps) => {
      const { world, state } = await setUp();
      const tallies = new Tallies({ state, world });
      for (const { at, status, createdMs } of steps) {
        const ID = `e${at}`;
        const written = state.write((transaction) => {
          const table = transaction.table(evaluations);
          if (status === undefined) table.delete('default', 'default', ID);
          else {
            const before = table.get('default', 'default', ID);
            const CreateTime = before?.CreateTime ?? createdMs * 1e6;
            const fields = { ID, Namespace: 'default', JobID: 'web', Status: status, CreateTime };
            table.put(complete(EvaluationSchema, fields) as Evaluation);
          }
        });
        await world.advance(0);
        await written;
      }
      const rows = [...state.read().table(evaluations).scan()];
      const found = (await tallies.read()).evaluations;
      for (const [column, status] of found.columns.entries()) {
        expect(found.values[column]).toBe(rows.filter((row) => row.Status === status).length);
      }
      for (const status of ['pending', 'blocked'] as const) {
        const times = rows
          .filter((row) => row.Status === status)
          .map((row) => row.CreateTime / 1e6);
        expect(found.oldestMs(status)).toBe(times.length === 0 ? undefined : Math.min(...times));
      }
    }),
  );
});

test('with too many jobs the namespaces are told, and the sums stay', () => {
  const counts = new Counts(1, byJob);
  const most = limits.metrics.jobsMax;
  for (let at = 0; at < most; at++) {
    counts.at('default', `j${at}`).add(0, 2);
    counts.at('default', `j${at}`).hold(1);
  }
  expect([counts.isLimited, [...counts.groups()].length]).toEqual([false, most]);
  counts.at('other', 'last').add(0, 1);
  counts.at('other', 'last').hold(1);
  const told = Array.from(counts.groups(), ({ labels, values }) => [labels, values[0]]);
  expect([counts.isLimited, told]).toEqual([
    true,
    [
      [{ namespace: 'default' }, 2 * most],
      [{ namespace: 'other' }, 1],
    ],
  ]);
  counts.at('other', 'last').add(0, -1);
  counts.at('other', 'last').hold(-1);
  expect([counts.isLimited, [...counts.groups()].length]).toEqual([false, most]);
});

test.each([
  ['web', 'web'],
  ['daily/periodic-1767225600', 'daily'],
  ['work/dispatch-1767225600-0a1b2c3d', 'work'],
  ['work/dispatch-1-a/periodic-2', 'work'],
  ['a/b', 'a/b'],
])('the job %s counts as %s', (id, label) => {
  expect(jobLabel(id)).toBe(label);
});
