import { CliError } from './errors.ts';

/** The texts `KEY=VALUE` of a repeatable option. Empty texts are ignored. @throws CliError */
export function pairs(option: string, given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.filter(Boolean).map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
      throw new CliError(`--${option} must have the form KEY=VALUE, got "${text}".`);
    }),
  );
}

/** `a=1, b=2` */
export const pairsText = (pairs: Readonly<Record<string, string>> | null | undefined): string =>
  Object.entries(pairs ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
