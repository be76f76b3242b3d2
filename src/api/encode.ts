import { limits } from '../model/limits.ts';

/**
 * JSON of records that never change. Rows are immutable, so a row that is read again and again is
 * written out once; the least recently used go first when there are too many.
 */
export class RowEncoder {
  readonly #encoded = new Map<object, string>();
  #characters = 0;

  /** `row` must be frozen in fact: a row of the state, not something made for this answer. */
  encode(row: object): string {
    const known = this.#encoded.get(row);
    if (known !== undefined) {
      this.#encoded.delete(row);
      this.#encoded.set(row, known);
      return known;
    }
    const text = JSON.stringify(row);
    if (text.length <= limits.http.encodedRowCharactersMax) this.#keep(row, text);
    return text;
  }

  #keep(row: object, text: string): void {
    this.#encoded.set(row, text);
    this.#characters += text.length;
    for (const [oldest, { length }] of this.#encoded) {
      if (this.#characters <= limits.http.encodedRowsCharactersMax) break;
      this.#encoded.delete(oldest);
      this.#characters -= length;
    }
  }
}

/** Four spaces and a newline at the end, as the field does it. */
export const prettyJson = (value: unknown): string => `${JSON.stringify(value, null, 4)}\n`;
