import { limits } from '../../model/limits.ts';
import { blockLimits } from './limits.ts';

/** A writer stops reading at half of this, so the block has room for one more read of a pipe. */
const largeBytes = 2 * limits.supervisor.pipeBufferBytes;

/** Free blocks, in one list for the whole process, as few streams are busy at a time. */
const kept: Buffer[] = [];

/**
 * Gathers bytes in one block of memory, which a busy stream fills again and again: the garbage
 * collector cannot keep up with new memory for each read.
 */
export class ByteBlock {
  #memory: Buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** A view, valid until `clear`. */
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
    if (this.#memory.length === largeBytes && kept.length < blockLimits.keptMax)
      kept.push(this.#memory);
    this.#memory = Buffer.alloc(0);
    this.#length = 0;
  }

  #grow(length: number): void {
    const memory: Buffer | undefined =
      length > blockLimits.smallBytes && length <= largeBytes ? kept.pop() : undefined;
    const grown = memory ?? Buffer.allocUnsafeSlow(roomFor(length));
    grown.set(this.bytes);
    this.#memory = grown;
  }
}

function roomFor(length: number): number {
  if (length > largeBytes) return length;
  // In powers of two, so that adding many short pieces copies little.
  return length > blockLimits.smallBytes ? largeBytes : 2 ** Math.ceil(Math.log2(length));
}
