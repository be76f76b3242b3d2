import { join } from 'node:path';
import { type AllocationDirectories, taskDirectories } from '../directories.ts';

/**
 * What of an allocation's files its successor gets.
 * Source: docs/behaviour/client.md#disks-that-move.
 */
export const diskParts = (directories: AllocationDirectories, tasks: readonly string[]) => [
  { path: join(directories.shared, 'data'), name: 'alloc/data' },
  ...tasks.map((task) => ({
    path: taskDirectories(directories, task).local,
    name: `${task}/local`,
  })),
];
