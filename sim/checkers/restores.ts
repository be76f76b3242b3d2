import type { Allocation } from '../../src/model/allocation/allocation.ts';
import {
  allocations,
  allTables,
  clusterIdentity,
  clusterVersions,
} from '../../src/state/tables.ts';
import type { Change, Stamps } from '../../src/state/types.ts';
import { type Account, isLive, rowKeyOf } from '../account.ts';
import type { Machine } from '../machine.ts';
import type { Run } from '../run.ts';
import type { Checker, Fault, Scene } from './checker.ts';
import { haveSameText } from './same-text.ts';

/** Tables in which the restore itself writes. */
const ofRestore = new Set([clusterIdentity.name, clusterVersions.name]);
/** Half of the time that is promised, as clocks jump. */
const graceMs = 15 * 60_000;

interface Version {
  readonly index: number;
  /** `undefined`: it was deleted. */
  readonly row: Stamps | undefined;
}

/** After a restore the state has just the rows that it had at the index of the snapshot, with their numbers. */
export const restoresAreWhole = (): Checker => {
  /** All versions of all rows, by table and key, in order. */
  const history = new Map<string, Version[]>();
  const note = (table: string, key: string, version: Version): void => {
    const name = `${table}\0${key}`;
    const versions = history.get(name);
    if (versions === undefined) history.set(name, [version]);
    else versions.push(version);
  };
  const noteAll = (changes: readonly Change[], index: number): void => {
    for (const { table, before, after } of changes) {
      note(table, rowKeyOf(table, (after ?? before)!), { index, row: after });
    }
  };
  /** Notes the rows of a write that nobody heard of. */
  const noteUnheard = (account: Account): void => {
    const there = new Set<string>();
    for (const { name: table, row, key } of rowsOf(account)) {
      const name = `${table}\0${key}`;
      there.add(name);
      if (history.get(name)?.at(-1)?.row?.ModifyIndex === row.ModifyIndex) continue;
      note(table, key, { index: account.index, row });
    }
    for (const [name, versions] of history) {
      if (there.has(name) || versions.at(-1)!.row === undefined) continue;
      versions.push({ index: account.index, row: undefined });
    }
  };
  return {
    guarantee: 'a restore is whole',
    resumed: ({ account }) => noteUnheard(account),
    committed: (changes, index) => noteAll(changes, index),
    restored(changes, index, { account }, fault) {
      const snapshotIndex = account.get(clusterIdentity, 'cluster')?.Restore?.SnapshotIndex;
      if (snapshotIndex === undefined) fault('a restore left no note of itself');
      else compareWith(history, snapshotIndex, account, fault);
      noteAll(changes, index);
    },
  };
};

function* rowsOf(account: Account) {
  for (const definition of allTables) {
    const { name } = definition;
    for (const [key, row] of account.rows(definition)) yield { name, key, row };
  }
}

/** Compares the account with the rows that the history has at the index. */
function compareWith(
  history: ReadonlyMap<string, readonly Version[]>,
  index: number,
  account: Account,
  fault: Fault,
): void {
  const expected = new Map<string, Stamps>();
  for (const [name, versions] of history) {
    const row = versions.findLast((version) => version.index <= index)?.row;
    if (row !== undefined) expected.set(name, row);
  }
  for (const { name: table, key, row } of rowsOf(account)) {
    if (ofRestore.has(table)) continue;
    const name = `${table}\0${key}`;
    const was = expected.get(name);
    expected.delete(name);
    const shown = name.replaceAll('\0', '/');
    if (was === undefined) fault(`${shown} is there after the restore, and was not at ${index}`);
    else if (!haveSameText(was, row)) {
      fault(`${shown} is another one after the restore than at ${index}`);
    }
  }
  for (const name of expected.keys()) {
    if (ofRestore.has(name.split('\0')[0]!)) continue;
    fault(`${name.replaceAll('\0', '/')} was there at ${index}, and is not after the restore`);
  }
}

/**
 * A node keeps an allocation that ran when a snapshot was restored and that the snapshot does not know: half an hour
 * long, whether or not the node heard of the restore before it heard of its allocations.
 */
export const unknownAllocationsGoOn = (): Checker => {
  /** Since when they are unknown, by id. */
  const unknown = new Map<string, number>();
  return {
    guarantee: 'allocations that a restored snapshot does not know go on',
    restored(changes, _index, { elapsedMs }) {
      for (const { table, before, after } of changes) {
        if (table !== allocations.name) continue;
        const { ID } = (after ?? before) as Allocation;
        if (after !== undefined) unknown.delete(ID);
        else if (isLive(before as Allocation)) unknown.set(ID, elapsedMs);
      }
    },
    abandoned({ hardware }: Machine, { id }: Run, { elapsedMs }: Scene, fault) {
      const sinceMs = unknown.get(id);
      if (sinceMs === undefined || elapsedMs - sinceMs >= graceMs) return;
      const afterSeconds = Math.round((elapsedMs - sinceMs) / 1000);
      fault(`${hardware.name} ended ${id} ${afterSeconds} s after a restore`);
    },
  };
};
