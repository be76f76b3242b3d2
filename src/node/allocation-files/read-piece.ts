import type { FileHandle } from 'node:fs/promises';
import { limits } from '../../model/limits.ts';

/** At most a frame. Empty at the end of the file. */
export async function readPiece(
  file: FileHandle,
  offset: number,
  most: number,
): Promise<Uint8Array> {
  const length = Math.min(most, limits.stream.frameBytesMax);
  if (length <= 0) return new Uint8Array();
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(buffer, 0, length, offset);
  return buffer.subarray(0, bytesRead);
}
