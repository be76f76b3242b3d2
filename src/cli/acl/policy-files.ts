import { dirname, isAbsolute, join } from 'node:path';
import { HclError } from '../../language/hcl/errors.ts';
import { CliError } from '../errors.ts';

/** The path of a file that another file names relative to itself. */
export const besideOf = (file: string, named: string): string =>
  isAbsolute(named) ? named : join(dirname(file), named);

/** @throws CliError with each fault and its place */
export function understood<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    const faults = error.faults.map(
      ({ line, column, sentence }) => `${path}:${line}:${column}: ${sentence}`,
    );
    throw new CliError(`${path} cannot be understood:`, { faults });
  }
}
