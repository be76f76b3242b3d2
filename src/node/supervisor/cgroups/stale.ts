import { readdir, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CgroupLayout } from './layout.ts';
import { groupsName } from './plan.ts';

/** A run joins its groups as soon as they are made. */
const agedMs = 60_000;

/**
 * Takes away what supervisors that were killed have left, this one's forerunners or others: groups in
 * which nothing runs. The kernel keeps one that anything is in, and a new one may be about to be
 * joined. One after the other, as nobody waits for it.
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
    if (mtimeMs + agedMs < nowMs) await rmdir(group);
  } catch {
    // Something is in it, or it is gone already.
  }
}
