import { limits } from '../model/limits.ts';

/** Allocates each result separately. A small `Buffer.from` would keep its whole pool in memory. */
const utf8 = new TextEncoder();

/**
 * Encodes rows as JSON bytes. Rows are immutable, so the encodings of recently used rows are kept,
 * within a bound.
 */
export class RowEncoder {
  readonly #encoded = new Map<object, Uint8Array>();
  #bytes = 0;

  /** `row` has to be a row of the state, not an object made for this answer. */
  encode(row: object): Uint8Array {
    const known = this.#encoded.get(row);
    if (known !== undefined) {
      this.#encoded.delete(row);
      this.#encoded.set(row, known);
      return known;
    }
    const bytes = Buffer.from(utf8.encode(JSON.stringify(row)).buffer);
    if (bytes.length <= limits.http.encodedRowBytesMax) this.#keepRow(row, bytes);
    return bytes;
  }

  /** Frees the bytes of a replaced or deleted row, which is seldom read again. */
  forget(row: object): void {
    const known = this.#encoded.get(row);
    if (known === undefined) return;
    this.#encoded.delete(row);
    this.#bytes -= known.length;
  }

  /** Frees all bytes, as every row was replaced. */
  forgetAll(): void {
    this.#encoded.clear();
    this.#bytes = 0;
  }

  /** Encodes a list of objects whose fields are rows or null. */
  encodeItems(items: readonly Readonly<Record<string, object | null>>[]): Uint8Array {
    const parts: Uint8Array[] = [];
    let text = '[';
    for (const item of items) {
      text += text === '[' ? '{' : ',{';
      let comma = '';
      for (const [name, row] of Object.entries(item)) {
        const before = punctuation(`${text}${comma}${JSON.stringify(name)}:`);
        parts.push(before, row === null ? nothing : this.encode(row));
        text = '';
        comma = ',';
      }
      text += '}';
    }
    parts.push(punctuation(`${text}]`));
    return Buffer.concat(parts);
  }

  #keepRow(row: object, bytes: Uint8Array): void {
    this.#encoded.set(row, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#encoded) {
      if (this.#bytes <= limits.http.encodedRowsBytesMax) break;
      this.#encoded.delete(oldest);
      this.#bytes -= length;
    }
  }
}

const nothing = Buffer.from('null');

/** The texts between rows repeat, so their bytes are kept. */
const punctuations = new Map<string, Uint8Array>();

function punctuation(text: string): Uint8Array {
  const known = punctuations.get(text);
  if (known !== undefined) return known;
  const made = Buffer.from(text);
  punctuations.set(text, made);
  return made;
}

/** Indents by four spaces and ends with a newline. */
export const prettyJson = (value: unknown): string => `${JSON.stringify(value, null, 4)}\n`;
