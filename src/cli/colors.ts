import type { CliEnvironment, Output } from './environment.ts';

/**
 * Whether an output gets colours: https://no-color.org, FORCE_COLOR, https://bixense.com/clicolors and TERM. The first
 * rule that says something decides.
 */
export function isColored(
  { isTerminal }: Pick<Output, 'isTerminal'>,
  env: CliEnvironment['env'],
  isRefused = false,
): boolean {
  if (isRefused || env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0';
  if (env.CLICOLOR_FORCE && env.CLICOLOR_FORCE !== '0') return true;
  return isTerminal && env.TERM !== 'dumb' && env.CLICOLOR !== '0';
}
