import type { CommandDefinition } from './definition.ts';
import type { CliEnvironment, Input } from './environment.ts';
import type { Options } from './options.ts';

/**
 * Asks before something is lost. Only a person at a terminal is asked, and not with `-yes`: a script would wait for
 * ever, or would have to answer what it has decided.
 */
export async function isConfirmed(
  { confirms }: CommandDefinition,
  { words, options }: { readonly words: readonly string[]; readonly options: Options },
  { stdin, stderr }: CliEnvironment,
): Promise<boolean> {
  if (!stdin.isTerminal || !stderr.isTerminal || options.flag('yes')) return true;
  const question = confirms?.(words, options);
  if (question === undefined) return true;
  await stderr.write(`${question} [y/N] `);
  return /^\s*y(es)?\s*$/i.test(await firstLine(stdin));
}

async function firstLine(stdin: Input): Promise<string> {
  let text = '';
  for await (const chunk of stdin.read()) {
    text += Buffer.from(chunk).toString('utf8');
    if (text.includes('\n')) break;
  }
  return text.split('\n')[0]!;
}
