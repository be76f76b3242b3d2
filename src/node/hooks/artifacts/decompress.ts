import { createReadStream } from 'node:fs';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createZstdDecompress } from 'node:zlib';
import { limits } from '../../../model/limits.ts';
import type { Compression } from './archives.ts';
import { programEnd, startProgram } from './programs.ts';

export interface UnpackSurroundings {
  /** A directory for this artifact alone. */
  readonly directory: string;
  readonly signal: AbortSignal;
}

/**
 * The decompressed bytes of a file, at the reader's pace. Reading rejects with errors of the file,
 * a library or a program.
 */
export function decompressed(
  file: string,
  compression: Compression | undefined,
  surroundings: UnpackSurroundings,
): Readable {
  const packed = createReadStream(file);
  const output = new PassThrough();
  const { signal } = surroundings;
  const fail = (error: Error): void => void output.destroy(error);
  if (compression === undefined) {
    void pipeline(packed, output, { signal }).catch(fail);
  } else if (compression === 'gz') {
    void pipeline(packed, createGunzip(), output, { signal }).catch(fail);
  } else if (compression === 'zst') {
    const params = { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax };
    void pipeline(packed, createZstdDecompress({ params }), output, { signal }).catch(fail);
  } else {
    throughProgram(compression, packed, output, surroundings).catch(fail);
  }
  return output;
}

/** Not in limits: 128 MiB, the bound of the `zstd` program itself. */
const zstdWindowLogMax = 27;

async function throughProgram(
  compression: 'xz' | 'bz2',
  packed: Readable,
  output: PassThrough,
  surroundings: UnpackSurroundings,
): Promise<void> {
  const memory = `--memlimit-decompress=${limits.artifact.unpackMemoryMb}MiB`;
  const [name, words] = compression === 'xz' ? ['xz', ['-dc', '-T1', memory]] : ['bzip2', ['-dc']];
  const child = startProgram(name as string, words as string[], surroundings);
  const ended = programEnd(name as string, child);
  ended.catch(() => packed.destroy());
  // When the program ends early, its own error says more than the broken pipe.
  const fed = pipeline(packed, child.stdin!).catch(() => {});
  const read = pipeline(child.stdout!, output, { end: false, signal: surroundings.signal });
  read.catch(() => child.kill('SIGKILL'));
  await Promise.all([ended, read, fed]);
  output.end();
}
