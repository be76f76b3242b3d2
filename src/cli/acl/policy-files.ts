import { dirname, isAbsolute, join } from 'node:path';
import { HclError } from '../../language/hcl/errors.ts';
import { CliError } from '../errors.ts';

/** A file that is named in another one stands beside it. */
export const besideOf = (file: string, named: string): string =>
  isAbsolute(named) ? named : join(dirname(file), named);

/** @throws CliError with each fault, its place and what stands there */
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
