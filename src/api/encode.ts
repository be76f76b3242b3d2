import { limits } from '../model/limits.ts';

/** Allocates each result separately. A small `Buffer.from` would keep its whole pool in memory. */
const utf8 = new TextEncoder();

/** The bytes of a row. */
export class EncodedRow extends Uint8Array<ArrayBuffer> {
  #text: string | undefined;

  /** The bytes, each as a character. */
  get text(): string {
    this.#text ??= Buffer.from(this.buffer).toString('latin1');
    return this.#text;
  }

  /** The bytes that it may take while it is kept. */
  get keptBytes(): number {
    return this.length <= limits.http.textBytesMax ? 2 * this.length : this.length;
  }
}

/**
 * Encodes rows as JSON bytes. Rows are immutable, so the encodings of recently used rows are kept,
 * within a bound.
 */
export class RowEncoder {
  readonly #encoded = new Map<object, EncodedRow>();
  /** The row that was put last, and its bytes: a row that is read is often the next one, too. */
  #newestRow: object | undefined;
  #newest: EncodedRow | undefined;
  #bytes = 0;

  /** `row` has to be a row of the state, not an object made for this answer. */
  encode(row: object): EncodedRow {
    if (this.#newestRow === row) return this.#newest!;
    const known = this.#encoded.get(row);
    if (known !== undefined) {
      this.#encoded.delete(row);
      this.#putNewest(row, known);
      return known;
    }
    const bytes = new EncodedRow(utf8.encode(JSON.stringify(row)).buffer);
    if (bytes.length <= limits.http.encodedRowBytesMax) this.#keepRow(row, bytes);
    return bytes;
  }

  /** Frees the bytes of a replaced or deleted row, which is seldom read again. */
  forget(row: object): void {
    const known = this.#encoded.get(row);
    if (known === undefined) return;
    this.#encoded.delete(row);
    this.#bytes -= known.keptBytes;
    if (this.#newestRow === row) this.#forgetNewest();
  }

  /** Frees all bytes, as every row was replaced. */
  forgetAll(): void {
    this.#encoded.clear();
    this.#forgetNewest();
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

  #keepRow(row: object, bytes: EncodedRow): void {
    this.#putNewest(row, bytes);
    this.#bytes += bytes.keptBytes;
    for (const [oldest, { keptBytes }] of this.#encoded) {
      if (this.#bytes <= limits.http.encodedRowsBytesMax) break;
      this.#encoded.delete(oldest);
      this.#bytes -= keptBytes;
    }
  }

  #putNewest(row: object, bytes: EncodedRow): void {
    this.#encoded.set(row, bytes);
    this.#newestRow = row;
    this.#newest = bytes;
  }

  #forgetNewest(): void {
    this.#newestRow = undefined;
    this.#newest = undefined;
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
