import { limits } from '../model/limits.ts';

/** Allocates each result separately. A small `Buffer.from` would keep its whole pool in memory. */
const utf8 = new TextEncoder();

/** Texts of the encodings that are kept, by their bytes; empty until somebody asks for one. */
const texts = new WeakMap<Uint8Array, string>();

/** The bytes of a kept encoding, each as a character; `undefined`: no text is kept of these bytes. */
export function textOf(bytes: Uint8Array): string | undefined {
  const known = texts.get(bytes);
  if (known !== '') return known;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  texts.set(bytes, text);
  return text;
}

const hasText = (bytes: Uint8Array): boolean => bytes.length <= limits.http.textBytesMax;

/** The memory that an encoding may take while it is kept. */
const keptBytes = (bytes: Uint8Array): number => (hasText(bytes) ? 2 : 1) * bytes.length;

/**
 * Encodes rows as JSON bytes. Rows are immutable, so the encodings of recently used rows are kept,
 * within a bound.
 */
export class RowEncoder {
  readonly #encoded = new Map<object, Uint8Array>();
  /** The row that was put last, and its bytes: a row that is read is often the next one, too. */
  #newestRow: object | undefined;
  #newest: Uint8Array | undefined;
  #bytes = 0;

  /** `row` has to be a row of the state, not an object made for this answer. */
  encode(row: object): Uint8Array {
    if (this.#newestRow === row) return this.#newest!;
    const known = this.#encoded.get(row);
    if (known !== undefined) {
      this.#encoded.delete(row);
      this.#putNewest(row, known);
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
    this.#bytes -= keptBytes(known);
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

  #keepRow(row: object, bytes: Uint8Array): void {
    if (hasText(bytes)) texts.set(bytes, '');
    this.#putNewest(row, bytes);
    this.#bytes += keptBytes(bytes);
    for (const [oldest, its] of this.#encoded) {
      if (this.#bytes <= limits.http.encodedRowsBytesMax) break;
      this.#encoded.delete(oldest);
      this.#bytes -= keptBytes(its);
    }
  }

  #putNewest(row: object, bytes: Uint8Array): void {
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
