import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Job } from '../../model/job/job.ts';
import { readJson } from '../files.ts';
import type { SavedTask } from '../task-runner/task-record.ts';
import { savedAllocationsDirectory, savedSuffix } from './files.ts';
import type { SavedHealth } from './health.ts';

/** The state of an allocation in a file, from which the next agent goes on. */
export interface SavedAllocation {
  readonly version: 1;
  readonly allocation: Allocation;
  readonly job: Job;
  readonly tasks: Readonly<Record<string, SavedTask>>;
  /** Absent in files of agents that judged no health. */
  readonly health?: SavedHealth;
  /** It was told to end: no task starts any more, except poststop tasks. */
  readonly stopping: boolean;
  /** It ended because its `MaxRunDuration` had passed. Absent: `false`. */
  readonly expired?: boolean;
  /** It was told to end for its `StopOnClientAfter`. Absent is `false`. */
  readonly cutOff?: boolean;
  /**
   * The id of the allocation's own user; `null`: not leased yet. Absent in files of agents that
   * gave no users: then the tasks keep the user that they had, also after restarts.
   */
  readonly uid?: number | null;
  /** The servers have its final status: there is nothing more to report. */
  readonly delivered: boolean;
}

/** Files are read several at a time, so that the disk has always work. */
const readAtOnce = 16;

/** Reads the saved allocations. `damaged` are the ids of those whose files cannot be used. */
export async function readSavedAllocations(dataDirectory: string): Promise<{
  readonly saved: readonly SavedAllocation[];
  readonly damaged: readonly string[];
}> {
  const directory = savedAllocationsDirectory(dataDirectory);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const names = (await readdir(directory)).filter((name) => name.endsWith(savedSuffix));
  const saved: SavedAllocation[] = [];
  const damaged: string[] = [];
  for (let at = 0; at < names.length; at += readAtOnce) {
    const some = names.slice(at, at + readAtOnce);
    const values = await Promise.all(
      some.map((name) => readJson(join(directory, name)).catch(() => undefined)),
    );
    for (const [index, value] of values.entries()) {
      const id = some[index]!.slice(0, -savedSuffix.length);
      if (isSavedAllocation(value) && value.allocation.ID === id) saved.push(value);
      else damaged.push(id);
    }
  }
  return { saved, damaged };
}

function isSavedAllocation(value: unknown): value is SavedAllocation {
  if (typeof value !== 'object' || value === null) return false;
  const { version, allocation, job, tasks } = value as Partial<SavedAllocation>;
  return (
    version === 1 &&
    typeof allocation?.ID === 'string' &&
    Array.isArray(job?.TaskGroups) &&
    typeof tasks === 'object' &&
    tasks !== null
  );
}
