import { closeSync, fdatasyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './agent.ts';
import { limits } from './limits.ts';

/** Writes of 4 KB in a second, each with `fdatasync`, where the agents of the benchmarks keep their data. */
export async function syncsPerSecond(): Promise<number> {
  const folder = temporaryFolder();
  const file = openSync(join(folder.path, 'syncs'), 'w');
  const block = Buffer.alloc(4096, 1);
  const startMs = performance.now();
  for (let number = 0; number < limits.syncs; number++) {
    writeSync(file, block);
    fdatasyncSync(file);
  }
  const elapsedMs = performance.now() - startMs;
  closeSync(file);
  await folder.remove();
  return (limits.syncs / elapsedMs) * 1000;
}

/**
 * Microseconds of processor time to make a folder there. Without a journal, ext4 passes over the inodes that were deleted in
 * the last minutes, one by one, so this grows by what ran before.
 */
export async function folderUs(): Promise<number> {
  const folder = temporaryFolder();
  const before = process.cpuUsage();
  for (let number = 0; number < limits.folders; number++) {
    mkdirSync(join(folder.path, String(number)));
  }
  const { user, system } = process.cpuUsage(before);
  await folder.remove();
  return (user + system) / limits.folders;
}
