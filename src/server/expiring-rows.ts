import type { Stamps, TableDefinition, Transaction } from '../state/types.ts';

/** A row that ends at a time of its own. */
export interface Expiring extends Stamps {
  /** Unix milliseconds. */
  readonly ExpireMs: number;
}

export interface Room {
  readonly nowMs: number;
  readonly rowsMax: number;
  /** Rows that are removed on the way to room for one more. */
  readonly removedMax: number;
}

/** Makes room for another row: removes rows that have expired and, above the bound, those that expire first. */
export function makeRoom<R extends Expiring>(
  transaction: Transaction,
  definition: TableDefinition<R, 'expiry'>,
  { nowMs, rowsMax, removedMax }: Room,
): void {
  const table = transaction.table(definition);
  const old: R[] = [];
  for (const row of table.by('expiry').scan()) {
    const isOver = row.ExpireMs <= nowMs || table.size - old.length >= rowsMax;
    if (!isOver || old.length === removedMax) break;
    old.push(row);
  }
  for (const row of old) table.delete(...definition.key(row));
}
