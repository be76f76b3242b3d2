/**
 * What a test file started and left behind: processes, mounts, control groups.
 *
 * Invariants
 *  L1. A process belongs to a file when the file's directory is in its command line, its environment,
 *      its working directory or the mounts of its namespace, or when the process of the tests is above
 *      it. The directory is `TMPDIR` for the file and all that it starts, so who has lost one trace (a
 *      sandbox its environment, an orphan its parents) has another one.
 *  L2. A control group tells nobody's name. Of those that appeared while the file ran, the ones that
 *      stay and hold no process are left behind; one with processes is theirs, which L1 finds. While
 *      another checkout's programs run on this machine nobody can tell whose they are.
 *  L3. What is told of a process is enough to find out who started it.
 */
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { readCgroupLayout } from '../../src/node/supervisor/cgroups/layout.ts';
import { groupsName } from '../../src/node/supervisor/cgroups/plan.ts';
import { isEnded, listPids, type ProcessStat, readStat } from '../../src/node/supervisor/proc.ts';

export interface Leftovers {
  readonly pids: readonly number[];
  /** Below the file's directory. */
  readonly mounts: readonly string[];
  /** A line for each of them and each process. */
  readonly lines: readonly string[];
}

export interface Mark {
  readonly directory: string;
  /** Of the process that runs the file's tests. */
  readonly pid: number;
  /** The control groups that there were before it started a program; absent: none is looked at. */
  readonly groups: ReadonlySet<string> | undefined;
}

export function findLeftovers({ directory, pid, groups }: Mark): Leftovers {
  const pids = processesOf(directory, pid);
  const mounts = mountsBelow(directory);
  const left =
    groups === undefined ? [] : listGroups().filter((path) => !groups.has(path) && isEmpty(path));
  const lines = [
    ...pids.map((one) => `process ${one}: ${describe(one)}`),
    ...mounts.map((path) => `mount ${path}`),
    ...left.map((path) => `control group ${path}`),
  ];
  return { pids, mounts, lines };
}

/** All control groups of runs and containers that are there now, as paths. */
export function listGroups(): string[] {
  const { separate, unified } = readCgroupLayout();
  const trees = new Set(separate.values());
  if (unified !== undefined) trees.add(unified.directory);
  return [...trees]
    .flatMap((tree) => [groupsName, 'libpod_parent'].map((parent) => join(tree, parent)))
    .flatMap((parent) => foldersIn(parent).map((name) => join(parent, name)));
}

/** Whether programs of another checkout, or of an installation, run on this machine. */
export function isShared(): boolean {
  const own = realpathSync(process.execPath);
  return listPids()
    .map((pid) => readLink(`/proc/${pid}/exe`))
    .some((path) => path !== own && /\/node-linux-\w+\/bin\/node$/.test(path));
}

const isEmpty = (group: string): boolean =>
  readText(join(group, 'cgroup.procs')) === '' && foldersIn(group).length === 0;

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

function foldersIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
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
