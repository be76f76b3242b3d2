import picocolors from 'picocolors';
import { isColored } from './colors.ts';
import type { CliEnvironment } from './environment.ts';
import type { Explained } from './errors.ts';

/**
 * Prints an error to standard error: in words, or as JSON in a single line. Standard output has only answers, so that a
 * script never takes an error for one, and the line is the last, because progress is told on standard error too.
 */
export async function report(
  { message, faults, hint, code, status, errors }: Explained,
  { stderr, env }: Pick<CliEnvironment, 'stderr' | 'env'>,
  { isJson, isColorless }: { readonly isJson: boolean; readonly isColorless: boolean },
): Promise<void> {
  if (isJson) {
    const told = { code, status, detail: message, errors, ...(hint !== undefined && { hint }) };
    await stderr.write(`${JSON.stringify(told)}\n`);
    return;
  }
  const { red } = picocolors.createColors(isColored(stderr, env, isColorless));
  const lines = [`${red('Error:')} ${message}`, ...faults.map((fault) => `  - ${fault}`)];
  if (hint !== undefined) lines.push(hint);
  await stderr.write(`${lines.join('\n')}\n`);
}
