/** The resources that one process has used, from `/proc`. It may end between two reads. */
import { readFile } from 'node:fs/promises';

export interface ProcessUsage {
  readonly cpuUserMs: number;
  readonly cpuSystemMs: number;
  readonly rssBytes: number;
  readonly swapBytes: number;
}

/** The unit of `/proc/<pid>/stat`, on all supported systems. */
const millisecondsPerTick = 10;

/** Includes ended children that it has waited for. `undefined`: there is no such process. */
export async function processUsage(pid: number): Promise<ProcessUsage | undefined> {
  try {
    const [stat, status] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'latin1'),
      readFile(`/proc/${pid}/status`, 'latin1'),
    ]);
    return parseUsage(stat, status);
  } catch {
    return undefined;
  }
}

export function parseUsage(stat: string, status: string): ProcessUsage {
  // The command's name is in parentheses and may hold spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = (...at: readonly number[]) =>
    at.reduce((sum, one) => sum + Number(fields[one] ?? 0), 0) * millisecondsPerTick;
  return {
    cpuUserMs: ticks(11, 13),
    cpuSystemMs: ticks(12, 14),
    rssBytes: bytesOf(status, 'VmRSS'),
    swapBytes: bytesOf(status, 'VmSwap'),
  };
}

const bytesOf = (status: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024;
