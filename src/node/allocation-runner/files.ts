/** The files of allocations: on the disk of a machine, or none where tasks are no processes. */
import { join } from 'node:path';
import type { Timers } from '../../base/ports.ts';
import {
  type AllocationDirectories,
  makeAllocationDirectories,
  makeLogs,
  makeTaskDirectories,
  removeAllocationDirectories,
  type TaskDirectories,
} from '../directories.ts';
import { LatestFile } from '../files.ts';
import type { Spares } from '../spares.ts';
import type { SystemUser } from '../system-user.ts';

export const savedSuffix = '.json';

export const savedAllocationsDirectory = (dataDirectory: string): string =>
  join(dataDirectory, 'allocations');

export const savedAllocationPath = (dataDirectory: string, id: string): string =>
  join(savedAllocationsDirectory(dataDirectory), `${id}${savedSuffix}`);

/** The file from which the next agent goes on with an allocation. */
export interface KeptRecord {
  /** Resolves when the present text, or a newer one, is written or has failed. Never rejects. */
  save(): Promise<void>;
  /** Writes the present text before long: for what the next agent can do without. */
  saveSoon(): void;
  /** Failed writes are not repeated from now on, and nothing is written without `save`. */
  close(): void;
  /** Only after `close`. */
  remove(): Promise<void>;
}

export interface RecordOptions {
  readonly dataDirectory: string;
  readonly id: string;
  readonly text: () => string;
  readonly timers: Timers;
  readonly onError: (error: Error) => void;
}

export interface AllocationFiles {
  makeDirectories(paths: AllocationDirectories): Promise<void>;
  /** Resolves with whether the task had no directory. */
  makeTaskDirectories(paths: TaskDirectories, owner: SystemUser | undefined): Promise<boolean>;
  removeDirectories(paths: AllocationDirectories): Promise<void>;
  newRecord(options: RecordOptions): KeptRecord;
}

export const filesOnDisk: AllocationFiles = {
  makeDirectories: makeAllocationDirectories,
  makeTaskDirectories,
  removeDirectories: removeAllocationDirectories,
  newRecord,
};

function newRecord(options: RecordOptions, spares?: Spares): KeptRecord {
  const { dataDirectory, id, text, timers, onError } = options;
  const path = savedAllocationPath(dataDirectory, id);
  const takeSpare = () => spares?.takeFile();
  return new LatestFile(path, text, timers, { onError, takeSpare });
}

/** New allocations and tasks take directories that were made before, and their records files. */
export const filesWithSpares = (spares: Spares): AllocationFiles => ({
  ...filesOnDisk,
  async makeDirectories(paths) {
    if (await spares.take('allocation', paths.root)) return;
    spares.noteMissing('allocation');
    await makeAllocationDirectories(paths);
  },
  async makeTaskDirectories(paths, owner) {
    if (await spares.take('task', paths.root)) {
      if (owner === undefined) await makeLogs(paths);
      else await makeTaskDirectories(paths, owner);
      return true;
    }
    const isNew = await makeTaskDirectories(paths, owner);
    if (isNew) spares.noteMissing('task');
    return isNew;
  },
  newRecord: (options) => newRecord(options, spares),
});

const nothing = async (): Promise<void> => {};

export const noFiles: AllocationFiles = {
  makeDirectories: nothing,
  makeTaskDirectories: async () => false,
  removeDirectories: nothing,
  newRecord: () => ({ save: nothing, saveSoon() {}, close() {}, remove: nothing }),
};
