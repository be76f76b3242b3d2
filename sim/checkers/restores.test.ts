/** Tests of the checkers of restores. */
import { expect, test } from 'vitest';
import { clusterIdentity, namespaces } from '../../src/state/tables.ts';
import type { Change, Stamps } from '../../src/state/types.ts';
import { Account } from '../account.ts';
import type { Checker, Scene } from './checker.ts';
import { restoresAreWhole, unknownAllocationsGoOn } from './restores.ts';

const namespace = (Name: string, ModifyIndex: number) => ({ Name, CreateIndex: 1, ModifyIndex });

const change = (before: Stamps | undefined, after: Stamps | undefined): Change => ({
  table: namespaces.name,
  before,
  after,
});

/** Lives up to index 3, and restores the snapshot at 2 as these rows. */
function faultsOf(...rows: readonly Stamps[]): readonly string[] {
  const checker = restoresAreWhole();
  const faults: string[] = [];
  const fault = (sentence: string) => faults.push(sentence);
  const [first, second, third] = [namespace('a', 1), namespace('a', 2), namespace('b', 3)];
  checker.committed!([change(undefined, first)], 1, undefined as never, fault);
  checker.committed!([change(first, second)], 2, undefined as never, fault);
  checker.committed!([change(undefined, third)], 3, undefined as never, fault);
  const account = new Account();
  const note = {
    ID: 'of the cluster',
    Restore: { SnapshotIndex: 2 },
    CreateIndex: 4,
    ModifyIndex: 4,
  };
  const identity = { table: clusterIdentity.name, before: undefined, after: note };
  account.apply([identity, ...rows.map((row) => change(undefined, row))], 4);
  checker.restored!([], 4, { account } as Scene, fault);
  return faults;
}

test('a restore lacks a row, has one too many, or another one', () => {
  expect(faultsOf(namespace('a', 2))).toEqual([]);
  expect(faultsOf()).toEqual(['namespaces//a was there at 2, and is not after the restore']);
  expect(faultsOf(namespace('a', 2), namespace('b', 3))).toEqual([
    'namespaces//b is there after the restore, and was not at 2',
  ]);
  expect(faultsOf(namespace('a', 1))).toEqual([
    'namespaces//a is another one after the restore than at 2',
  ]);
});

test('a machine ends an allocation that a restored snapshot does not know', () => {
  const checker: Checker = unknownAllocationsGoOn();
  const faults: string[] = [];
  const fault = (sentence: string) => faults.push(sentence);
  const allocation = (ID: string, ClientStatus: string): Change => ({
    table: 'allocations',
    before: {
      ID,
      Namespace: 'default',
      ClientStatus,
      DesiredStatus: 'run',
      CreateIndex: 1,
      ModifyIndex: 1,
    } as Stamps,
    after: undefined,
  });
  const changes = [allocation('lives', 'running'), allocation('ended', 'complete')];
  const at = (elapsedMs: number) => ({ elapsedMs }) as Scene;
  checker.restored!(changes, 4, at(1000), fault);
  const machine = { hardware: { name: 'node-1' } } as never;
  for (const id of ['ended', 'another']) {
    checker.abandoned!(machine, { id } as never, at(5000), fault);
  }
  checker.abandoned!(machine, { id: 'lives' } as never, at(3_600_000), fault);
  expect(faults).toEqual([]);
  checker.abandoned!(machine, { id: 'lives' } as never, at(5000), fault);
  expect(faults).toEqual(['node-1 ended lives 4 s after a restore']);
});
