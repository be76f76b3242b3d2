import type { Losses } from '../../state/salvage/losses.ts';
import { aclTokens, keyringKeys, variableItems, variables } from '../../state/tables.ts';
import type { Key, Snapshot, Stamps, TableDefinition, Transaction } from '../../state/types.ts';
import { rowsWithoutKey } from '../keyring/rotate.ts';

/** A row that is of no use without a row that is lost. */
export interface DanglingRow {
  readonly table: TableDefinition;
  readonly key: Key;
}

/**
 * Finds the rows that no server could use, since other rows are lost: secrets without the key that seals them, tokens
 * without the key by which they are looked up, variables without their items. Names them as lost.
 */
export function findDangling(
  snapshot: Snapshot,
  losses: Losses,
  hasRootKey: boolean,
): readonly DanglingRow[] {
  const found = new Map<string, DanglingRow>();
  const add = (table: TableDefinition, row: Stamps): void => {
    const key = table.key(row);
    const { name } = table;
    found.set(JSON.stringify([name, key]), { table, key });
    const { ModifyIndex: index } = row;
    losses.addRow({ table: name, key, index, change: 'written', isCertain: true });
  };
  const keys = [...snapshot.table(keyringKeys).scan()];
  if (!hasRootKey) for (const key of keys) add(keyringKeys as unknown as TableDefinition, key);
  const usable = hasRootKey ? keys : [];
  const ids = new Set(usable.map(({ KeyID }) => KeyID));
  for (const [table, row] of rowsWithoutKey(snapshot, ids)) add(table, row);
  if (usable.every(({ Purpose }) => Purpose !== 'fingerprint')) {
    for (const token of snapshot.table(aclTokens).scan()) {
      add(aclTokens as unknown as TableDefinition, token);
    }
  }
  const twins = [variables, variableItems] as unknown as [TableDefinition, TableDefinition];
  for (const [table, twin] of [twins, twins.toReversed() as typeof twins]) {
    for (const row of snapshot.table(table).scan()) {
      const isAlone =
        !snapshot.table(twin).has(...twin.key(row)) ||
        found.has(JSON.stringify([twin.name, twin.key(row)]));
      if (isAlone) add(table, row);
    }
  }
  return [...found.values()];
}

export function dropDangling(transaction: Transaction, rows: readonly DanglingRow[]): void {
  for (const { table, key } of rows) transaction.table(table).delete(...key);
}
