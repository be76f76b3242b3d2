import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Made so by an agent; whoever chose other permissions has thought of them. */
const closedModeBits = 0o700;
const passableModeBits = 0o711;

/**
 * Lets other users through to the directories of their tasks, which lie below the agent's own. They
 * may pass through these and list none of them, and what else is in them is closed first: nobody else
 * got there before. Only root runs tasks of other users.
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

/** Of a node's directory. */
const wayOf = (directory: string): string => join(directory, 'alloc');

/** Takes away what is for others. A link has no permissions of its own. */
async function close(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.isSymbolicLink() || (found.mode & 0o077) === 0) return;
  await chmod(path, found.mode & closedModeBits);
}
