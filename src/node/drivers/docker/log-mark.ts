/**
 * How far a container's output has been read. Pure.
 *
 * Invariants
 *  M1. Each byte is taken once and in order, whatever is read again and however often.
 *  M2. If the runtime no longer has the place where reading stopped, all that it has is taken, and
 *      the gap is known.
 */

/** All bytes of the stream before this time, and a number of bytes of the entries of this time. */
export interface LogMark {
  /** The key of `readStamp`; empty for all bytes if the runtime tells no times. */
  readonly key: string;
  readonly bytes: number;
}

export const noMark: LogMark = { key: '', bytes: 0 };

/** One stream of a container, read from its mark on, repeatedly. */
export class StreamReading {
  #mark: LogMark;
  /** The place where the present reading begins. */
  #base: LogMark;
  #reached = false;
  /** Bytes of the base that will be read again. */
  #again: number;
  /** Bytes after the base that are written already. */
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

  /** Begins a new reading, with entries from the mark's time on or earlier. */
  restart(): void {
    this.#base = this.#mark;
    this.#again = this.#mark.bytes;
    this.#reached = false;
  }

  /** The new bytes of an entry. `isGap`: output before it is lost. */
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
