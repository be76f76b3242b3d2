import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { bootId, isAlive, readStat } from './proc.ts';
import type { TaskStatus } from './protocol.ts';

interface TableFile {
  readonly version: 1;
  readonly bootId: string;
  readonly supervisor: { readonly pid: number; readonly startTime: string };
  readonly tasks: readonly TaskStatus[];
}

let kept: Omit<TableFile, 'version' | 'tasks'> | undefined;

/** About this process and this boot. Read once, as every start of a task writes the table. */
function ownMarks(): Omit<TableFile, 'version' | 'tasks'> {
  const { pid } = process;
  kept ??= { bootId: bootId(), supervisor: { pid, startTime: readStat(pid)?.startTime ?? '' } };
  return kept;
}

/** For the next supervisor: all tasks, and all exits not yet acknowledged. */
export function writeTable(path: string, tasks: readonly TaskStatus[]): void {
  const table: TableFile = {
    version: 1,
    ...ownMarks(),
    tasks,
  };
  const temporary = `${path}.${process.pid}`;
  try {
    writeFileSync(temporary, JSON.stringify(table), { mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

export interface FoundTable {
  /** The pid of the supervisor that wrote it, if that is still alive. */
  readonly supervisorPid: number | undefined;
  /** Whether its processes may still run, as the machine was not booted since. */
  readonly sameBoot: boolean;
  readonly tasks: readonly TaskStatus[];
}

/** A missing or damaged table counts as empty: only environments identify leftovers then. */
export function readTable(path: string): FoundTable {
  try {
    const table = JSON.parse(readFileSync(path, 'utf8')) as TableFile;
    const { pid, startTime } = table.supervisor;
    const sameBoot = table.bootId === bootId();
    const alive = sameBoot && pid !== process.pid && isAlive(pid, startTime);
    return { supervisorPid: alive ? pid : undefined, sameBoot, tasks: table.tasks };
  } catch {
    return { supervisorPid: undefined, sameBoot: true, tasks: [] };
  }
}
