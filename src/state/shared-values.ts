/**
 * Values that many rows share are written once. Sharing is by identity, and is there again after
 * loading, so that a million rows take no more room than before.
 *
 * In a transaction a shared field that is the row's own from before is `{"=": -1}`. Else, in a
 * transaction as in a table of a snapshot, its value is `{"=": n, "is": value}` where it stands
 * first, and `{"=": n}` wherever it stands again. Numbers begin at 0 with each transaction and with
 * each table of a snapshot. What a row of an earlier transaction holds in the same field is
 * `{"=": n, "of": key parts}` where it stands first in a transaction.
 *
 * What is found in another row has been lifted to this version of its table already: an `upcast` that
 * changes a shared field sees it as it was and as it is to be.
 */
import { StateCorrupted } from './errors.ts';
import { encodeKey } from './keys.ts';
import type { AnyTable } from './table.ts';
import type { Key, Stamps } from './types.ts';

type Row = Readonly<Record<string, unknown>>;

const asBefore = -1;

interface Reference {
  readonly '=': number;
  readonly is?: object;
  readonly of?: Key;
}

/** A row that holds a value, as long as that is the row at its key. */
interface Holder {
  readonly table: AnyTable;
  readonly field: string;
  readonly parts: Key;
  readonly key: string;
  readonly row: Stamps;
}

/** Which rows hold the values that were written last. */
export class SharedHolders {
  readonly #holders = new Map<object, Holder>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** The key of a row that has the value in that field, now and when its own transaction ended. */
  keyOf(value: object, table: AnyTable, field: string): Key | undefined {
    const holder = this.#holders.get(value);
    if (holder === undefined || holder.table !== table || holder.field !== field) return undefined;
    return table.primary.get(holder.key) === holder.row ? holder.parts : undefined;
  }

  /** The values that have waited longest are forgotten. */
  note(value: object, table: AnyTable, field: string, row: Stamps): void {
    const parts = table.definition.key(row);
    this.#holders.delete(value);
    this.#holders.set(value, { table, field, parts, key: encodeKey(parts), row });
    if (this.#holders.size <= this.#max) return;
    const [oldest] = this.#holders.keys();
    this.#holders.delete(oldest!);
  }
}

export class SharedWriter {
  readonly #numbers = new Map<object, number>();
  readonly #holders: SharedHolders | undefined;
  readonly #written: [value: object, table: AnyTable, field: string, row: Stamps][] = [];

  constructor(holders?: SharedHolders) {
    this.#holders = holders;
  }

  /** The row as JSON. `before`: what it was, where whoever reads this knows. */
  write(table: AnyTable, row: Stamps, before: object | undefined): string {
    if (table.shared.length === 0) return JSON.stringify(row);
    const written: Record<string, unknown> = { ...row };
    for (const field of table.shared) {
      const value = written[field];
      if (typeof value !== 'object' || value === null) continue;
      const was = (before as Row | undefined)?.[field];
      written[field] =
        was === value ? { '=': asBefore } : this.#reference(value, table, field, row);
    }
    return JSON.stringify(written);
  }

  /** What was written may be referred to from now on. */
  end(): void {
    for (const written of this.#written) this.#holders?.note(...written);
  }

  #reference(is: object, table: AnyTable, field: string, row: Stamps): Reference {
    const known = this.#numbers.get(is);
    if (known !== undefined) return { '=': known };
    const number = this.#numbers.size;
    this.#numbers.set(is, number);
    const of = this.#holders?.keyOf(is, table, field);
    if (of !== undefined) return { '=': number, of };
    this.#written.push([is, table, field, row]);
    return { '=': number, is };
  }
}

type SharedTable = Pick<AnyTable, 'shared' | 'at'>;

export class SharedReader {
  readonly #values: unknown[] = [];

  /** Puts the values back into a row of the table that was parsed. */
  read(table: SharedTable, row: unknown, before: object | undefined, place: string): void {
    const written = row as Record<string, unknown>;
    for (const field of table.shared) {
      const reference = written[field] as Reference | null | undefined;
      const number = reference?.['='];
      if (number === undefined) continue;
      if (reference?.is !== undefined) this.#values[number] = reference.is;
      if (reference?.of !== undefined) {
        this.#values[number] = (table.at(encodeKey(reference.of)) as Row | undefined)?.[field];
      }
      const value =
        number === asBefore ? (before as Row | undefined)?.[field] : this.#values[number];
      if (value === undefined) throw new StateCorrupted(place, `a row's ${field} is not there`);
      written[field] = value;
    }
  }
}
