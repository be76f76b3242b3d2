import { lchown, lstat, opendir } from 'node:fs/promises';
import { limits } from '../../model/limits.ts';
import type { Defences } from '../defences.ts';
import { HeldDirectory } from '../held-directory.ts';
import type { SystemUser } from '../system-user.ts';

export interface HandOver {
  readonly heir: SystemUser;
  readonly signal: AbortSignal;
  readonly defences?: Defences | undefined;
}

/**
 * Gives the heir every entry below a directory that belongs to `from`, without opening it and
 * without following links. Entries of other users stay theirs, also under a name that `from` made.
 * The system clears the set-user-ID bit of a file whose owner changes.
 */
export async function handOver(path: string, from: SystemUser, way: HandOver): Promise<void> {
  if (from.uid === way.heir.uid) return;
  const held = await HeldDirectory.open(path, way.defences).catch(() => undefined);
  if (held !== undefined) await handOverIn(held, from, { ...way, depth: 0 });
}

/** Closes the directory. One entry at a time, so that a large tree delays nobody. */
async function handOverIn(
  held: HeldDirectory,
  from: SystemUser,
  way: HandOver & { readonly depth: number },
): Promise<void> {
  const { heir, signal, depth } = way;
  try {
    if (depth > limits.disk.depthMax) throw new Error('its directories are too deep');
    for await (const { name } of await opendir(held.at(''))) {
      signal.throwIfAborted();
      const found = await lstat(held.at(name));
      if (found.uid === from.uid) {
        await lchown(held.at(name), heir.uid, found.gid === from.gid ? heir.gid : found.gid);
      }
      if (!found.isDirectory()) continue;
      await handOverIn(await held.enter(name), from, { ...way, depth: depth + 1 });
    }
  } finally {
    await held.close();
  }
}
