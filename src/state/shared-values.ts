/**
 * Values that many rows share are written once. Sharing is by identity, and is there again after
 * loading, so that a million rows take no more room than before.
 *
 * In a transaction a shared field that is the row's own from before is `{"=": -1}`. Else, in a
 * transaction as in a table of a snapshot, its value is `{"=": n, "is": value}` where it stands
 * first, and `{"=": n}` wherever it stands again. Numbers begin at 0 with each transaction and with
 * each table of a snapshot.
 */
import { StateCorrupted } from './errors.ts';

type Row = Readonly<Record<string, unknown>>;

const asBefore = -1;

interface Reference {
  readonly '=': number;
  readonly is?: object;
}

export class SharedWriter {
  readonly #numbers = new Map<object, number>();

  /** The row as JSON. `before`: what it was, where whoever reads this knows. */
  write(fields: readonly string[], row: object, before: object | undefined): string {
    if (fields.length === 0) return JSON.stringify(row);
    const written: Record<string, unknown> = { ...row };
    for (const field of fields) {
      const value = written[field];
      if (typeof value !== 'object' || value === null) continue;
      const was = (before as Row | undefined)?.[field];
      written[field] = was === value ? { '=': asBefore } : this.#reference(value);
    }
    return JSON.stringify(written);
  }

  #reference(is: object): Reference {
    const known = this.#numbers.get(is);
    if (known !== undefined) return { '=': known };
    const number = this.#numbers.size;
    this.#numbers.set(is, number);
    return { '=': number, is };
  }
}

export class SharedReader {
  readonly #values: object[] = [];

  /** Puts the values back into a row that was parsed. */
  read(fields: readonly string[], row: unknown, before: object | undefined, place: string): void {
    const written = row as Record<string, unknown>;
    for (const field of fields) {
      const reference = written[field] as Reference | null | undefined;
      const number = reference?.['='];
      if (number === undefined) continue;
      if (reference?.is !== undefined) this.#values[number] = reference.is;
      const value =
        number === asBefore ? (before as Row | undefined)?.[field] : this.#values[number];
      if (value === undefined) throw new StateCorrupted(place, `a row's ${field} is not there`);
      written[field] = value;
    }
  }
}
