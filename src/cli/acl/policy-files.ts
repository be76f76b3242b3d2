import { dirname, isAbsolute, join } from 'node:path';
import { HclError } from '../../language/hcl/errors.ts';
import type { CliEnvironment } from '../environment.ts';
import { CliError } from '../errors.ts';

/** @throws CliError when the file cannot be read */
export async function textOf({ readFile }: Pick<CliEnvironment, 'readFile'>, path: string) {
  try {
    return await readFile(path);
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${(error as Error).message}.`);
  }
}

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
