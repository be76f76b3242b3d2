/**
 * The leftovers of a test file: processes and mounts.
 *
 * Invariants
 *  L1. A process belongs to a file when the file's directory is in its command line, its environment, its
 *      working directory or the mounts of its namespace, or when the process of the tests is above it. The
 *      directory is `TMPDIR` for the file and all that it starts, so a process that has lost one trace (a
 *      sandbox its environment, an orphan its parents) has another.
 *  L2. An empty control group is no leftover: a killed supervisor leaves it, and the next supervisor
 *      removes it (`node/supervisor/cgroups/stale.ts`). A group that is not empty shows as its processes.
 *  L3. The description of a process is enough to find out who started it.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { isEnded, listPids, type ProcessStat, readStat } from '../../src/node/supervisor/proc.ts';

export interface Leftovers {
  readonly pids: readonly number[];
  /** Mounts below the file's directory. */
  readonly mounts: readonly string[];
  /** One line for each mount and process. */
  readonly lines: readonly string[];
}

export interface Mark {
  readonly directory: string;
  /** The process of the file's tests. */
  readonly pid: number;
}

export function findLeftovers({ directory, pid }: Mark): Leftovers {
  const pids = processesOf(directory, pid);
  const mounts = mountsBelow(directory);
  const lines = [
    ...pids.map((one) => `process ${one}: ${describe(one)}`),
    ...mounts.map((path) => `mount ${path}`),
  ];
  return { pids, mounts, lines };
}

function processesOf(directory: string, runner: number): number[] {
  const stats = new Map(
    listPids().flatMap((pid): [number, ProcessStat][] => {
      const stat = readStat(pid);
      return stat === undefined || isEnded(stat) ? [] : [[pid, stat]];
    }),
  );
  const begunAt = Number(stats.get(runner)?.startTime ?? 0);
  const namespace = readLink('/proc/self/ns/mnt');
  return [...stats.values()]
    .filter((stat) => stat.pid !== runner && Number(stat.startTime) >= begunAt)
    .filter(
      ({ pid }) =>
        readText(`/proc/${pid}/cmdline`).includes(directory) ||
        readText(`/proc/${pid}/environ`).includes(directory) ||
        readLink(`/proc/${pid}/cwd`).startsWith(directory) ||
        isBelow(pid, runner, stats) ||
        (readLink(`/proc/${pid}/ns/mnt`) !== namespace &&
          readText(`/proc/${pid}/mountinfo`).includes(directory)),
    )
    .map(({ pid }) => pid);
}

function isBelow(pid: number, runner: number, stats: ReadonlyMap<number, ProcessStat>): boolean {
  const parent = stats.get(pid)?.parent ?? 0;
  return parent === runner || (parent > 1 && isBelow(parent, runner, stats));
}

const mountsBelow = (directory: string): string[] =>
  readText('/proc/self/mounts')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${directory}/`));

function describe(pid: number): string {
  const words = readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
  const allocation = /\0(ROSTER_ALLOC_ID=[^\0]*)/.exec(readText(`/proc/${pid}/environ`))?.[1];
  return allocation === undefined ? words : `${words} (${allocation})`;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
