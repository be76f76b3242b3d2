/** Of the checkers of launches and dispatches: what is right passes, and what is wrong is found. */
import { expect, test } from 'vitest';
import { canonicalizeJob } from '../../src/model/job/canonicalize.ts';
import type { Job } from '../../src/model/job/job.ts';
import { jobSummaries, jobs, periodicLaunches } from '../../src/state/tables.ts';
import type { Transaction } from '../../src/state/types.ts';
import { batchWorkIsDoneOnce } from './batch-work.ts';
import { judge, nowMs, type Plant, placed, put, withEvaluation } from './bench.test-helper.ts';
import { tokenDispatchesOnce } from './dispatches.ts';
import { noSlotTwice } from './slots.ts';
import { summariesAddUp } from './summaries.ts';

/** The newest slot of every two minutes. */
const slot = nowMs / 1000;
const step = 120;

const parent = (periodic: object = {}, fields: Partial<Job> = {}): Job => ({
  ...canonicalizeJob({
    ...{ ID: 'p', Type: 'batch' },
    Periodic: { Specs: ['*/2 * * * *'], ...periodic },
  }),
  SubmitTime: (nowMs - 3_600_000) * 1e6,
  ...fields,
});
const withParent =
  (job: Job): Plant =>
  (transaction) => {
    transaction.table(jobs).put(job);
  };
const child = (seconds: number, fields: Partial<Job> = {}): Job => ({
  ...parent(),
  ...{ ID: `p/periodic-${seconds}`, ParentID: 'p', Periodic: null, ...fields },
});
const note = (transaction: Transaction, seconds: number) =>
  transaction
    .table(periodicLaunches)
    .put({ Namespace: 'default', JobID: 'p', Launch: seconds * 1e9 });
const launch =
  (seconds: number, fields: Partial<Job> = {}): Plant =>
  (transaction) => {
    note(transaction, seconds);
    transaction.table(jobs).put(child(seconds, fields));
  };
const leftOut =
  (seconds: number): Plant =>
  (transaction) => {
    note(transaction, seconds);
  };
const byHand =
  (seconds: number): Plant =>
  (transaction) => {
    transaction.table(jobs).put(child(seconds));
  };
const purge =
  (seconds: number): Plant =>
  (transaction) => {
    transaction.table(jobs).delete('default', 'default', `p/periodic-${seconds}`);
  };

const alone = { ProhibitOverlap: true };
const before = slot - step;

test.each<readonly [string, readonly Plant[], readonly string[]]>([
  ['one after the other', [withParent(parent()), launch(before), launch(slot)], []],
  ['by hand, beside the schedule', [withParent(parent()), byHand(before + 7), launch(slot)], []],
  ['one that is left out', [withParent(parent()), leftOut(slot)], []],
  [
    'the same slot again, after its child was forgotten',
    [withParent(parent()), launch(slot), purge(slot), leftOut(slot - 1), launch(slot)],
    [`slot ${slot} of p launches twice`],
  ],
  [
    'what is no slot',
    [withParent(parent()), launch(slot), launch(slot + 7)],
    [`${slot + 7} is no slot of p`],
  ],
  [
    'too early',
    [withParent(parent()), launch(slot + 1200)],
    [`p/periodic-${slot + 1200} launches 1200 s early`],
  ],
  [
    'an old one of several that were missed',
    [withParent(parent()), launch(slot - 1200), leftOut(slot)],
    [`p/periodic-${slot - 1200} launches 1200 s late, and later slots were due`],
  ],
  [
    'beside one whose task runs',
    [
      withParent(parent(alone)),
      ...[launch(before), put(placed('a', { JobID: `p/periodic-${before}` })), launch(slot)],
    ],
    [`p/periodic-${slot} launches while p/periodic-${before} is not over`],
  ],
  [
    'beside one that waits',
    [
      withParent(parent(alone)),
      ...[launch(before), withEvaluation({ JobID: `p/periodic-${before}`, Status: 'blocked' })],
      launch(slot),
    ],
    [`p/periodic-${slot} launches while p/periodic-${before} is not over`],
  ],
  ['after one that is over', [withParent(parent(alone)), launch(before), launch(slot)], []],
  ['nothing at all', [withParent(parent())], [`slot ${slot - step} of p was never looked at: 0`]],
  ['nothing of one that is stopped', [withParent(parent({}, { Stop: true }))], []],
])('slots: %s', async (_title, plants, faults) => {
  expect(await judge(noSlotTwice(), ...plants)).toEqual(faults);
});

const dispatched = (ID: string, token: string, ParentID = 'p'): Plant =>
  withParent({ ...child(0), ID, ParentID, Dispatched: true, DispatchIdempotencyToken: token });

test.each<readonly [string, readonly Plant[], readonly string[]]>([
  ['other tokens, and none', ['x', 'y', '', ''].map((one, n) => dispatched(`p/${n}`, one)), []],
  ['of another job', [dispatched('p/a', 'x'), dispatched('q/a', 'x', 'q')], []],
  ['twice', [dispatched('p/a', 'x'), dispatched('p/b', 'x')], ['x made p/b beside p/a']],
])('tokens: %s', async (_title, plants, faults) => {
  expect(await judge(tokenDispatchesOnce(), ...plants)).toEqual(faults);
});

const summary =
  (Children: object): Plant =>
  (transaction) => {
    const row = { JobID: 'p', Namespace: 'default', JobCreateIndex: 1, Summary: {}, Children };
    transaction.table(jobSummaries).put(row as never);
  };

test('children are counted, and a pattern is running', async () => {
  const faults = await judge(
    summariesAddUp(),
    withParent(parent({}, { Status: 'dead' })),
    summary({ Pending: 1, Running: 0, Dead: 0 }),
  );
  expect(faults).toEqual([
    ...['p tells of 1 pending children, and there are 0', 'p is dead and should be running'],
  ]);
});

test('a pattern has no work of its own, and its children have theirs', async () => {
  const group = canonicalizeJob({
    ...{ ID: 'x', Type: 'batch' },
    TaskGroups: [{ Name: 'g', Count: 1, Tasks: [{ Name: 't', Driver: 'mock' }] }],
  }).TaskGroups;
  const old = { TaskGroups: group, SubmitTime: (nowMs - 3_600_000) * 1e6 };
  const new_ = { ...old, SubmitTime: nowMs * 1e6 };
  const plants = [withParent(parent({}, old)), launch(before, old), launch(slot, new_)];
  expect(await judge(batchWorkIsDoneOnce(), ...plants)).toEqual([
    `p/periodic-${before}.g was done 0 times and is wanted 1 times`,
  ]);
});
