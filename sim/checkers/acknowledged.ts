import { allTables, deployments, jobs, jobVersions, nodes } from '../../src/state/tables.ts';
import type { Snapshot, Stamps } from '../../src/state/types.ts';
import type { Account } from '../account.ts';
import type { Checker, Fault, Scene } from './checker.ts';

/** Rows of these are compared whole each time; of the others, some. */
const important = new Set([jobs, jobVersions, nodes, deployments].map(({ name }) => name));
const sampledOneIn = 16;

/**
 * What a writer was told is durable when it is told, and is there after every restart, whole, with
 * all that had been committed before it. Only the one write that nobody was told of may be there
 * besides.
 */
export const noAcknowledgedWriteLost = (): Checker & {
  /** A write was answered, and says that it was done by this index. */
  readonly answered: (index: number, what: string, account: Account, fault: Fault) => void;
} => {
  let starts = 0;
  return {
    guarantee: 'no acknowledged write is lost',
    answered(index, what, account, fault) {
      if (index > account.index) fault(`${what} was answered with ${index} at ${account.index}`);
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

/** Holds every row of the view against the account. */
export function compare(
  account: Account,
  view: Snapshot,
  isSampled: (row: number) => boolean,
  fault: Fault,
): void {
  if (view.index < account.index) {
    fault(`the state is at ${view.index}, and ${account.index} was committed`);
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
    // What was written last, and told to nobody, may have changed or removed some.
    if (view.index === account.index && found !== known.size) {
      fault(`${known.size} rows of ${definition.name} were committed and ${found} are there`);
    }
  }
}

function differenceOf(
  was: Stamps | undefined,
  is: Stamps,
  looksClosely: boolean,
): string | undefined {
  if (was === undefined) return `was never committed, and is there of ${is.ModifyIndex}`;
  if (was.ModifyIndex !== is.ModifyIndex) {
    return `was committed at ${was.ModifyIndex} and is there of ${is.ModifyIndex}`;
  }
  if (!looksClosely || was === is || JSON.stringify(was) === JSON.stringify(is)) return undefined;
  return `is not what was committed at ${was.ModifyIndex}`;
}
