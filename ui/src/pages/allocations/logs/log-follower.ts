/**
 * Follows a log, and keeps the page free for its reader.
 *
 * Invariants
 *  L1. Every byte of the log after the first that was shown is either pushed to the buffer, once and in order, or
 *      counted as skipped. The count is exact as long as the sizes of the files between are known, else a lower bound.
 *  L2. A log that grows faster than the page follows is not read through: its end is read from time to time. The task
 *      writes into files and waits for no reader.
 *  L3. When the log ends, its last bytes are in the buffer.
 */
import type { FilePiece } from '../../../../../src/sdk/frames.ts';
import { limits } from '../limits.ts';
import type { LogBuffer } from './log-buffer.ts';

const { tailBytes, followedBytesPerSecondMax, sampleBytes, sampleEveryMs, sliceMs } = limits.logs;

export interface Reading {
  readonly origin: 'start' | 'end';
  readonly offset: number;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

export interface LogSource {
  pieces(reading: Reading): AsyncIterable<FilePiece>;
  /** Sizes of the files of the log by number; `undefined`: the token may not list files. */
  sizes(signal: AbortSignal): Promise<ReadonlyMap<number, number> | undefined>;
  /** No file that has a successor is shorter. */
  readonly fullFileBytesMin: number;
}

export interface FollowerOptions {
  readonly source: LogSource;
  readonly buffer: LogBuffer;
  readonly nowMs: () => number;
  readonly pause: (delayMs: number) => Promise<void>;
  readonly changed: () => void;
}

interface Place {
  readonly number: number;
  readonly offset: number;
}

export class LogFollower {
  readonly #options: FollowerOptions;
  /** The end of what was pushed. */
  #at: Place | undefined;
  #sizes = new Map<number, number>();
  #knowsSizes = true;
  #sliceBeganMs = 0;
  #isFlooded = false;
  #before: number | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** The log grows faster than it is followed. */
  get isFlooded(): boolean {
    return this.#isFlooded;
  }

  /** Bytes of the kept log before the first that was shown; `undefined`: not known. */
  get before(): number | undefined {
    return this.#before;
  }

  /** Resolves when the log has ended. Can be called again, and goes on at the end of the log. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (await this.#followLog(signal)) return;
      await this.#sample(signal);
    }
    signal.throwIfAborted();
  }

  /** From the oldest byte that is kept, as much as is held. */
  async readStart(signal: AbortSignal): Promise<void> {
    this.#before = 0;
    await this.#read({ origin: 'start', offset: 0, follow: false, signal }, 4 * tailBytes);
  }

  /** Resolves with true at the end of the log, and with false when it grows too fast. */
  async #followLog(signal: AbortSignal): Promise<boolean> {
    const { source, nowMs } = this.#options;
    let windowBeganMs = nowMs();
    let received = -tailBytes;
    const reading = { origin: 'end', offset: tailBytes, follow: true, signal } as const;
    let last: FilePiece | undefined;
    for await (const piece of source.pieces(reading)) {
      await this.#takePiece(piece, last, signal);
      last = piece;
      received += piece.data.length;
      if (received > followedBytesPerSecondMax) {
        this.#isFlooded = true;
        return false;
      }
      if (nowMs() - windowBeganMs > 1000) {
        windowBeganMs = nowMs();
        received = 0;
      }
    }
    signal.throwIfAborted();
    this.#options.changed();
    return true;
  }

  /** Looks at the end of the log until it is quiet. */
  async #sample(signal: AbortSignal): Promise<void> {
    const { buffer, pause } = this.#options;
    for (let quiet = 0; quiet < 2; ) {
      await pause(sampleEveryMs);
      signal.throwIfAborted();
      const before = buffer.skipped.bytes;
      const reading = { origin: 'end', offset: sampleBytes, follow: false, signal } as const;
      await this.#read(reading, 2 * sampleBytes);
      quiet = buffer.skipped.bytes === before ? quiet + 1 : 0;
    }
    this.#isFlooded = false;
    this.#options.changed();
  }

  async #read(reading: Reading, bytesMax: number): Promise<void> {
    let received = 0;
    let last: FilePiece | undefined;
    for await (const piece of this.#options.source.pieces(reading)) {
      await this.#takePiece(piece, last, reading.signal);
      last = piece;
      received += piece.data.length;
      if (received >= bytesMax) break;
    }
    this.#options.changed();
  }

  async #takePiece(
    piece: FilePiece,
    last: FilePiece | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { buffer, changed, nowMs, pause } = this.#options;
    const place = { number: numberOf(piece), offset: piece.offset };
    if (this.#at === undefined) await this.#countBefore(place, signal);
    const at = this.#at ?? place;
    const isNext = last !== undefined && piece.event !== 'file deleted';
    let { data } = piece;
    if (place.number === at.number) {
      if (place.offset > at.offset) buffer.skip({ bytes: place.offset - at.offset, isExact: true });
      else data = data.subarray(Math.min(data.length, at.offset - place.offset));
    } else if (place.number < at.number) return;
    else if (!isNext || place.number !== numberOf(last) + 1)
      await this.#skipFiles(at, place, signal);
    const end = { number: place.number, offset: piece.offset + piece.data.length };
    if (end.number > at.number || end.offset > at.offset) this.#at = end;
    else this.#at = at;
    if (data.length > 0) buffer.push(data);
    changed();
    if (nowMs() - this.#sliceBeganMs < sliceMs) return;
    await pause(0);
    this.#sliceBeganMs = nowMs();
    signal.throwIfAborted();
  }

  /** Counts the bytes from a place to one in a later file. */
  async #skipFiles(from: Place, to: Place, signal: AbortSignal): Promise<void> {
    await this.#learnSizes(signal);
    let bytes = to.offset - from.offset;
    let isExact = true;
    for (let number = from.number; number < to.number; number += 1) {
      const known = this.#sizes.get(number);
      if (known === undefined) isExact = false;
      bytes += known ?? this.#options.source.fullFileBytesMin;
    }
    if (bytes > 0) this.#options.buffer.skip({ bytes, isExact });
  }

  async #countBefore({ number, offset }: Place, signal: AbortSignal): Promise<void> {
    if (this.#before !== undefined) return;
    await this.#learnSizes(signal);
    if (!this.#knowsSizes) return;
    const sizes = [...this.#sizes].filter(([of]) => of < number);
    this.#before = sizes.reduce((sum, [, size]) => sum + size, offset);
  }

  async #learnSizes(signal: AbortSignal): Promise<void> {
    if (!this.#knowsSizes) return;
    const sizes = await this.#options.source.sizes(signal);
    if (sizes === undefined) this.#knowsSizes = false;
    for (const [number, size] of sizes ?? []) this.#sizes.set(number, size);
  }
}

/** Of a rotated file. */
const numberOf = ({ file }: FilePiece): number => Number(file.slice(file.lastIndexOf('.') + 1));
