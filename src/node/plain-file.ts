/** Opens files that a task may have put where they are. See DESIGN.md, invariants N2 to N4. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';

/**
 * Linux's `O_PATH`, the same on every architecture that we run on; Node has no name for it. What is
 * opened so can be looked at, and neither reads, writes nor wakes what is behind it.
 */
export const findOnly = 0o10000000;

/** What `/proc` calls an open file: a path through it begins at that very file. */
export const descriptorPath = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

const { O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;

/** What is there is no plain file, or has other names as well. */
export class UnfitFile extends Error {
  override readonly name = 'UnfitFile';
}

/**
 * The file of that very name, where it is a plain one. The last part of the path is no link that is
 * followed; what leads there is the caller's to hold.
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

/**
 * Whether a file could be one of somebody else, to which a task has only given a name: unless the
 * kernel keeps it from that.
 */
export async function mayBeForeign({ nlink }: Pick<Stats, 'nlink'>): Promise<boolean> {
  if (nlink <= 1) return false;
  const setting = await readFile('/proc/sys/fs/protected_hardlinks', 'utf8').catch(() => '0');
  return setting.trim() === '0';
}
