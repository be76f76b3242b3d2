/**
 * Rows that are alike are written as differences, so that a thousand allocations of a plan take little more than
 * their ids, and a change of one field little more than that field.
 *
 * Where the table says that its rows are alike (`TableDefinition.alike`), a row is written as
 *  - `{"~": -1, ...fields}`, with the fields that differ from the row that was at its key,
 *  - `{"~": 0, ...fields}`, with the fields that differ from the row of the table that was written before it in the
 *    same transaction, or in the same snapshot,
 *  - the whole row where there is no such row, or where the two have other fields or another order of them.
 *
 * The row that was at the key has been lifted to the newest version of the table already. So an `upcast` of such a table
 * must accept a row of which some fields have the newest form.
 */
import { StateCorrupted } from './errors.ts';
import type { AnyTable } from './table.ts';
import type { Stamps } from './types.ts';

type Row = Readonly<Record<string, unknown>>;

const mark = '~';
const fromBefore = -1;
const fromAbove = 0;

export class AlikeWriter {
  readonly #above = new Map<AnyTable, Stamps>();

  /** The row as a difference, if it is written as one. `before`: the row in its place, if the reader has it. */
  difference(
    table: AnyTable,
    row: Stamps,
    before: Stamps | undefined,
  ): Record<string, unknown> | undefined {
    if (table.definition.alike !== true) return undefined;
    const above = this.#above.get(table);
    this.#above.set(table, row);
    if (before !== undefined) return differenceOf(row, before, fromBefore);
    return above && differenceOf(row, above, fromAbove);
  }
}

/** `undefined`: the rows do not have the same fields in the same order. */
function differenceOf(
  row: object,
  base: object,
  from: number,
): Record<string, unknown> | undefined {
  const others = Object.keys(base);
  const difference: Record<string, unknown> = { [mark]: from };
  let at = 0;
  // Costs less than a list of the fields.
  for (const field in row) {
    if (others[at++] !== field) return undefined;
    const value = (row as Row)[field];
    const other = (base as Row)[field];
    if (value === other) continue;
    // A field that is undefined is not stored.
    if (value === undefined || other === undefined) return undefined;
    difference[field] = value;
  }
  if (at !== others.length) return undefined;
  return difference;
}

export class AlikeReader {
  readonly #above = new Map<object, Row>();

  /** The whole row. `before`: the row in its place. @throws StateCorrupted */
  whole(table: object, stored: Row, before: object | undefined, place: string): Row {
    const row = stored[mark] === undefined ? stored : this.#completed(table, stored, before, place);
    this.#above.set(table, row);
    return row;
  }

  /** Forgets the rows above, since the next one is not the one that was written after them. */
  forgetAbove(): void {
    this.#above.clear();
  }

  #completed(table: object, stored: Row, before: object | undefined, place: string): Row {
    const base = stored[mark] === fromBefore ? before : this.#above.get(table);
    if (base === undefined)
      throw new StateCorrupted(place, 'the row that a row is like is not there');
    const row: Record<string, unknown> = { ...base };
    for (const field in stored) if (field !== mark) row[field] = stored[field];
    return row;
  }
}
