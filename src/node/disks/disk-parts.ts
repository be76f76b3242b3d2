import { join } from 'node:path';
import { type AllocationDirectories, taskDirectories } from '../directories.ts';

/**
 * The directories of an allocation that its successor gets.
 * Source: docs/behaviour/client.md#disks-that-move.
 */
export const diskParts = (directories: AllocationDirectories, tasks: readonly string[]) => [
  { path: join(directories.shared, 'data'), name: 'alloc/data' },
  ...tasks.map((task) => ({
    path: taskDirectories(directories, task).local,
    name: `${task}/local`,
  })),
];
