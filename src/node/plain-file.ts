/** Opens files that a task may have replaced: DESIGN.md, invariants N2 to N4. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';

/**
 * Linux's `O_PATH`, which Node does not name; the value is the same on every supported
 * architecture. It opens a file only to look at it: opening neither waits for a pipe nor touches a
 * device.
 */
export const findOnly = 0o10000000;

/** Leads to this very open file, whatever its name has become. */
export const descriptorPath = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

const { O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;

/** The path leads to no plain file, or to a file that has other names as well. */
export class UnfitFile extends Error {
  override readonly name = 'UnfitFile';
}

/**
 * Opens a plain file without following a link at the end of the path. The caller has to hold the
 * directory, so that the rest of the path is safe.
 * @throws UnfitFile
 */
export async function openPlainFile(
  path: string,
  flags: number,
  { mayHaveNames = false }: { readonly mayHaveNames?: boolean } = {},
): Promise<FileHandle> {
  const found = await open(path, findOnly | O_NOFOLLOW);
  try {
    const stats = await found.stat();
    if (!stats.isFile()) throw new UnfitFile(`${path} is no plain file`);
    const isFit = mayHaveNames ? !(await mayBeForeign(stats)) : stats.nlink <= 1;
    if (!isFit) throw new UnfitFile(`${path} has other names as well`);
    return await open(descriptorPath(found), flags | O_NONBLOCK | O_NOCTTY);
  } finally {
    await found.close();
  }
}

/** Whether it could be a task's hard link to another user's file, if the kernel allows these. */
export async function mayBeForeign({ nlink }: Pick<Stats, 'nlink'>): Promise<boolean> {
  if (nlink <= 1) return false;
  const setting = await readFile('/proc/sys/fs/protected_hardlinks', 'utf8').catch(() => '0');
  return setting.trim() === '0';
}
