import { limits } from '../../model/limits.ts';

/** What little output waits in; more than this waits in memory that is used again. */
const smallBytes = 8 * 1024;
/** Just full it takes one more read of a pipe. */
const largeBytes = 2 * limits.supervisor.pipeBufferBytes;
const keptMax = 16;

/** Of no block at the moment. One list for all of the process, as few streams are busy at a time. */
const kept: Buffer[] = [];

/**
 * Bytes that gather in one piece of memory. A busy stream fills the same memory again and again:
 * new memory for each piece is collected far more slowly than pipes give it.
 */
export class ByteBlock {
  #memory: Buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** A view; it is another's after `clear`. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  /** Takes a copy. */
  add(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#memory.length) this.#grow(length);
    this.#memory.set(bytes, this.#length);
    this.#length = length;
  }

  clear(): void {
    if (this.#memory.length === largeBytes && kept.length < keptMax) kept.push(this.#memory);
    this.#memory = Buffer.alloc(0);
    this.#length = 0;
  }

  #grow(length: number): void {
    const memory: Buffer | undefined =
      length > smallBytes && length <= largeBytes ? kept.pop() : undefined;
    const grown = memory ?? Buffer.allocUnsafeSlow(roomFor(length));
    grown.set(this.bytes);
    this.#memory = grown;
  }
}

function roomFor(length: number): number {
  if (length > largeBytes) return length;
  // In powers of two, so that many short pieces are not copied over and over.
  return length > smallBytes ? largeBytes : 2 ** Math.ceil(Math.log2(length));
}
