import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The permissions that an agent gives. Others were chosen by an operator and stay. */
const closedModeBits = 0o700;
const passableModeBits = 0o711;

/**
 * Lets other users pass through the agent's directories to the directories of their tasks. They can
 * list none of the agent's directories, and all other contents are closed first. Needed only where
 * the agent is root, as only root runs tasks of other users.
 */
export async function letThrough(directories: readonly string[]): Promise<void> {
  const own = process.getuid?.();
  if (own !== 0) return;
  for (const directory of directories) {
    const { mode, uid } = await lstat(directory);
    if ((mode & 0o777) !== closedModeBits || uid !== own) continue;
    for (const name of await readdir(directory)) {
      const path = join(directory, name);
      const isOnTheWay = path === wayOf(directory) || directories.includes(path);
      if (!isOnTheWay) await close(path);
    }
    await chmod(directory, passableModeBits);
  }
}

/** The part of a node's directory that other users pass through. */
const wayOf = (directory: string): string => join(directory, 'alloc');

/** Removes the permissions of other users. A link has no permissions of its own. */
async function close(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.isSymbolicLink() || (found.mode & 0o077) === 0) return;
  await chmod(path, found.mode & closedModeBits);
}
