import { CliError } from './errors.ts';

/** `key=value` of an option that may be given more than once; empty texts count for nothing. @throws CliError */
export function pairs(option: string, given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.filter(Boolean).map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
      throw new CliError(`--${option} must have the form KEY=VALUE, got "${text}".`);
    }),
  );
}
