import type { Step } from './ordered-index.ts';
import type { AnyTable } from './table.ts';
import type { Key, Stamps } from './types.ts';

/** One row's change, as the machinery hands it on. */
export interface RowChange {
  readonly table: AnyTable;
  readonly key: Key;
  readonly before: Stamps | undefined;
  readonly after: Stamps | undefined;
}

/** A transaction that changed rows, with the steps that tell which watches it concerns. */
export interface Transacted {
  readonly index: number;
  readonly changes: readonly RowChange[];
  readonly steps: readonly Step[];
}
