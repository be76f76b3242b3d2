import { CliError } from './errors.ts';
import { camelCase, type Options } from './options.ts';

const digits = /^\d{1,15}$/;

/** @throws CliError unless the text is an integer within the bounds */
export function wholeNumber(
  what: string,
  text: string,
  { least = 0, most = Number.MAX_SAFE_INTEGER }: { least?: number; most?: number } = {},
): number {
  const number = digits.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  const bounds = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
  throw new CliError(`${what} must be an integer ${bounds}, got "${text}".`);
}

/** The value of an option in kebab-case. @throws CliError */
export function wholeNumberOption(options: Options, name: string): number | undefined {
  const text = options.text(camelCase(name));
  return text === undefined ? undefined : wholeNumber(`--${name}`, text);
}
