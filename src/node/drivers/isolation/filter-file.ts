import { createHash } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encode, filterFor } from './seccomp/filter.ts';
import { isKnownArchitecture } from './seccomp/system-calls.ts';

/**
 * Writes the filter for tasks with these capabilities to the agent's private directory, under a
 * name derived from its content, and returns its path.
 */
export function keepFilter(directory: string, capabilities: readonly string[]): string {
  const { arch } = process;
  if (!isKnownArchitecture(arch)) throw new Error(`there is no filter for ${arch}`);
  const bytes = encode(filterFor(arch, capabilities));
  const name = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const path = join(directory, `filter-${name}.bpf`);
  if (existsSync(path)) return path;
  // Written under another name first, so that the file appears complete.
  const part = `${path}.${process.pid}`;
  writeFileSync(part, bytes, { mode: 0o600 });
  renameSync(part, path);
  return path;
}
