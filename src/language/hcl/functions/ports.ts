import type { Clock, Ids } from '../../../base/ports.ts';

/** The parts of the world that functions may use. */
export interface FunctionPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Absent on a server, where texts come from others: functions of files are refused there. */
  readonly files?: FunctionFiles;
}

/**
 * The files of the evaluating program. Relative paths start at the directory of the evaluated text. Throws
 * {@link FileFault} if a file cannot be read.
 */
export interface FunctionFiles {
  /** Reads a file. More than `lengthMax` bytes are a fault. */
  read(path: string, lengthMax: number): Uint8Array;
  /** Whether the path is a file, not a directory. */
  exists(path: string): boolean;
  /** The paths of all files below a directory, relative to it, with `/`. */
  list(directory: string, countMax: number): readonly string[];
  /** The path from the root. Links are not followed. */
  absolute(path: string): string;
  /** The directory of `~`. */
  home(): string;
}

/** A file cannot be read; the message is a clause: `there is no such file`. */
export class FileFault extends Error {
  override readonly name = 'FileFault';
}
