/**
 * How far the output of a container is known. Pure.
 *
 * Invariants
 *  M1. Whatever is read again, and however often: each byte is taken once and in order.
 *  M2. When the runtime no longer has the place where reading stopped, nothing that it has is left
 *      out, and the gap is known.
 */

/** So many bytes of the stream among its entries of this time, and all of those before it. */
export interface LogMark {
  /** See `readStamp`; empty where the runtime tells no times: then all bytes are of one time. */
  readonly key: string;
  readonly bytes: number;
}

export const noMark: LogMark = { key: '', bytes: 0 };

/** One stream of a container, read from its mark on, as often as need be. */
export class StreamReading {
  #mark: LogMark;
  /** Where the present reading begins. */
  #base: LogMark;
  #reached = false;
  /** Of the base: bytes that are to come again. */
  #again: number;
  /** Bytes after the base that are known to be written. */
  #known: number;

  constructor(mark: LogMark, knownBytes = 0) {
    this.#mark = mark;
    this.#base = mark;
    this.#again = mark.bytes;
    this.#known = knownBytes;
  }

  get mark(): LogMark {
    return this.#mark;
  }

  /** Reading begins anew: the runtime tells the entries from the mark's time on, or earlier ones. */
  restart(): void {
    this.#base = this.#mark;
    this.#again = this.#mark.bytes;
    this.#reached = false;
  }

  /** What of an entry is new. `isGap`: something before it is gone. */
  take(key: string, entry: Buffer): { readonly data: Buffer; readonly isGap: boolean } {
    if (!this.#reached && key < this.#base.key) return { data: entry.subarray(0, 0), isGap: false };
    this.#reached = true;
    let data = entry;
    let isGap = false;
    if (this.#again > 0 && key === this.#base.key) {
      const skipped = Math.min(this.#again, data.length);
      this.#again -= skipped;
      data = data.subarray(skipped);
    } else if (this.#again > 0) {
      isGap = true;
      this.#again = 0;
      this.#known = 0;
    }
    const known = Math.min(this.#known, data.length);
    this.#known -= known;
    this.#advance(key, data.length);
    return { data: data.subarray(known), isGap };
  }

  #advance(key: string, bytes: number): void {
    if (bytes === 0) return;
    const before = this.#mark.key === key ? this.#mark.bytes : 0;
    this.#mark = { key, bytes: before + bytes };
  }
}
