import { expect, test } from 'vitest';
import { restoreEffect } from './comparison.ts';

const job = (ID: string, IsWanted: boolean, JobModifyIndex = 1) => ({
  Namespace: 'default',
  ID,
  IsWanted,
  JobModifyIndex,
});
const allocation = (ID: string, IsRunning: boolean) => ({
  ID,
  Namespace: 'default',
  JobID: 'web',
  NodeID: 'n',
  IsRunning,
});
const nothing = { jobs: [], allocations: [] };

/** For each job: how the snapshot has it, how the server has it, and where it is told. */
test.each([
  ['runs in both', [job('a', true)], [job('a', true)], []],
  ['runs in both, registered again', [job('a', true)], [job('a', true, 2)], ['JobsChanged']],
  ['runs in the snapshot alone', [job('a', true)], [], ['JobsBack']],
  ['was stopped since', [job('a', true)], [job('a', false)], ['JobsBack']],
  ['runs on the server alone', [], [job('a', true)], ['JobsStopped']],
  ['was started since', [job('a', false)], [job('a', true)], ['JobsStopped']],
  ['is dead in both', [job('a', false)], [job('a', false, 2)], []],
])('a job that %s', (_, inSnapshot, onServer, told) => {
  const effect = restoreEffect({ ...nothing, jobs: inSnapshot }, { ...nothing, jobs: onServer });
  expect(fieldsIn(effect)).toEqual(told);
});

test.each([
  ['runs in both', [allocation('a', true)], [allocation('a', true)], []],
  ['ended since', [allocation('a', true)], [allocation('a', false)], ['AllocationsBack']],
  ['was collected since', [allocation('a', true)], [], ['AllocationsBack']],
  ['is new', [], [allocation('a', true)], ['AllocationsUnknown']],
  [
    'is over in the snapshot',
    [allocation('a', false)],
    [allocation('a', true)],
    ['AllocationsStopped'],
  ],
  ['ended before', [allocation('a', false)], [], []],
  ['began and ended since', [], [allocation('a', false)], []],
])('an allocation that %s', (_, inSnapshot, onServer, told) => {
  const effect = restoreEffect(
    { ...nothing, allocations: inSnapshot },
    { ...nothing, allocations: onServer },
  );
  expect(fieldsIn(effect)).toEqual(told);
});

const fieldsIn = (effect: object) =>
  Object.entries(effect).flatMap(([field, list]) => (list.length > 0 ? [field] : []));
