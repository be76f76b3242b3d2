import type { ArgumentDefinition } from '../definition.ts';
import { CliError } from '../errors.ts';

export const jobArgument: ArgumentDefinition = {
  name: 'JOB',
  kind: 'job',
  isRequired: true,
  description: 'Id of the job.',
};

/** @throws CliError when the text is no whole number within the bounds */
export function wholeNumber(
  what: string,
  text: string,
  { least = 0, most = Number.MAX_SAFE_INTEGER }: { least?: number; most?: number } = {},
): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  const bounds = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
  throw new CliError(`${what} must be an integer ${bounds}, got "${text}".`);
}
