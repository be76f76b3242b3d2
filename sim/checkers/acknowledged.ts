import { allTables, deployments, jobs, jobVersions, nodes } from '../../src/state/tables.ts';
import type { Snapshot, Stamps } from '../../src/state/types.ts';
import type { Account } from '../account.ts';
import type { Checker, Fault, Scene } from './checker.ts';
import { haveSameText } from './same-text.ts';

/** Tables whose rows are all compared in full. Other tables are sampled. */
const important = new Set([jobs, jobVersions, nodes, deployments].map(({ name }) => name));
const sampledOneIn = 16;

/**
 * A write is durable before it is acknowledged, and is there after every restart, with all commits before it.
 * In addition there may be the last write that was not acknowledged.
 */
export const noAcknowledgedWriteLost = (): Checker & {
  /** Called when a request was answered with the index of its write. */
  readonly answered: (index: number, request: string, account: Account, fault: Fault) => void;
} => {
  let starts = 0;
  return {
    guarantee: 'no acknowledged write is lost',
    answered(index, request, account, fault) {
      if (index <= account.index) return;
      fault(`${request} was answered with ${index}, but only ${account.index} was durable`);
    },
    restarted({ account, view }, fault) {
      starts++;
      compare(account, view, (row) => row % sampledOneIn === starts % sampledOneIn, fault);
    },
    rested({ account, view }: Scene, fault) {
      compare(account, view, () => true, fault);
    },
  };
};

/** Compares every row of the view with the account. */
export function compare(
  account: Account,
  view: Snapshot,
  isSampled: (row: number) => boolean,
  fault: Fault,
): void {
  if (view.index < account.index) {
    fault(`the state is at ${view.index}, but ${account.index} was committed`);
    return;
  }
  for (const definition of allTables) {
    const known = account.rows(definition);
    let found = 0;
    let number = 0;
    for (const row of view.table(definition).scan()) {
      number++;
      if (row.ModifyIndex > account.index) continue;
      const key = definition.key(row).join('\0');
      const was = known.get(key);
      if (was !== undefined) found++;
      const looksClosely = important.has(definition.name) || isSampled(number);
      const difference = differenceOf(was, row, looksClosely);
      if (difference !== undefined)
        fault(`${definition.name} ${key.replaceAll('\0', '/')}: ${difference}`);
    }
    // The last write, which was not acknowledged, may have changed or removed rows.
    if (view.index === account.index && found !== known.size) {
      fault(`${known.size} rows of ${definition.name} were committed, but ${found} are there`);
    }
  }
}

function differenceOf(
  was: Stamps | undefined,
  is: Stamps,
  looksClosely: boolean,
): string | undefined {
  if (was === undefined) return `is there with index ${is.ModifyIndex}, but was never committed`;
  if (was.ModifyIndex !== is.ModifyIndex) {
    return `was committed at ${was.ModifyIndex}, but has index ${is.ModifyIndex}`;
  }
  if (!looksClosely || haveSameText(was, is)) return undefined;
  return `differs from the commit at ${was.ModifyIndex}`;
}
