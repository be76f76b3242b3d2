/**
 * Values that many rows share are written once. Values are shared by identity. Loading restores the
 * sharing, so that a million rows need no more memory than before.
 *
 * The value of a shared field is written as
 *  - `{"=": -1}` if the row had it before the change,
 *  - `{"=": n, "of": key parts}` where it first occurs in a transaction, if the row at that key had it in
 *    the same field since an earlier transaction,
 *  - `{"=": n, "is": value}` where any other value first occurs in a transaction or in a table of a
 *    snapshot,
 *  - `{"=": n}` where it occurs again there.
 * Numbers begin at 0 with each transaction and with each table of a snapshot.
 *
 * A value from another row has been lifted to the newest version of the table already. So an `upcast`
 * that changes a shared field must accept both its old and its new form.
 *
 * Rows of a table may also be written as differences from other rows (`alike-rows.ts`).
 */
import { AlikeReader, AlikeWriter } from './alike-rows.ts';
import { StateCorrupted } from './errors.ts';
import type { Form } from './form.ts';
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

/** A row that holds a value, as long as it is the row at its key. */
interface Holder {
  readonly table: AnyTable;
  readonly field: string;
  readonly parts: Key;
  readonly key: string;
  readonly row: Stamps;
}

/** The rows that hold the values written last. */
export class SharedHolders {
  readonly #holders = new Map<object, Holder>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** The key of a row that has the value in that field, now and at the end of its own transaction. */
  keyOf(value: object, table: AnyTable, field: string): Key | undefined {
    const holder = this.#holders.get(value);
    if (holder === undefined || holder.table !== table || holder.field !== field) return undefined;
    return table.primary.get(holder.key) === holder.row ? holder.parts : undefined;
  }

  /** Notes a row that holds the value. The value noted longest ago is forgotten. */
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
  readonly #form: Form | undefined;
  readonly #holders: SharedHolders | undefined;
  readonly #alike = new AlikeWriter();
  readonly #written: [value: object, table: AnyTable, field: string, row: Stamps][] = [];

  /** `form`: that of the rows; `undefined`: the newest. */
  constructor(form: Form | undefined, holders?: SharedHolders) {
    this.#form = form;
    this.#holders = holders;
  }

  /** The row as JSON. `before`: the row in its place, if the reader has it. */
  write(table: AnyTable, row: Stamps, before: Stamps | undefined): string {
    const stored = this.#form === undefined ? row : this.#form.written(table, row);
    const isNewest = this.#form?.versionOf(table) === table.definition.version;
    const difference =
      this.#form === undefined || isNewest ? this.#alike.difference(table, row, before) : undefined;
    if (table.shared.length === 0) return JSON.stringify(difference ?? stored);
    const written: Record<string, unknown> = difference ?? { ...stored };
    for (const field of table.shared) {
      const value = written[field];
      if (typeof value !== 'object' || value === null) continue;
      const was = (before as Row | undefined)?.[field];
      written[field] =
        was === value ? { '=': asBefore } : this.#reference(value, table, field, row);
    }
    return JSON.stringify(written);
  }

  /** Ends the transaction: later transactions may refer to its values. */
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

type SharedTable = Pick<AnyTable, 'shared'> & { get(...key: Key): object | undefined };

export class SharedReader {
  readonly #values: unknown[] = [];
  readonly #alike = new AlikeReader();

  /** The whole row that was stored, with its values put back. It may be the parsed row itself, changed. */
  read(table: SharedTable, row: unknown, before: object | undefined, place: string): Row {
    const written = row as Record<string, unknown>;
    for (const field of table.shared) {
      const reference = written[field] as Reference | null | undefined;
      const number = reference?.['='];
      if (number === undefined) continue;
      if (reference?.is !== undefined) this.#values[number] = reference.is;
      if (reference?.of !== undefined) {
        this.#values[number] = (table.get(...reference.of) as Row | undefined)?.[field];
      }
      const value =
        number === asBefore ? (before as Row | undefined)?.[field] : this.#values[number];
      if (value === undefined) throw new StateCorrupted(place, `a row's ${field} is not there`);
      written[field] = value;
    }
    return this.#alike.whole(table, written, before, place);
  }

  /** Goes on after a row that was not read. */
  skip(): void {
    this.#alike.forgetAbove();
  }
}
