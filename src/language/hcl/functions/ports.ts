import type { Clock, Ids } from '../../../base/ports.ts';

/** The parts of the world that functions may use. */
export interface FunctionPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Absent where texts come from others, as on a server: functions of files are then refused. */
  readonly files?: FunctionFiles;
}

/**
 * The files of the evaluating program. Relative paths start where the evaluated text is. A file that cannot
 * be read is thrown as a {@link FileFault}.
 */
export interface FunctionFiles {
  /** At most `lengthMax` bytes; more are a fault. */
  read(path: string, lengthMax: number): Uint8Array;
  /** Whether there is a file, and no directory, by that name. */
  exists(path: string): boolean;
  /** The paths of all files in a directory and those in it, relative to it, with `/`. */
  list(directory: string, countMax: number): readonly string[];
  /** The path from the root on, without links being followed. */
  absolute(path: string): string;
  /** Where `~` leads. */
  home(): string;
}

/** A file cannot be read; the message is a clause: `there is no such file`. */
export class FileFault extends Error {
  override readonly name = 'FileFault';
}
