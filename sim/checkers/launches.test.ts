/** Tests of the checkers of periodic launches, dispatches and their children. */
import { canonicalizeJob } from '../../src/model/job/canonicalize.ts';
import type { Job } from '../../src/model/job/job.ts';
import { jobSummaries, jobs, periodicLaunches } from '../../src/state/tables.ts';
import type { Transaction } from '../../src/state/types.ts';
import { batchWorkIsDoneOnce } from './batch-work.ts';

import { tokenDispatchesOnce } from './dispatches.ts';
import {
  nowMs,
  type Plant,
  placed,
  put,
  restoreTo,
  testChecker,
  withEvaluation,
} from './planted.test-helper.ts';
import { noSlotTwice } from './slots.ts';
import { summariesAddUp } from './summaries.ts';

/** The newest slot of every two minutes. */
const slot = nowMs / 1000;
const step = 120;

const parent = (periodic: object = {}, fields: Partial<Job> = {}): Job => ({
  ...canonicalizeJob({
    ID: 'p',
    Type: 'batch',
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
  ID: `p/periodic-${seconds}`,
  ParentID: 'p',
  Periodic: null,
  ...fields,
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

testChecker(noSlotTwice, [
  ['two slots after each other', [withParent(parent()), launch(before), launch(slot)], []],
  ['a forced launch', [withParent(parent()), byHand(before + 7), launch(slot)], []],
  ['a skipped slot', [withParent(parent()), leftOut(slot)], []],
  [
    'a slot again after a restore that forgot it',
    [withParent(parent()), launch(slot), restoreTo(1), launch(slot)],
    [],
  ],
  [
    'a slot again after a restore that knows it',
    [withParent(parent()), launch(slot), purge(slot), restoreTo(3), launch(slot)],
    [`slot ${slot} of p launches twice`],
  ],
  [
    'the same slot again, after its child was purged',
    [withParent(parent()), launch(slot), purge(slot), leftOut(slot - 1), launch(slot)],
    [`slot ${slot} of p launches twice`],
  ],
  [
    'a time between two slots',
    [withParent(parent()), launch(slot), launch(slot + 7)],
    [`${slot + 7} is not a slot of p`],
  ],
  [
    'a slot before its time',
    [withParent(parent()), launch(slot + 1200)],
    [`p/periodic-${slot + 1200} launches 1200 s early`],
  ],
  [
    'a missed slot that is not the last one',
    [withParent(parent()), launch(slot - 1200), leftOut(slot)],
    [`p/periodic-${slot - 1200} launches 1200 s late, after later slots were due`],
  ],
  [
    'a slot while the task of another child runs',
    [
      withParent(parent(alone)),
      launch(before),
      put(placed('a', { JobID: `p/periodic-${before}` })),
      launch(slot),
    ],
    [`p/periodic-${slot} launches while p/periodic-${before} is active`],
  ],
  [
    'a slot while another child waits for room',
    [
      withParent(parent(alone)),
      launch(before),
      withEvaluation({ JobID: `p/periodic-${before}`, Status: 'blocked' }),
      launch(slot),
    ],
    [`p/periodic-${slot} launches while p/periodic-${before} is active`],
  ],
  [
    'a slot after another child has ended',
    [withParent(parent(alone)), launch(before), launch(slot)],
    [],
  ],
  [
    'no slot of a job',
    [withParent(parent())],
    [`slot ${slot - step} of p was missed: the last one is 0`],
  ],
  ['no slot of a stopped job', [withParent(parent({}, { Stop: true }))], []],
]);

const dispatched = (ID: string, token: string, ParentID = 'p'): Plant =>
  withParent({ ...child(0), ID, ParentID, Dispatched: true, DispatchIdempotencyToken: token });

testChecker(tokenDispatchesOnce, [
  ['different tokens', ['x', 'y', '', ''].map((one, n) => dispatched(`p/${n}`, one)), []],
  ['the same token of two jobs', [dispatched('p/a', 'x'), dispatched('q/a', 'x', 'q')], []],
  [
    'the same token twice',
    [dispatched('p/a', 'x'), dispatched('p/b', 'x')],
    ['x dispatched p/b and p/a'],
  ],
]);

const summary =
  (Children: object): Plant =>
  (transaction) => {
    const row = { JobID: 'p', Namespace: 'default', JobCreateIndex: 1, Summary: {}, Children };
    transaction.table(jobSummaries).put(row as never);
  };

testChecker(summariesAddUp, [
  [
    'a pattern is dead and counts a child that does not exist',
    [withParent(parent({}, { Status: 'dead' })), summary({ Pending: 1, Running: 0, Dead: 0 })],
    ['p counts 1 pending children instead of 0', 'p is dead and should be running'],
  ],
]);

const { TaskGroups } = canonicalizeJob({
  ID: 'x',
  Type: 'batch',
  TaskGroups: [{ Name: 'g', Count: 1, Tasks: [{ Name: 't', Driver: 'mock' }] }],
});
const old = { TaskGroups, SubmitTime: (nowMs - 3_600_000) * 1e6 };
const recent = { TaskGroups, SubmitTime: nowMs * 1e6 };

testChecker(batchWorkIsDoneOnce, [
  [
    'an old child of a pattern did not succeed',
    [withParent(parent({}, old)), launch(before, old), launch(slot, recent)],
    [`p/periodic-${before}.g succeeded 0 times and is wanted 1 times`],
  ],
]);
