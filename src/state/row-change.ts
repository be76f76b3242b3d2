import type { AnyTable } from './table.ts';
import type { Key, Stamps } from './types.ts';

/** The change of a row within the state. Listeners get a `Change`. */
export interface RowChange {
  readonly table: AnyTable;
  readonly key: Key;
  readonly before: Stamps | undefined;
  readonly after: Stamps | undefined;
}

/** A transaction that changed rows. Its changes find the watches that it wakes. */
export interface Transacted {
  readonly index: number;
  readonly changes: readonly RowChange[];
}
