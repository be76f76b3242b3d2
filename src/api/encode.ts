import { limits } from '../model/limits.ts';

/**
 * JSON of rows, as bytes. Rows are immutable, so one that is read again and again is written out
 * once; the least recently used go first when there are too many.
 */
export class RowEncoder {
  readonly #encoded = new Map<object, Uint8Array>();
  #bytes = 0;

  /** `row` is a row of the state, not something made for this answer. */
  encode(row: object): Uint8Array {
    const known = this.#encoded.get(row);
    if (known !== undefined) {
      this.#encoded.delete(row);
      this.#encoded.set(row, known);
      return known;
    }
    const bytes = Buffer.from(JSON.stringify(row));
    if (bytes.length <= limits.http.encodedRowBytesMax) this.#keep(row, bytes);
    return bytes;
  }

  #keep(row: object, bytes: Uint8Array): void {
    this.#encoded.set(row, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#encoded) {
      if (this.#bytes <= limits.http.encodedRowsBytesMax) break;
      this.#encoded.delete(oldest);
      this.#bytes -= length;
    }
  }
}

/** Four spaces and a newline at the end, as the field does it. */
export const prettyJson = (value: unknown): string => `${JSON.stringify(value, null, 4)}\n`;
