import { readdirSync, readFileSync } from 'node:fs';
import { limits } from './limits.ts';

/** Processes, as Linux describes them in `/proc`. */

/** Resident memory in bytes; 0 if the process does not exist. */
export function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** Clock ticks (1/100 s) of processor time that the process has used so far. */
function usedTicks(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  // The name in parentheses may have any characters.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

/** Processor time that the process has used so far. */
export const usedMs = (pid: number): number => usedTicks(pid) * 10;

/**
 * Resolves when the process has been nearly idle for a second, after its pending work and collections.
 */
export async function quiet(pid: number): Promise<void> {
  const deadlineMs = performance.now() + limits.answerMs;
  for (let calm = 0; calm < 4; ) {
    const before = usedTicks(pid);
    await new Promise((resolve) => setTimeout(resolve, 250));
    calm = usedTicks(pid) - before <= 1 ? calm + 1 : 0;
    if (performance.now() > deadlineMs) throw new Error(`process ${pid} does not come to rest`);
  }
}

/** Processes whose command line or environment has `text`, such as a temporary folder. */
export function processesNaming(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const told = read(`/proc/${pid}/cmdline`) + read(`/proc/${pid}/environ`);
      return told.includes(text);
    })
    .map(Number);
}

export const isAlive = (pid: number): boolean => {
  const stat = read(`/proc/${pid}/stat`);
  return stat !== '' && !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
};

/** Empty if the process is gone or belongs to another user. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
