import { readdir, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { cgroupLimits } from '../limits.ts';
import type { CgroupLayout } from './layout.ts';
import { groupsName } from './plan.ts';

/**
 * Removes groups without processes that killed supervisors have left, of this agent or others. The
 * kernel keeps groups with processes; new groups are spared, as a run may be about to join them.
 * One group after the other, as nobody waits for the result.
 */
export async function removeStaleGroups(
  { separate, unified }: CgroupLayout,
  nowMs: number,
): Promise<void> {
  const trees = new Set(separate.values());
  if (unified !== undefined) trees.add(unified.directory);
  for (const tree of trees) {
    const parent = join(tree, groupsName);
    const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.isDirectory()) await removeIfStale(join(parent, entry.name), nowMs);
    }
  }
}

async function removeIfStale(group: string, nowMs: number): Promise<void> {
  try {
    const { mtimeMs } = await stat(group);
    if (mtimeMs + cgroupLimits.staleMs < nowMs) await rmdir(group);
  } catch {
    // It has processes, or is gone already.
  }
}
