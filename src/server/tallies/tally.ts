import type { AnyDefinition } from '../../state/table.ts';
import type { Stamps } from '../../state/types.ts';

/** Counts of the rows of a table, which follow their changes. */
export abstract class Tally<R extends Stamps> {
  abstract readonly table: AnyDefinition;

  /** Counts a row, or with -1 takes its count back. */
  protected abstract count(row: R, by: 1 | -1): void;

  /** The row was stored before the counting began. */
  load(row: R): void {
    this.count(row, 1);
  }

  /** The new row is counted first, so that no group of rows is without rows in between. */
  change(before: R | undefined, after: R | undefined): void {
    if (after !== undefined) this.count(after, 1);
    if (before !== undefined) this.count(before, -1);
  }
}

/** The position of each name in a list. */
export const columnsOf = <N extends string>(names: readonly N[]): Readonly<Record<N, number>> =>
  Object.fromEntries(names.map((name, at) => [name, at])) as Record<N, number>;
