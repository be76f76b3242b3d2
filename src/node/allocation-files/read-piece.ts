import type { FileHandle } from 'node:fs/promises';
import { limits } from '../../model/limits.ts';

const { sentFrameBytes } = limits.stream;

/** Reads at most one frame. Empty at the end of the file. */
export async function readPiece(
  file: FileHandle,
  offset: number,
  most: number,
  memory?: Buffer,
): Promise<Uint8Array> {
  const length = Math.min(most, sentFrameBytes);
  if (length <= 0) return new Uint8Array();
  const buffer = memory ?? Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(buffer, 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

/**
 * Reads all pieces into the same memory: each piece overwrites the one before. A fast reader of a
 * log asks for a thousand pieces a second, and the garbage collector lags far behind with as many
 * buffers.
 */
export class PieceReader {
  #memory: Buffer | undefined;

  read(file: FileHandle, offset: number, most: number): Promise<Uint8Array> {
    this.#memory ??= Buffer.allocUnsafeSlow(sentFrameBytes);
    return readPiece(file, offset, most, this.#memory);
  }

  /** Releases the memory, as there is nothing to read for a while. */
  rest(): void {
    this.#memory = undefined;
  }
}
