import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The options of memory and threads that `bin/roster` gives Node, for parts of the program that are
 * measured in processes of their own.
 */
export function agentFlags(): readonly string[] {
  const script = readFileSync(fileURLToPath(new URL('../bin/roster', import.meta.url)), 'utf8');
  const flags = [...script.matchAll(/^.*\b(?:young|helpers|phases)=(--[a-z0-9-]+(?:=\d+)?)/gm)];
  if (flags.length === 0) throw new Error('bin/roster tells Node nothing of memory');
  return flags.map(([, flag]) => flag!);
}
