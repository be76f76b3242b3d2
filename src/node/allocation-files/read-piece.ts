import type { FileHandle } from 'node:fs/promises';
import { limits } from '../../model/limits.ts';

const { frameBytesMax } = limits.stream;

/** At most a frame. Empty at the end of the file. */
export async function readPiece(
  file: FileHandle,
  offset: number,
  most: number,
  memory?: Buffer,
): Promise<Uint8Array> {
  const length = Math.min(most, frameBytesMax);
  if (length <= 0) return new Uint8Array();
  const buffer = memory ?? Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(buffer, 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

/**
 * Reads piece after piece into the same memory: each is overwritten by the next. A fast reader of a
 * log asks for a thousand a second, and the collector is far behind with as many buffers.
 */
export class PieceReader {
  #memory: Buffer | undefined;

  /** As {@link readPiece}. */
  read(file: FileHandle, offset: number, most: number): Promise<Uint8Array> {
    this.#memory ??= Buffer.allocUnsafeSlow(frameBytesMax);
    return readPiece(file, offset, most, this.#memory);
  }

  /** There is nothing to read for a while. */
  rest(): void {
    this.#memory = undefined;
  }
}
