import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * What `bin/roster` tells Node of memory and threads when it starts an agent: parts of the program
 * that are measured in processes of their own get the same.
 */
export function agentFlags(): readonly string[] {
  const script = readFileSync(fileURLToPath(new URL('../bin/roster', import.meta.url)), 'utf8');
  const flags = [...script.matchAll(/^.*\b(?:young|helpers|phases)=(--[a-z0-9-]+(?:=\d+)?)/gm)];
  if (flags.length === 0) throw new Error('bin/roster tells Node nothing of memory');
  return flags.map(([, flag]) => flag!);
}
