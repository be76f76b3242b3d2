/** Tests of the checkers of the state: indexes, durability and summaries. */
import { expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { allocations } from '../../src/state/tables.ts';
import type { Change } from '../../src/state/types.ts';
import { Account } from '../account.ts';
import { noAcknowledgedWriteLost } from './acknowledged.ts';
import type { Checker } from './checker.ts';
import { indexOnlyRises } from './index-rises.ts';
import {
  faultsOf,
  placed,
  put,
  service,
  testChecker,
  withJob,
  withNode,
} from './planted.test-helper.ts';
import { everyServerShowsTheLog } from './replicas.ts';
import { summariesAddUp } from './summaries.ts';

testChecker(summariesAddUp, [
  [
    'a job has no summary and the wrong status',
    [withJob(service(1)), put(placed('a'))],
    ['job has no summary', 'job is pending and should be running'],
  ],
]);

test('the index only rises', async () => {
  const checker = indexOnlyRises();
  expect(await faultsOf(checker, withNode('n1'), put(placed('a')))).toEqual([]);
  expect(await faultsOf(checker, withNode('n1'))).toContain('index 1 was committed after 2');
});

test('a server applies other changes than the log has, or a commit that is not in the log', () => {
  const faults: string[] = [];
  const fault = (sentence: string) => faults.push(sentence);
  const replicas = everyServerShowsTheLog();
  const change = { table: 'nodes', before: undefined, after: { CreateIndex: 1, ModifyIndex: 1 } };
  replicas.committed!([change], 1, undefined as never, fault);
  replicas.heard(0, [change], 1, fault);
  expect(faults).toEqual([]);
  replicas.heard(1, [], 1, fault);
  replicas.heard(2, [change], 2, fault);
  expect(faults).toEqual([
    'server 1 applied other changes at 1 than the log has',
    'server 2 applied commit 2, which is not in the log',
  ]);
});

test('a server takes in a snapshot in place of commits, and it lacks a row, or has another', () => {
  const row = (ID: string, index: number) => ({ ID, CreateIndex: 1, ModifyIndex: index });
  const change = (ID: string, before: number | undefined, after: number | undefined) => ({
    table: 'nodes',
    before: before === undefined ? undefined : row(ID, before),
    after: after === undefined ? undefined : row(ID, after),
  });
  const leap = (...changes: readonly Change[]) => {
    const faults: string[] = [];
    const fault = (sentence: string) => faults.push(sentence);
    const replicas = everyServerShowsTheLog();
    const commit = (index: number, ...made: readonly Change[]) =>
      replicas.committed!(made, index, undefined as never, fault);
    commit(1, change('a', undefined, 1));
    commit(2, change('a', 1, 2), change('b', undefined, 2));
    commit(3, change('c', undefined, 3));
    commit(4, change('c', 3, undefined), change('b', 2, 4), change('d', 1, 4));
    replicas.restored!([change('d', 4, 1)], 5, undefined as never, fault);
    replicas.joined(0, 1);
    replicas.heard(0, changes, 5, fault);
    return faults;
  };
  expect(leap(change('b', undefined, 4), change('a', 1, 2))).toEqual([]);
  expect(leap(change('a', 1, 2))).toEqual(['server 0 leapt to 5: nodes/b did not change']);
  expect(leap(change('a', 1, 2), change('b', undefined, 2))).toEqual([
    'server 0 leapt to 5: nodes/b differs from the log',
  ]);
  expect(leap(change('a', 1, 2), change('b', undefined, 4), change('c', undefined, 3))).toEqual([
    'server 0 leapt to 5: nodes/c changed, which the log does not say',
  ]);
});

test('a write is acknowledged before it is durable', () => {
  const faults: string[] = [];
  const account = new Account();
  account.index = 5;
  const { answered } = noAcknowledgedWriteLost();
  answered(5, 'PUT /v1/jobs', account, (sentence) => faults.push(sentence));
  expect(faults).toEqual([]);
  answered(6, 'PUT /v1/jobs', account, (sentence) => faults.push(sentence));
  expect(faults).toEqual(['PUT /v1/jobs was answered with 6, but only 5 was durable']);
});

test('a restart loses, invents and changes rows', async () => {
  const restart: Checker = {
    guarantee: '',
    rested({ account, ...scene }, fault) {
      const before = new Account();
      before.reset(scene.view);
      const rows = before.rows(allocations) as Map<string, Allocation>;
      const [[invented], [changed, row]] = [...rows] as [[string], [string, Allocation]];
      rows.delete(invented);
      rows.set(changed, { ...row, ModifyIndex: 1 });
      rows.set('lost', row);
      noAcknowledgedWriteLost().restarted!({ account: before, ...scene }, fault);
    },
  };
  expect(await faultsOf(restart, withNode('n1'), put(placed('a'), placed('b')))).toEqual([
    'allocations default/default/a: is there with index 2, but was never committed',
    'allocations default/default/b: was committed at 1, but has index 2',
    '2 rows of allocations were committed, but 1 are there',
  ]);
});
